#!/usr/bin/env bash
# The wheel under the tools that run a package without an installation (uvx, pipx), and its extension modules against the stable ABI that
# its tag names (abi3audit): a symbol of a later Python than 3.10 would fail there.
#
#   tests/python/wheel_runners_nightly.sh
#
# RLGO_WHEEL names a wheel; without it launch/scripts/wheel.sh builds one. Needs PyPI; skipped (77) where it is not reached.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../../launch/scripts/common.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ -z "${RLGO_WHEEL:-}" ]; then
  "$RLGO_ROOT/launch/scripts/wheel.sh" "$work/dist"
  RLGO_WHEEL=$(echo "$work"/dist/rlgo-*.whl)
fi
wheel=$(realpath "$RLGO_WHEEL")
/usr/bin/python3 -m venv "$work/tools"
if ! "$work/tools/bin/pip" install --quiet --disable-pip-version-check --only-binary=:all: uv==0.13.9 pipx==1.18.4 abi3audit==0.0.26; then
  echo "skipped: PyPI is not reached"
  exit 77
fi
export PATH="$work/tools/bin:$PATH" UV_CACHE_DIR="$work/uv" UV_PYTHON_DOWNLOADS=never PIPX_HOME="$work/pipx" HOME="$work/home"
mkdir -p "$HOME"
cd "$work"
abi3audit --strict --summary --assume-minimum-abi3 3.10 "$wheel"
# A zoo graph as a file, then the file made faster: what a first user calls. Status 3: no model was shown to be faster, which a busy machine decides.
optimise() {  # optimise OUT COMMAND...
  local out=$1 status=0
  shift
  "$@" optimise best/best.onnx -o "$out" --seconds 5 --force >"$out.log" 2>&1 || status=$?
  if { [ "$status" != 0 ] && [ "$status" != 3 ]; } || [ ! -s "$out" ]; then
    cat "$out.log"
    die "$1: status $status"
  fi
}
run_step "$work/uvx.log" "uvx rlgo search" uvx --from "${wheel}[onnxruntime]" rlgo search --graph toy_conv --method greedy --cost analytic --out best
optimise uvx.onnx uvx --from "${wheel}[onnxruntime]" rlgo
optimise pipx.onnx pipx run --spec "${wheel}[onnxruntime]" rlgo
echo "uvx, pipx and abi3audit: fine"
