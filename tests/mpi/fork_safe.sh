#!/usr/bin/env bash
# Models are tried in a forked process (core/base/isolate.h). Networks that register memory read these variables when MPI
# starts, so they must be there by then; a user's own value stays.
set -euo pipefail
command -v cc >/dev/null || { echo "no C compiler: skipped"; exit 77; }
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
cc -shared -fPIC -Wall -Werror -o "$out/stub.so" "${RLGO_SOURCE:?}/tests/mpi/fork_safe.c"
start() {
  status=0
  env "$@" LD_PRELOAD="$out/stub.so" OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=0 "${RLGO_BINARY:?}" --graph toy_conv --runs "$out/runs" \
    >"$out/said" 2>&1 || status=$?
  [ "$status" = 42 ] || { echo "MPI was not started (status $status)"; cat "$out/said"; exit 1; }
}
start -u RDMAV_FORK_SAFE -u IBV_FORK_SAFE
[ "$(cat "$out/said")" = $'RDMAV_FORK_SAFE=1\nIBV_FORK_SAFE=1' ] || { cat "$out/said"; exit 1; }
start RDMAV_FORK_SAFE=0 IBV_FORK_SAFE=0
[ "$(cat "$out/said")" = $'RDMAV_FORK_SAFE=0\nIBV_FORK_SAFE=0' ] || { cat "$out/said"; exit 1; }
