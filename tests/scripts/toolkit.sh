#!/usr/bin/env bash
# toolkit.sh makes a toolkit that CMake and a linker accept out of wheels, and names what is missing. (Stand-ins for the wheels.)
set -euo pipefail
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
wheels=$out/lib/python3.11/site-packages/nvidia
mkdir -p "$wheels"/cu13/{bin,lib,include} "$wheels"/{cudnn,nccl}/{lib,include}
touch "$wheels/cudnn/include/cudnn.h" "$wheels/nccl/include/nccl.h"
for library in cu13/lib/libcudart.so.13 cu13/lib/libcublas.so.13 cu13/lib/libcublasLt.so.13 cudnn/lib/libcudnn.so.9; do
  gcc -shared -x c -Wl,-soname,"$(basename "$library")" -o "$wheels/$library" - <<<"int of_$(basename "$library" | tr . _) = 1;"
done
status=0
toolkit() { "${RLGO_SOURCE:?}/launch/images/toolkit.sh" "$out" 2>&1; }
said=$(toolkit) || status=$?
[ "$status" = 1 ] && [[ $said == *"libnccl.so.2 is missing: pip install torch"* ]] || { echo "without NCCL: $said"; exit 1; }
gcc -shared -x c -Wl,-soname,libnccl.so.2 -o "$wheels/nccl/lib/libnccl.so.2" - <<<"int of_libnccl_so_2 = 1;"
said=$(toolkit) && { echo "without nvcc: $said"; exit 1; }
[[ $said == *"nvcc is missing: pip install -r launch/requirements-nvcc.txt"* ]] || { echo "$said"; exit 1; }
printf '#!/bin/sh\n' >"$wheels/cu13/bin/nvcc"
chmod +x "$wheels/cu13/bin/nvcc"
toolkit >/dev/null
folder=$(toolkit)  # again: nothing to do
[ -e "$folder/include/cudnn.h" ] && [ -e "$folder/include/nccl.h" ] || { echo "headers are missing in $folder/include"; exit 1; }
gcc -shared -x c -o "$out/plugin.so" - -L"$folder/lib64" -Wl,--no-as-needed -lcudart -lcublas -lcublasLt -lcudnn -lnccl <<<"int f;"
for name in libcudart.so.13 libcublasLt.so.13 libcudnn.so.9 libnccl.so.2; do
  readelf -d "$out/plugin.so" | grep -q "NEEDED.*\[$name\]" || { readelf -d "$out/plugin.so"; exit 1; }
done
