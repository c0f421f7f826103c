# rlgo from its wheel, without a compiler: optimise, compare, search, inspect, rules and the Gymnasium environment under ONNX
# Runtime. Training is in the image of launch/images/Dockerfile.
#
#   launch/scripts/wheel.sh dist
#   docker build -f launch/images/wheel.Dockerfile -t rlgo-wheel .
#   docker run --rm -v "$PWD":/work rlgo-wheel optimise model.onnx -o faster.onnx
FROM debian:12-slim
COPY launch/packages.txt /tmp/rlgo/packages.txt
COPY launch/scripts/packages.sh /tmp/rlgo/scripts/packages.sh
RUN apt-get update && apt-get install -y --no-install-recommends $(/tmp/rlgo/scripts/packages.sh wheel) && rm -rf /var/lib/apt/lists/*
COPY dist/rlgo-*.whl /tmp/rlgo/
RUN python3 -m venv /opt/rlgo && /opt/rlgo/bin/pip install --no-cache-dir "$(echo /tmp/rlgo/rlgo-*.whl)[onnxruntime,gym]" && rm -rf /tmp/rlgo
ENV PATH=/opt/rlgo/bin:$PATH
RUN rlgo --version
WORKDIR /work
ENTRYPOINT ["rlgo"]
CMD ["--help"]
