#!/usr/bin/env bash
# Table 5.1: a model-based agent at ten temperatures, five seeds each: dream-predicted and real return of every run in one CSV.
# Resumable: runs that are in the table are not repeated, an interrupted one continues from its checkpoint.
#
#   launch/scripts/temperature-sweep.sh [OUT_FOLDER] [rlgo options, e.g. --graph bert --zoo.layers 2 --epochs 60 --cost analytic]
#
# TEMPERATURES and SEEDS (lists), NP (ranks, default 3), EPISODES (per evaluation, default 20) change what is swept; RUN is the
# command that starts rlgo (launch/run.sh).
set -euo pipefail
cd "$(dirname "$0")/../.."

out=${1:-runs/temperature-sweep}
shift || true
temperatures=${TEMPERATURES:-0.1 0.5 0.75 1.0 1.2 1.5 1.75 2.0 2.5 3.0}
seeds=${SEEDS:-1 2 3 4 5}
run=${RUN:-launch/run.sh}
episodes=${EPISODES:-20}
csv=$out/temperature.csv
mkdir -p "$out"

for temperature in $temperatures; do
  for seed in $seeds; do
    name=t$temperature-s$seed
    if [[ -f $csv ]] && grep -q "^$name," "$csv"; then continue; fi
    if [[ -d $out/$name/checkpoints ]] && [[ -n $(ls -A "$out/$name/checkpoints") ]]; then
      "$run" --np "${NP:-3}" --resume "$out/$name"
    else
      rm -rf "${out:?}/$name"
      "$run" --np "${NP:-3}" --agent model-based "$@" --dream.temperature "$temperature" --seed "$seed" --runs "$out" --name "$name"
    fi
    "$run" evaluate --checkpoint "$out/$name" --episodes "$episodes" --csv "$csv"
  done
done
echo "$csv"
