#!/bin/sh
# rlgo from an installation (bin/rlgo) or a package (./rlgo): finds LibTorch, then starts libexec/rlgo/rlgo.
#
#   rlgo [options]              one process
#   rlgo --np N [options]       N ranks, with the package's own MPI
#
# RLGO_LIBTORCH names the folder of LibTorch 2.11 (the one with lib/libtorch_cpu.so); without it the loader's path
# (LD_LIBRARY_PATH), the torch of set-up's Python (RLGO_CACHE, ~/.cache/rlgo) and that of python3 are tried.
self=$(readlink -f "$0")
here=$(cd "$(dirname "$self")" && pwd)
[ -x "$here/libexec/rlgo/rlgo" ] || here=$(dirname "$here")  # bin/

torch=${RLGO_LIBTORCH:-}
if [ -z "$torch" ]; then
  old_ifs=$IFS
  IFS=:
  for folder in ${LD_LIBRARY_PATH:-}; do
    if [ -f "$folder/libtorch_cpu.so" ]; then torch=$(dirname "$folder") && break; fi
  done
  IFS=$old_ifs
fi
for python in "${RLGO_CACHE:-${XDG_CACHE_HOME:-${HOME:-}/.cache}/rlgo}/venv/bin/python3" python3; do
  if [ -n "$torch" ] || ! command -v "$python" >/dev/null; then continue; fi
  torch=$("$python" -c 'import importlib.util as u, os
s = u.find_spec("torch")
print(os.path.dirname(s.origin) if s else "")' 2>/dev/null)
done
if [ ! -f "$torch/lib/libtorch_cpu.so" ]; then
  echo "rlgo: error: LibTorch was not found${torch:+ in $torch}; set RLGO_LIBTORCH to its folder (pip install torch==2.11.0 brings it)" >&2
  exit 1
fi
# NVIDIA's wheels next to it hold the CUDA libraries that it names.
paths=$torch/lib
for folder in "$torch"/../nvidia/*/lib; do
  if [ -d "$folder" ]; then paths=$paths:$folder; fi
done
export LD_LIBRARY_PATH="$paths${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
# The package's MPI has moved.
if [ -x "$here/bin/orterun" ]; then
  export OPAL_PREFIX="$here" PMIX_PREFIX="$here/lib/x86_64-linux-gnu/pmix2"
fi

program=${RLGO_PROGRAM:-$here/libexec/rlgo/rlgo}
[ "$(readlink -f "$program")" != "$self" ] || program=$here/libexec/rlgo/rlgo  # RLGO_PROGRAM may name this script
case ${1:-} in
  --np)
    ranks=$2
    shift 2
    export OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}" OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_btl_vader_single_copy_mechanism=none
    export LD_LIBRARY_PATH="$here/lib:$LD_LIBRARY_PATH" PATH="$here/bin:$PATH"
    if [ "$(id -u)" = 0 ]; then export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; fi
    # shellcheck disable=SC2086  # several words
    exec "$here/bin/orterun" -np "$ranks" --oversubscribe --bind-to none ${RLGO_MPIRUN_OPTIONS:-} "$program" "$@"
    ;;
esac
exec "$program" "$@"
