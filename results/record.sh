#!/usr/bin/env bash
# The runs behind results/figures: small ones, some 40 minutes on two cores. Resumable: what is there is not repeated.
#
#   results/record.sh [FOLDER]      default runs/record; then: results/analyse all FOLDER --out results/figures
#
# RUN (default launch/run.sh) is the command that starts rlgo, with --np N first; GRAPHS, SEEDS, MORE_SEEDS,
# TEMPERATURES and EPISODES change what is run.
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:-runs/record}
run=${RUN:-launch/run.sh}
graphs=${GRAPHS:-squeezenet1_1 resnet18 resnet50 inception_v3 bert}
seeds=${SEEDS:-1 2 3}
more_seeds=${MORE_SEEDS:-1 2} # of the graphs after the first
mkdir -p "$out"

# A small network, short episodes and rounds: the same for every agent.
small=(--cost analytic --env.max-steps 80 --gnn.rounds 2 --gnn.width 32 --train.steps-per-epoch 256
  --dream.steps-per-epoch 2048 --wm.passes 4 --evaluate.every 4 --train.polish false --check.repeats 9)

train() { # folder name agent seed epochs [options]
  local folder=$1 name=$2 agent=$3 seed=$4 epochs=$5
  shift 5
  [ ! -f "$folder/$name/summary.txt" ] || return 0
  rm -rf "${folder:?}/$name"
  "$run" --np 3 "${small[@]}" --agent "$agent" --seed "$seed" --epochs "$epochs" --runs "$folder" --name "$name" "$@"
}

if [ ! -f "$out/search.csv" ]; then
  "$run" search --graph "${graphs// /,}" --methods greedy,taso,beam,random --cost analytic --csv "$out/search.csv" --curve "$out/search-curve.csv"
fi
for graph in $graphs; do
  unmodified=$out/$graph-unmodified taso=$out/$graph-taso
  if [ ! -f "$unmodified/best.onnx" ]; then # a trace of no rewrites
    mkdir -p "$unmodified"
    printf 'rlgo-trace 1\ngraph %s\n' "$graph" >"$unmodified/best.trace"
    "$run" replay --graph "$graph" --trace "$unmodified/best.trace" --out "$unmodified/best.onnx"
  fi
  if [ ! -f "$taso/summary.txt" ]; then
    "$run" search --graph "$graph" --method taso --cost analytic --out "$taso" >"$out/taso.txt"
    mv "$out/taso.txt" "$taso/summary.txt"
  fi
done
first=${graphs%% *}
for seed in $seeds; do
  for agent in model-free model-based hybrid random; do train "$out" "$first-$agent-s$seed" "$agent" "$seed" 40 --graph "$first"; done
done
for seed in $seeds; do
  for reward in R1 R2 R3 R4; do
    timing=()
    [ "$reward" != R4 ] || timing=(--cost.warmup 0 --cost.repeats 1) # it times the whole graph at every step
    train "$out/rewards" "$reward-s$seed" model-free "$seed" 20 --graph "$first" --env.reward "$reward" "${timing[@]}"
  done
  for model in joint separate; do train "$out/reward-model" "$model-s$seed" model-based "$seed" 20 --graph "$first" --wm.reward-model "$model"; done
done
SEEDS=$seeds TEMPERATURES=${TEMPERATURES:-0.1 0.5 1.0 1.5 2.0 3.0} EPISODES=${EPISODES:-10} RUN=$run \
  launch/scripts/temperature-sweep.sh "$out/temperature" "${small[@]}" --graph bert --zoo.layers 2 --epochs 12
for seed in $more_seeds; do
  for graph in ${graphs#"$first"}; do
    for agent in model-free model-based; do train "$out" "$graph-$agent-s$seed" "$agent" "$seed" 24 --graph "$graph"; done
  done
done
