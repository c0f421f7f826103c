#!/usr/bin/env bash
# On a machine with an NVIDIA GPU: runs the GPU tests and a benchmark of the learner, and leaves a report.
#
#   launch/scripts/gpu-check.sh [OUT_FOLDER]      from a checkout (sets up and builds)
#   ./gpu-check.sh [OUT_FOLDER]                   from an unpacked package (needs no compiler; RLGO_LIBTORCH or python3's torch)
#
# OUT_FOLDER (default: gpu-report) gets report.md, tests.txt, bench.csv and the metrics of the runs. The exit status is that
# of the tests. Without a GPU the tests say that they were skipped, the benchmark runs on the CPU alone, and the status is 77.
# GPU_CHECK_STEPS and GPU_CHECK_EPOCHS make the benchmark shorter or longer.
set -euo pipefail
if [ "${1:-}" = --help ]; then
  sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}"
  exit 0
fi
here=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)
out=$(realpath -m "${1:-gpu-report}")
mkdir -p "$out"

if [ -x "$here/bin/rlgo" ]; then  # a package
  rlgo() { "$here/rlgo" "$@"; }
  gpu_tests() { RLGO_PROGRAM=$here/libexec/rlgo/test_gpu "$here/rlgo" "$@"; }
else
  source "$here/common.sh"
  if [ -z "${RLGO_BUILT:-}" ]; then
    "$RLGO_ROOT/launch/scripts/setup.sh"
    build_rlgo "${RLGO_PRESET:-release}" rlgo test_gpu
  fi
  build=$RLGO_ROOT/build/${RLGO_PRESET:-release}
  mpi_environment
  rlgo() { "$build/rlgo" "$@"; }
  gpu_tests() { "$build/test_gpu" "$@"; }
fi

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
rmdir "$out/runs" 2>/dev/null || true

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
  echo "## Learner (whole updates: collation, transfers, forward, backward, optimiser; median over epochs but the first)"
  echo
  awk -F, '{ printf "|"; for (i = 1; i <= NF; ++i) printf " %s |", $i; print ""
             if (NR == 1) { printf "|"; for (i = 1; i <= NF; ++i) printf "---|"; print "" } }' "$out/bench.csv"
} >"$out/report.md"
cat "$out/report.md"
if [ "$status" = 0 ] && [ -n "$skipped" ]; then status=77; fi
exit "$status"
