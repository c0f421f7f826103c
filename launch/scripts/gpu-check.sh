#!/usr/bin/env bash
# On a machine with an NVIDIA GPU: runs the GPU tests and a benchmark of the learner, and leaves a report.
#
#   launch/scripts/gpu-check.sh [OUT_FOLDER]      from a checkout (sets up and builds)
#   ./gpu-check.sh [OUT_FOLDER]                   from an unpacked package (needs no compiler; RLGO_LIBTORCH or python3's torch)
#
# Tests; the same updates on CPU and GPU; the same prices measured twice; two learners on one device (their gradients meet in
# host memory), and by NCCL where there are two devices; a run whose second learner is killed and that continues. Ten minutes.
# OUT_FOLDER (default: gpu-report) gets report.md, tests.txt, checks.csv, bench.csv and the metrics of the runs. The exit status
# is 1 where a test or a check fails. Without a GPU the tests say that they were skipped, all else runs on the CPU, and the
# status is 77. GPU_CHECK_STEPS and GPU_CHECK_EPOCHS make the runs shorter or longer.
set -euo pipefail
if [ "${1:-}" = --help ]; then
  sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}"
  exit 0
fi
here=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)
out=$(realpath -m "${1:-gpu-report}")
mkdir -p "$out"

if [ -x "$here/bin/rlgo" ]; then  # a package
  program=("$here/rlgo")
  gpu_tests() { RLGO_PROGRAM=$here/libexec/rlgo/test_gpu "$here/rlgo" "$@"; }
else
  source "$here/common.sh"
  if [ -z "${RLGO_BUILT:-}" ]; then
    "$RLGO_ROOT/launch/scripts/setup.sh"
    build_rlgo "${RLGO_PRESET:-release}" rlgo test_gpu
  fi
  build=$RLGO_ROOT/build/${RLGO_PRESET:-release}
  mpi_environment
  program=("$build/rlgo")
  gpu_tests() { "$build/test_gpu" "$@"; }
fi

rlgo() { "${program[@]}" "$@"; }

status=0
gpu_tests --gtest_color=no >"$out/tests.txt" 2>&1 || status=$?
skipped=
if grep -q 'skipped: no device' "$out/tests.txt"; then skipped=yes; fi

# The same run on each device: seconds of the update, which is what a GPU changes.
devices=cpu
if [ -z "$skipped" ]; then devices='cpu cuda'; fi
echo 'agent,graph,device,epoch_steps,update_s_median,transitions_per_s,host_memory_mb,device_memory_mb' >"$out/bench.csv"
for device in $devices; do
  for agent in model-free hybrid; do
    name=$agent-$device
    rm -rf "$out/runs/$name"
    rlgo --graph resnet18 --agent "$agent" --device "$device" --cost analytic --epochs "${GPU_CHECK_EPOCHS:-4}" \
      --train.steps-per-epoch "${GPU_CHECK_STEPS:-256}" --ppo.minibatch 128 --hybrid.warmup 0 --env.max-steps 40 \
      --check.repeats 3 --train.polish false --checkpoint.every 1000 --store.rollouts false \
      --runs "$out/runs" --name "$name" >"$out/$name.txt" 2>&1 || { status=1; tail -n 3 "$out/$name.txt"; continue; }
    awk -F, -v agent="$agent" -v device="$device" '
      NR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i; next }
      NR > 2 { t[++n] = $column["update_s"]; steps = $column["epoch_steps"]; used = $column["transitions"] * 1
               host = $column["host_memory_mb"]; gpu = $column["device_memory_mb"] }
      END { for (i = 1; i <= n; ++i) for (j = i + 1; j <= n; ++j) if (t[j] < t[i]) { x = t[i]; t[i] = t[j]; t[j] = x }
            m = t[int((n + 1) / 2)]; printf "%s,resnet18,%s,%d,%.3f,%.1f,%.0f,%.0f\n", agent, device, steps, m, used / m, host, gpu }' \
      "$out/runs/$name/metrics.csv" >>"$out/bench.csv"
    cp "$out/runs/$name/metrics.csv" "$out/metrics-$name.csv"
    rm -rf "$out/runs/$name"
  done
done

# Checks of whole runs: a line each in checks.csv (name, passed or failed, what was seen).
echo 'check,result,seen' >"$out/checks.csv"
note() {
  echo "$1,$2,$3" >>"$out/checks.csv"
  [ "$2" = passed ] || status=1
}
device=cpu
if [ -z "$skipped" ]; then device=cuda:0; fi
quick=(--graph toy_conv --cost analytic --train.steps-per-epoch 60 --check.repeats 3 --train.polish false --checkpoint.every 1
  --store.rollouts false --runs "$out/runs")

# Each operator is timed in two runs of their own; the ratio of the two, for half of the operators and for nine tenths.
for i in 1 2; do
  rlgo --graph squeezenet1_1 --agent random --device "$device" --cost measured --epochs 1 --train.steps-per-epoch 20 --seed 1 \
    --check.repeats 3 --train.polish false --store.rollouts false --runs "$out/runs" --name "prices-$i" >"$out/prices-$i.txt" 2>&1 || true
done
prices=$(awk -F'\t' '
  /^#/ { next }
  FNR == NR { first[$1] = $2; next }
  $1 in first && first[$1] > 0 && $2 > 0 { r = $2 / first[$1]; print r < 1 ? 1 / r : r }' \
  "$out/runs/prices-1/costs.tsv" "$out/runs/prices-2/costs.tsv" 2>/dev/null | sort -g |
  awk '{ r[NR] = $1 } END { if (NR >= 10) printf "%d operators: half within %.3f nine tenths within %.3f", NR, r[int((NR + 1) / 2)], r[int(0.9 * NR)] }')
if [ -n "$prices" ]; then note prices passed "$prices"; else note prices failed 'the two runs share fewer than ten prices (prices-1.txt)'; fi

# The learners end with the same weights, and say how their gradients met.
learners() {
  local name=$1 devices=$2 words=$3 log=$out/runs/$1/log.txt sums
  job 3 "${quick[@]}" --learners 2 --device "$devices" --epochs 3 --name "$name" >"$out/$name.txt" 2>&1 || true
  sums=$(sed -n 's/.*checksum of the weights //p' "$log" 2>/dev/null | sort | uniq -c | awk '{ print $1 }')
  if [ "$sums" = 2 ] && grep -q "$words" "$log"; then
    note "$name" passed 'both have the same weights'
  else
    note "$name" failed "see $name.txt"
  fi
}
job() {
  local ranks=$1
  shift
  if [ -x "$here/bin/orterun" ]; then  # the package's MPI
    RLGO_MPIRUN_OPTIONS=--enable-recovery "$here/rlgo" --np "$ranks" "$@"
    return
  fi
  # shellcheck disable=SC2046  # several words
  mpirun -np "$ranks" $(declare -F mpi_binding >/dev/null && mpi_binding || echo --oversubscribe --bind-to none) --enable-recovery "${program[@]}" "$@"
}
CUDA_VISIBLE_DEVICES=0 learners learners-one-device "$device" 'gradients are summed by ring'
if [ -z "$skipped" ] && [ "$(nvidia-smi -L 2>/dev/null | wc -l)" -ge 2 ]; then
  learners learners-nccl cuda 'gradients are summed by NCCL'
fi

# The second of two learners is killed: the first notices and ends with 75, and the run continues from its checkpoint.
killed=$out/runs/killed
job 3 "${quick[@]}" --learners 2 --device "$device" --epochs 1000000 --train.actor-timeout 10 --name killed >"$out/killed.txt" 2>&1 &
runner=$!
for _ in $(seq 120); do
  if [ "$(wc -l <"$killed/metrics.csv" 2>/dev/null || echo 0)" -ge 3 ]; then break; fi
  sleep 1
done
family() {  # all processes below one
  local pid
  for pid in $(pgrep -P "$1"); do
    echo "$pid"
    family "$pid"
  done
}
victim=$(for pid in $(family "$runner"); do
  if tr '\0' '\n' 2>/dev/null <"/proc/$pid/environ" | grep -qx OMPI_COMM_WORLD_RANK=1; then echo "$pid"; fi
done | head -n 1)
kill -KILL "$victim" 2>/dev/null || true
for _ in $(seq 60); do
  kill -0 "$runner" 2>/dev/null || break
  sleep 1
done
# shellcheck disable=SC2046  # several words
kill $(family "$runner") "$runner" 2>/dev/null || true
wait "$runner" 2>/dev/null || true
before=$(($(wc -l <"$killed/metrics.csv" 2>/dev/null || echo 1) - 1))
rlgo --resume "$killed" --epochs $((before + 2)) --learners 1 --device "$device" >"$out/resumed.txt" 2>&1 || true
if [ -n "$victim" ] && grep -q 'learner rank 1 is lost\|did not answer\|not all learners came to\|remote process exited' "$out/killed.txt" && [ -f "$killed/summary.txt" ]; then
  note learner-killed passed "noticed; continued from epoch $before"
else
  note learner-killed failed 'see killed.txt and resumed.txt'
fi
rm -rf "$out/runs"

{
  echo "# GPU check"
  echo
  echo "- date: $(date -u +%Y-%m-%d)"
  echo "- $(rlgo --version)"
  echo "- machine: $(uname -m), $(nproc --all) cores, $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)"
  if command -v nvidia-smi >/dev/null; then
    nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader | sed 's/^/- GPU: /'
  else
    echo "- GPU: none (nvidia-smi is not there)"
  fi
  echo
  echo "## Tests"
  echo
  grep -E '^\[ *(OK|FAILED|SKIPPED|PASSED) *\]|skipped:' "$out/tests.txt" | sed 's/^/    /'
  echo
  echo "## Runs"
  echo
  tr ',' '|' <"$out/checks.csv" | awk '{ print "| " $0 " |"; if (NR == 1) print "|---|---|---|" }'
  echo
  echo "## Learner (whole updates: collation, transfers, forward, backward, optimiser; median over epochs but the first)"
  echo
  awk -F, '{ printf "|"; for (i = 1; i <= NF; ++i) printf " %s |", $i; print ""
             if (NR == 1) { printf "|"; for (i = 1; i <= NF; ++i) printf "---|"; print "" } }' "$out/bench.csv"
} >"$out/report.md"
cat "$out/report.md"
if [ "$status" = 0 ] && [ -n "$skipped" ]; then status=77; fi
exit "$status"
