#!/usr/bin/env bash
# gpu-check.sh on a machine without a GPU: all its checks run, on the CPU, and pass; the report has them; the status says that
# there was no GPU.
set -euo pipefail
build=$(dirname "${RLGO_BINARY:?}")
[ -x "$build/test_gpu" ] || { echo "no $build/test_gpu"; exit 77; }
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
status=0
RLGO_BUILT=1 GPU_CHECK_STEPS=60 GPU_CHECK_EPOCHS=2 "${RLGO_SOURCE:?}/launch/scripts/gpu-check.sh" "$out" || status=$?
cat "$out/checks.csv"
if grep -q 'skipped: no device' "$out/tests.txt"; then
  [ "$status" = 77 ] || { echo "status $status, not 77"; exit 1; }
else
  [ "$status" = 0 ] || { echo "status $status"; exit 1; }
fi
for check in prices learners-one-device learner-killed; do
  grep -q "^$check,passed," "$out/checks.csv" || { echo "$check did not pass"; exit 1; }
  grep -q "$check" "$out/report.md" || { echo "$check is not in the report"; exit 1; }
done
