#!/usr/bin/env bash
# Set-up without root: one list of the missing packages with the command that installs them, status 1, nothing done.
set -euo pipefail
cd "${RLGO_SOURCE:-.}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
printf '#!/bin/sh\necho 1000\n' >"$work/id"
printf '#!/bin/sh\nexit 1\n' | tee "$work/sudo" >"$work/dpkg-query"
chmod +x "$work"/*
status=0
PATH=$work:$PATH RLGO_CACHE=$work/cache RLGO_SETUP_LIGHT=1 launch/scripts/setup.sh >"$work/out" 2>&1 </dev/null || status=$?
[ "$status" = 1 ]
grep -q '^  apt-get install --no-install-recommends .*libz3-dev' "$work/out"
grep -q 'pip install .*onnxruntime' "$work/out"
for heavy in libopenmpi-dev libhdf5-dev libgtest-dev; do
  ! grep -q "$heavy" "$work/out" || { echo "a light set-up asks for $heavy"; exit 1; }
done
[ ! -e "$work/cache/venv" ]
