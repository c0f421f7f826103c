#!/usr/bin/env bash
# Builds rlgo in an image, from the root folder of the sources, and installs it to /opt/rlgo:
#
#   launch/images/build.sh CUDA      CUDA: "" for CPUs; else with the plug-ins for GPUs
#
# The compiler of the kernels is there only meanwhile.
set -euo pipefail
venv=${RLGO_CACHE:?}/venv
options=(-DRLGO_TESTS=OFF) targets=(rlgo)
if [ -n "${1:-}" ]; then
  "$venv/bin/pip" install --no-cache-dir --no-deps -r launch/requirements-nvcc.txt
  toolkit=$(launch/images/toolkit.sh "$venv")
  options+=(-DRLGO_CUDA=on "-DCUDAToolkit_ROOT=$toolkit")
  targets+=(rlgo_core_comm_cuda rlgo_core_gpu_cuda)
fi
cmake --preset release "${options[@]}"
cmake --build build/release --target "${targets[@]}"
cmake --install build/release --prefix "${RLGO_PREFIX:-/opt/rlgo}"
if [ -n "${1:-}" ]; then "$venv/bin/pip" uninstall -y -r launch/requirements-nvcc.txt; fi
