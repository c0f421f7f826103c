#!/usr/bin/env bash
# A long run whose memory is watched: one learner and seven actors for an hour, private memory of every rank sampled.
#
#   launch/scripts/soak.sh [OUT_FOLDER [rlgo's options]]        default: runs/soak
#
# Leaves memory.csv, memory.svg, verdict.txt and the run in OUT_FOLDER; fails where a rank leaks (results/soak.py says
# what that is). NP (8), SECONDS_LONG (3600), EVERY (10, seconds between samples), RLGO_PROGRAM change it.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

if [ "${1:-}" = --help ] || [ "${1:-}" = -h ]; then
  script_help "${BASH_SOURCE[0]}"
  exit 0
fi
out=${1:-runs/soak}
shift || true
python=${RLGO_PYTHON:-$RLGO_CACHE/venv/bin/python}
mkdir -p "$out"
[ ! -e "$out/run" ] || die "$out holds a soak already: name another folder"

options=(--graph toy_residual --cost analytic --gnn.width 16 --train.steps-per-epoch 256 --checkpoint.every 20)
"$RLGO_ROOT/launch/scripts/batch.sh" --np "${NP:-8}" --runs "$out" --name run "${options[@]}" --epochs 1000000000 \
  --seconds "${SECONDS_LONG:-3600}" "$@" >"$out/output.txt" 2>&1 &
job=$!
trap 'kill -INT "$job" 2>/dev/null || true' INT TERM
"$python" "$RLGO_ROOT/results/soak.py" watch --job "$job" --out "$out/memory.csv" --every "${EVERY:-10}" &
watcher=$!
status=0
wait "$job" || status=$?
wait "$watcher"
if [ "$status" != 0 ]; then
  tail -n 20 "$out/output.txt" >&2
  die "the run ended with status $status"
fi
"$python" "$RLGO_ROOT/results/soak.py" judge "$out/memory.csv" --figure "$out/memory.svg" | tee "$out/verdict.txt"
exit "${PIPESTATUS[0]}"
