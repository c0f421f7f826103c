#!/usr/bin/env bash
# Where a CUDA toolkit with NCCL is installed, the build has compiled and linked the CUDA part: it must not fall out of CI.
set -euo pipefail
build=$(dirname "${RLGO_BINARY:?}")
option=$(sed -n 's/^RLGO_CUDA:STRING=//p' "$build/CMakeCache.txt")
if [ "$option" = off ] || ! grep -Eq '^NCCL_LIBRARY:FILEPATH=/' "$build/CMakeCache.txt"; then
  echo "no CUDA toolkit with NCCL (RLGO_CUDA=$option): skipped"
  exit 77
fi
plugin=$build/plugins/rlgo_core_comm_cuda.so
[ -f "$plugin" ] || { echo "a toolkit is there, but $plugin was not built"; exit 1; }
nm -D --defined-only "$plugin" | grep -q ' rlgo_nccl_plugin$'
readelf -d "$plugin" | grep -q 'NEEDED.*libnccl'
# So has the plug-in of --target cuda, where cuDNN and nvcc are, too.
if grep -Eq '^CUDNN_LIBRARY:FILEPATH=/' "$build/CMakeCache.txt" && grep -Eq '^CUDAToolkit_NVCC_EXECUTABLE:[A-Z]+=/' "$build/CMakeCache.txt"; then
  plugin=$build/plugins/rlgo_core_gpu_cuda.so
  [ -f "$plugin" ] || { echo "cuDNN is there, but $plugin was not built"; exit 1; }
  nm -D --defined-only "$plugin" | grep -q ' rlgo_gpu_plugin$'
  for library in cudnn cublasLt cudart; do readelf -d "$plugin" | grep -q "NEEDED.*lib$library"; done
  ! readelf -d "$plugin" | grep -q 'NEEDED.*torch'
fi
# The preset that insists on CUDA is the default one with CUDA required.
"${RLGO_PYTHON:-python3}" - "${RLGO_SOURCE:?}/CMakePresets.json" <<'PY'
import json, sys
preset = next(p for p in json.load(open(sys.argv[1]))["configurePresets"] if p["name"] == "cuda")
assert preset["inherits"] == "release" and preset["cacheVariables"] == {"RLGO_CUDA": "on"}, preset
PY
