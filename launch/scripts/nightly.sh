#!/usr/bin/env bash
# Runs the long tests (label nightly) and writes what came of them to results/nightly.md, with commit and machine; those that
# do not run this time keep their rows:
#
#   launch/scripts/nightly.sh [ctest's options]     e.g. nightly.sh -R soak
#
# The samples and the figure of the hour's soak go to results/soak.csv and results/soak.svg. Then feeds every reader with
# mutated inputs (fuzz.sh, results/fuzz.md), builds everything with warnings as errors (preset strict), and runs the C++
# tests with sanitizers (sanitizers.sh).
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

if [ "${1:-}" = --help ] || [ "${1:-}" = -h ]; then
  script_help "${BASH_SOURCE[0]}"
  exit 0
fi
export RLGO_SETUP_SLURM=1
work=$(mktemp -d "${TMPDIR:-/tmp}/rlgo-nightly.XXXXXX")
trap 'rm -rf "$work"' EXIT
status=0
RLGO_SOAK_OUT=$work/soak "$RLGO_ROOT/launch/test.sh" -L nightly -j 1 --output-junit "$work/junit.xml" "$@" || status=$?
[ -f "$work/junit.xml" ] || die "no test ran"
"$RLGO_CACHE/venv/bin/python" "$RLGO_ROOT/results/nightly.py" "$work/junit.xml" "$RLGO_ROOT/results/nightly.md" "$RLGO_ROOT/build/${RLGO_PRESET:-release}/rlgo"
if [ -f "$work/soak/memory.svg" ]; then
  cp "$work/soak/memory.csv" "$RLGO_ROOT/results/soak.csv"
  cp "$work/soak/memory.svg" "$RLGO_ROOT/results/soak.svg"
fi
"$RLGO_ROOT/launch/scripts/fuzz.sh" || status=1
(build_rlgo strict) || status=1
"$RLGO_ROOT/launch/scripts/sanitizers.sh" || status=1
cat "$RLGO_ROOT/results/nightly.md"
exit "$status"
