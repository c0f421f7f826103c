#!/usr/bin/env bash
# The documentation site builds without a warning, and has the options of each command and the Python API.
set -euo pipefail
cache=${RLGO_CACHE:-$HOME/.cache/rlgo}
python=$cache/site/bin/python3
[ -x "$python" ] || { echo "no $python (launch/test.sh makes it): skipped"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" "${RLGO_SOURCE:?}/docs/site/make.py" "$work/site" --rlgo "${RLGO_BINARY:?}"
has() { grep -q -e "$2" "$work/site/$1/index.html" || { echo "$1: no '$2'"; exit 1; }; }
has reference/commands 'id="rlgo-optimise"'
has reference/commands '--seconds'
has reference/python 'id="rlgooptimise"'
has . 'docs/report.png'
