#!/usr/bin/env bash
# Feeds every reader with mutated inputs and writes what came of it to results/fuzz.md, with commit and machine:
#
#   launch/scripts/fuzz.sh [SCALE] [SEED]    SCALE 1 (default): some 3 million inputs, 20 minutes on 2 cores
#
# Inputs that are faults, or that only the child process withstood, are left in build/fuzz; add them to tests/fuzz/cases.
# Status 1 where there is a fault.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

if [ "${1:-}" = --help ] || [ "${1:-}" = -h ]; then
  script_help "${BASH_SOURCE[0]}"
  exit 0
fi
scale=${1:-1} seed=${2:-$(date +%Y%m%d)}
cd "$RLGO_ROOT"
program=build/release/test_fuzz
[ -x "$program" ] || die "$program is not built (launch/test.sh -N builds all)"
models=$("$RLGO_CACHE/venv/bin/python" -c 'import onnx, os; print(os.path.dirname(onnx.__file__) + "/backend/test/data")')
work=$(mktemp -d "${TMPDIR:-/tmp}/rlgo-fuzz.XXXXXX")
trap 'rm -rf "$work"' EXIT
status=0
for target in $("$program" --list); do
  inputs=200000
  case $target in
    rollout-part | checkpoint | command-line | taso-protobuf) inputs=40000 ;;
    measurer) inputs=500 ;;
    onnx) inputs=300000 ;;
  esac
  OMP_NUM_THREADS=1 "$program" --target "$target" --inputs "$((inputs * scale))" --seed "$seed" --corpus "$models" \
    --out build/fuzz 2>&1 | tee -a "$work/lines" || status=1
done
# What earlier runs came to stays in the file.
before=$(grep '^- ' results/fuzz.md || true)
{
  echo "# Fuzzing"
  echo
  echo "\`launch/scripts/fuzz.sh $scale $seed\`, commit $(git rev-parse --short HEAD), $(date -u +%F), $(nproc) cores. Limits of each"
  echo "input: 10 s of processor time, 60 s, 2 GiB. *Contained*: broke the reader itself, refused in the child process that users"
  echo "read in (docs/limits.md)."
  echo
  echo "| reader | inputs | accepted, contained | faults | inputs/s | peak |"
  echo "|---|---:|---:|---:|---:|---:|"
  sed -nE 's|^([a-z-]+): ([0-9]+) inputs, ([0-9]+) accepted, ([0-9]+) contained, ([0-9]+) faults, ([0-9]+) inputs/s, peak (.*)$|\| \1 \| \2 \| \3, \4 \| \5 \| \6 \| \7 \||p' "$work/lines"
  echo
  echo "Runs so far:"
  echo
  {
    [ -z "$before" ] || echo "$before"
    awk -v what="$(git rev-parse --short HEAD), $(date -u +%F), seed $seed" \
      '/ inputs, /{n += $2; f += $8} END {printf "- %d inputs, %d faults (%s)\n", n, f, what}' "$work/lines"
  } | tee "$work/runs"
  awk '{n += $2} END {printf "\n%d inputs in all.\n", n}' "$work/runs"
} >"$work/fuzz.md"
cp "$work/fuzz.md" results/fuzz.md
cat results/fuzz.md
exit "$status"
