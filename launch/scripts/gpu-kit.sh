#!/usr/bin/env bash
# A GPU machine for a few minutes: one folder to bring along, one command there.
#
#   launch/scripts/gpu-kit.sh pack [FOLDER]   here: builds, makes FOLDER (gpu-kit), less than 64 MiB
#   ./gpu-kit.sh run [OUT]                    there, in the folder: less than ten minutes, OUT (gpu-report) has report.md
#
# The kit is the package (launch/scripts/package.sh: rlgo, its plug-in, the GPU tests, Open MPI, the zoo) with this script, which unpacks it. The
# machine brings LibTorch 2.11 (python3's torch, or RLGO_LIBTORCH) and the driver; nothing is built or downloaded there. The
# steps run in the order of what they show, each with a limit of its own, and none once KIT_SECONDS (560) are over; report.md is
# written again after each, so that it is there also where the run is cut off. KIT_DEVICE (cuda) may be cpu, to try it: then
# without the steps by cuDNN, unless KIT_CUDNN=1 (stand-ins for CUDA's libraries are on LD_LIBRARY_PATH). KIT_GRAPH is priced (squeezenet1_1).
# The exit status is 1 where a step failed or was left out.
set -euo pipefail
here=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)
MOST_MIB=64

pack() {
  # shellcheck source=launch/scripts/common.sh
  source "$here/common.sh"
  local folder size  # not work: the trap reads it at the end
  folder=$(realpath -m "${1:-gpu-kit}")
  [ ! -e "$folder" ] || die "$folder is there already"
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  RLGO_XZ_LEVEL=${RLGO_XZ_LEVEL:-1} "$here/package.sh" "$work"
  mkdir -p "$folder"
  mv "$work"/rlgo-*.tar.xz "$folder/rlgo.tar.xz"
  cp "$here/gpu-kit.sh" "$folder/"
  size=$(du -sk --apparent-size "$folder" | cut -f1)
  [ "$size" -lt $((MOST_MIB << 10)) ] || die "$folder has $size KiB, $MOST_MIB MiB are allowed"
  say "$folder: $size KiB"
}

# step NAME LIMIT_S COMMAND...: its output in OUT/NAME.txt, a row in OUT/steps.csv.
step() {
  local name=$1 limit=$2 left begin=$SECONDS rc=0
  shift 2
  left=$((${KIT_SECONDS:-560} - SECONDS))
  if [ "$left" -lt 5 ]; then
    echo "$name,left out,0" >>"$out/steps.csv"
    status=1
  else
    timeout --kill-after=5 "$((limit < left ? limit : left))" "$@" >"$out/$name.txt" 2>&1 || rc=$?
    [ "$rc" = 0 ] || status=1
    echo "$name,$([ "$rc" = 0 ] && echo passed || { [ "$rc" = 124 ] && echo "over its limit" || echo "failed ($rc)"; }),$((SECONDS - begin))" >>"$out/steps.csv"
  fi
  report >"$out/report.md.new" && mv "$out/report.md.new" "$out/report.md"
  tail -n 1 "$out/steps.csv" >&2
}

machine() {
  "$here/rlgo" --version
  nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader || echo "no nvidia-smi"
  python3 -c 'import torch; print("torch", torch.__version__, "CUDA", torch.version.cuda)' || true
  grep -m 1 '^model name' /proc/cpuinfo
}

report() {
  local file
  echo "# GPU kit"
  echo
  sed 's/^/- /' "$out/machine.txt" 2>/dev/null || true
  echo
  echo "| step | result | s |"
  echo "|---|---|---|"
  sed -e 's/,/ | /g' -e 's/^/| /' -e 's/$/ |/' "$out/steps.csv"
  for file in tests prices-{cuda,libtorch}-{first,second} prices-compared speed dreams learners-one killed profile-{cuda,libtorch}; do
    [ -s "$out/$file.txt" ] || continue
    printf '\n## %s\n\n' "$file"
    grep -aE 'OK|FAILED|SKIPPED|PASSED|steps/s|transitions/s|factor|correlation|error|learners;|operators|nine tenths|passed|^all ' "$out/$file.txt" | tail -n 60 | sed 's/^/    /' || true
  done
}

# common FIRST SECOND: "us us" of each operator that has a price above 0 in both tables.
common() { awk -F'\t' '/^#/ { next } FNR == NR { first[$1] = $2; next } $1 in first && first[$1] > 0 && $2 > 0 { print first[$1], $2 }' "$1" "$2"; }

# prices TARGET first|second: each operator of a zoo graph timed in a run of its own; the second run compares with the first.
prices() {
  "$here/rlgo" --graph "${KIT_GRAPH:-squeezenet1_1}" --agent random --device "$device" --target "$1" --cost measured --epochs 1 --train.steps-per-epoch 20 \
    --seed 1 --check.repeats 3 --train.polish false --store.rollouts false --runs "$out/runs" --name "$1-$2"
  cp "$out/runs/$1-$2/costs.tsv" "$out/costs-$1-$2.tsv"
  [ "$2" = second ] || return 0
  common "$out/costs-$1-first.tsv" "$out/costs-$1-second.tsv" | awk '{ r = $2 / $1; print r < 1 ? 1 / r : r }' | sort -g |
    awk '{ r[NR] = $1 } END { if (NR < 10) exit 1; printf "%d operators: half within %.3f, nine tenths within %.3f\n", NR, r[int((NR + 1) / 2)], r[int(0.9 * NR)] }'
}

# What cuDNN takes of LibTorch's time, operator by operator.
compared() {
  common "$out/costs-libtorch-first.tsv" "$out/costs-cuda-first.tsv" | awk '{ print $2 / $1 }' | sort -g |
    awk '{ r[NR] = $1 } END { if (NR < 10) exit 1; printf "%d operators: cuDNN takes %.2f of the time of LibTorch in the median, %.2f to %.2f in nine tenths\n", NR, r[int((NR + 1) / 2)], r[int(0.05 * NR) + 1], r[int(0.95 * NR)] }'
}

# rate RUN COUNT UNIT: the metrics' column COUNT for each second of updates, of the epochs after the first that have it.
rate() {
  cp "$out/runs/$1/metrics.csv" "$out/$1-metrics.csv"
  awk -F, -v count="$2" -v unit="$3" 'NR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i; next }
    at[count] && $at[count] > 0 && ++seen > 1 { n += $at[count]; s += $at["update_s"] }
    END { if (s <= 0) { print "error: no epoch has " count; exit 1 } printf "%.0f %s\n", n / s, unit }' "$out/$1-metrics.csv"
}

brief=(--cost analytic --check.repeats 3 --train.polish false --store.rollouts false)
speed() {
  "$here/rlgo" --graph resnet18 --device "$device" "${brief[@]}" --epochs 4 --train.steps-per-epoch 2048 --ppo.minibatch 1024 \
    --runs "$out/runs" --name speed
  rate speed transitions 'transitions/s in updates'
}
dreams() {
  "$here/rlgo" --graph squeezenet1_1 --agent model-based --device "$device" "${brief[@]}" --epochs 8 --train.steps-per-epoch 256 \
    --wm.passes 4 --dream.guard 0 --runs "$out/runs" --name dreams
  rate dreams dreamed_steps 'dreamed steps/s, dreamed and learned from'
}

quick=(--graph toy_conv --train.steps-per-epoch 60 --checkpoint.every 1 "${brief[@]}")
learners() { "$here/rlgo" --np 3 "${quick[@]}" --learners 2 --device "$1" --epochs 3 --runs "$out/runs" --name learners; }

# The second learner is killed: the run ends with 75.
killed() {
  local pid rc=0 victim=
  RLGO_MPIRUN_OPTIONS=--enable-recovery "$here/rlgo" --np 3 "${quick[@]}" --learners 2 --device "$1" --epochs 1000000 --train.actor-timeout 10 \
    --runs "$out/runs" --name killed >"$out/killed-run.txt" 2>&1 &
  pid=$!
  # shellcheck disable=SC2064  # this process
  trap "kill $pid 2>/dev/null || true" EXIT
  for _ in $(seq 60); do
    [ "$(wc -l <"$out/runs/killed/metrics.csv" 2>/dev/null || echo 0)" -lt 3 ] || break
    sleep 1
  done
  for proc in /proc/[0-9]*; do
    if tr '\0' '\n' 2>/dev/null <"$proc/environ" | grep -qx OMPI_COMM_WORLD_RANK=1 && tr '\0' ' ' 2>/dev/null <"$proc/cmdline" | grep -q -- '--name killed'; then victim=${proc#/proc/}; fi
  done
  [ -n "$victim" ] || { echo "error: no second learner"; return 1; }
  kill -KILL "$victim"
  wait "$pid" || rc=$?
  grep -E 'is lost|did not answer|not all learners|remote process' "$out/killed-run.txt" && echo "passed: noticed (status $rc)"
}

run() {
  [ -x "$here/rlgo" ] || tar -xJf "$here/rlgo.tar.xz" -C "$here" --strip-components=1
  out=$(realpath -m "${1:-gpu-report}")
  device=${KIT_DEVICE:-cuda}
  status=0
  mkdir -p "$out/runs"
  : >"$out/steps.csv"
  local self=("$BASH" "$here/gpu-kit.sh" one "$out")
  local cudnn=${KIT_CUDNN:-} one=$device
  if [ "$device" = cuda ]; then cudnn=1 one=cuda:0; fi
  step machine 20 "${self[@]}" machine
  step tests 120 env RLGO_PROGRAM="$here/libexec/rlgo/test_gpu" "$here/rlgo" --gtest_color=no
  for number in first second; do
    [ -z "$cudnn" ] || step "prices-cuda-$number" 60 "${self[@]}" prices cuda "$number"
    step "prices-libtorch-$number" 60 "${self[@]}" prices libtorch "$number"
  done
  [ -z "$cudnn" ] || step prices-compared 30 "${self[@]}" compared
  step speed 60 "${self[@]}" speed
  step dreams 60 "${self[@]}" dreams
  step learners-one 60 "${self[@]}" learners "$one"
  step killed 100 "${self[@]}" killed "$one"
  for target in ${cudnn:+cuda} libtorch; do
    step "profile-$target" 60 "$here/rlgo" bench profile --target "$target" --device "$device" --seconds 40 --cost.profile gpu \
      --out "$out/gpu-$target.cost"
  done
  rm -rf "$out/runs"
  cat "$out/report.md"
  exit "$status"
}

case ${1:-} in
  pack) pack "${2:-}" ;;
  run) run "${2:-}" ;;
  one)  # a step, as a process of its own that timeout can end
    out=$2
    device=${KIT_DEVICE:-cuda}
    shift 2
    "$@"
    ;;
  *)
    sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}"
    [ "${1:-}" = --help ] || exit 1
    ;;
esac
