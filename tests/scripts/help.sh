#!/usr/bin/env bash
# The launch scripts explain themselves and refuse nonsense before they set up or build anything.
set -euo pipefail
cd "${RLGO_SOURCE:-.}"

launch/run.sh --help | grep -q 'launch/run.sh \[--np N\]'
launch/test.sh --help | grep -q "ctest's options"
launch/scripts/setup.sh --help | grep -q 'cache/venv'
for bad in '--np' '--np=0' '--np x' '--restarts -1'; do
  # shellcheck disable=SC2086
  if launch/run.sh $bad 2>/dev/null; then
    echo "launch/run.sh $bad was accepted"
    exit 1
  fi
done
