#!/usr/bin/env bash
# Makes a CUDA toolkit, as CMake looks for it, out of NVIDIA's wheels in a Python environment, and prints its folder:
#
#   launch/images/toolkit.sh VENV
#
# The wheels are those that torch asks for (pip install torch==2.11.0) and launch/requirements-nvcc.txt. They lack only the names
# that a linker looks for; cuDNN and NCCL lie in folders of their own.
set -euo pipefail
[ "$#" = 1 ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" | grep . >&2; exit 2; }
for nvidia in "$1"/lib/python3*/site-packages/nvidia; do :; done
toolkit=$nvidia/cu13
ln -sfn lib "$toolkit/lib64"
for part in cudnn nccl; do
  for file in "$nvidia/$part"/include/*.h "$nvidia/$part"/lib/*.so.*; do
    if [ -e "$file" ]; then ln -sf "$file" "$toolkit/$(basename "$(dirname "$file")")/"; fi
  done
done
for name in cudart.so.13 cublas.so.13 cublasLt.so.13 cudnn.so.9 nccl.so.2; do
  library=$toolkit/lib/lib$name
  [ -e "$library" ] || { echo "toolkit.sh: $library is missing: pip install torch==2.11.0 brings it" >&2; exit 1; }
  ln -sf "$(basename "$library")" "${library%.*}"
done
[ -x "$toolkit/bin/nvcc" ] || { echo "toolkit.sh: $toolkit/bin/nvcc is missing: pip install -r launch/requirements-nvcc.txt brings it" >&2; exit 1; }
echo "$toolkit"
