#!/usr/bin/env bash
# A sweep over settings and seeds as one Slurm job array:
#
#   launch/scripts/slurm-sweep.sh FILE SEEDS [--sbatch "OPTIONS OF SBATCH"] [rlgo's options for all]
#   e.g. launch/scripts/slurm-sweep.sh sweep.txt 5 --sbatch "--ntasks=16 --time=4:00:00" --graph bert --epochs 200
#
# FILE has a line for each setting: a name, then rlgo's options; empty lines and lines that begin with # do not count:
#   r1     --env.reward R1
#   r3     --env.reward R3 --env.weight-launches 0.5
# Each setting runs with seeds 1 .. SEEDS, as runs/sweep-FILE/NAME-sSEED (RLGO_SWEEP: another folder). Every run is a
# job of slurm-train.sh: it is requeued and continues by itself. Submitting the same sweep again finishes what is missing.
#SBATCH --job-name=rlgo
#SBATCH --ntasks=8
#SBATCH --cpus-per-task=1
#SBATCH --time=24:00:00
#SBATCH --signal=B:USR1@120
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=rlgo-%x-%A-%a.out
set -euo pipefail
root=${RLGO_ROOT:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
if [ -n "${RLGO_SWEEP_FILE:-}" ]; then  # inside the job: a copy of this file
  root=$RLGO_ROOT
fi
source "$root/launch/scripts/common.sh"

settings() { sed -e 's/#.*//' -e '/^[[:space:]]*$/d' "$1"; }

if [ -z "${RLGO_SWEEP_FILE:-}" ]; then
  if [ "${1:-}" = --help ] || [ "${1:-}" = -h ]; then
    script_help "${BASH_SOURCE[0]}"
    exit 0
  fi
  [ "$#" -ge 2 ] || die "slurm-sweep.sh FILE SEEDS [...]; --help shows more"
  file=$1
  seeds=$2
  shift 2
  [ -f "$file" ] || die "$file: no such file"
  [[ $seeds =~ ^[1-9][0-9]*$ ]] || die "the number of seeds must be a whole number above 0, not '$seeds'"
  sbatch_options=()
  if [ "${1:-}" = --sbatch ]; then
    read -r -a sbatch_options <<<"${2:-}"
    shift 2
  fi
  count=$(settings "$file" | wc -l)
  [ "$count" -gt 0 ] || die "$file: holds no setting"
  twice=$(settings "$file" | awk '{ print $1 }' | sort | uniq -d | head -n 1)
  [ -z "$twice" ] || die "$file: two settings are named '$twice'"
  stem=$(basename "$file")
  export RLGO_ROOT=$root RLGO_SWEEP_SEEDS=$seeds RLGO_SWEEP=${RLGO_SWEEP:-runs/sweep-${stem%.*}}
  RLGO_SWEEP_FILE=$(realpath "$file")
  export RLGO_SWEEP_FILE
  cd "$root"
  exec sbatch --export=ALL --array="0-$((count * seeds - 1))" --job-name="${stem%.*}" "${sbatch_options[@]}" \
    "$root/launch/scripts/slurm-sweep.sh" "$@"
fi

index=$((SLURM_ARRAY_TASK_ID / RLGO_SWEEP_SEEDS))
seed=$((SLURM_ARRAY_TASK_ID % RLGO_SWEEP_SEEDS + 1))
read -r -a setting < <(settings "$RLGO_SWEEP_FILE" | sed -n "$((index + 1))p")
[ "${#setting[@]}" -gt 0 ] || die "$RLGO_SWEEP_FILE has no setting number $index (it was changed after the submission)"
name=${setting[0]}-s$seed
if [ -f "$RLGO_SWEEP/$name/summary.txt" ]; then
  say "$name is done"
  exit 0
fi
exec "$root/launch/scripts/slurm-train.sh" "$@" "${setting[@]:1}" --seed "$seed" --runs "$RLGO_SWEEP" --name "$name"
