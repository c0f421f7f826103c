#!/usr/bin/env bash
# A training run as a Slurm job that survives preemption and time limits:
#
#   sbatch [sbatch's options] launch/scripts/slurm-train.sh [rlgo's options]
#   e.g. sbatch --ntasks=32 --job-name=bert launch/scripts/slurm-train.sh --graph bert --epochs 500
#
# Submit it from rlgo's root folder, which all nodes must see, with a build in it (or set RLGO_PROGRAM; for an Apptainer image
# launch/images/in-image.sh). One task is one rank; the run folder is runs/JOB-NAME-JOB-ID unless --runs and --name say
# otherwise.
#
# Two minutes before its time is up, or when it is preempted (SlurmctldParameters=preempt_send_user_signal), Slurm sends USR1 to
# this script alone: the learner stores its state and ends with status 75, the job requeues itself, and its next start
# goes on from the checkpoint. The same holds where too few actors were left. A node that fails is Slurm's to requeue.
#SBATCH --job-name=rlgo
#SBATCH --ntasks=8
#SBATCH --cpus-per-task=1
#SBATCH --time=24:00:00
#SBATCH --signal=B:USR1@120
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=rlgo-%x-%j.out
set -euo pipefail
# Slurm runs a copy of this file from elsewhere.
root=${RLGO_ROOT:-${SLURM_SUBMIT_DIR:?this is a job script: sbatch launch/scripts/slurm-train.sh}}
batch=$root/launch/scripts/batch.sh
[ -x "$batch" ] || { echo "rlgo: $batch is missing: submit from rlgo's root folder, or set RLGO_ROOT" >&2; exit 1; }

name=${SLURM_JOB_NAME:-rlgo}-${SLURM_ARRAY_JOB_ID:-$SLURM_JOB_ID}${SLURM_ARRAY_TASK_ID:+-$SLURM_ARRAY_TASK_ID}
arguments=(--np "${SLURM_NTASKS:-1}" "$@")
case " $* " in
  *" --name "* | *" --name="*) ;;
  *) arguments+=(--name "$name") ;;
esac
echo "rlgo: job $SLURM_JOB_ID on ${SLURM_JOB_NODELIST:-?}, start $((${SLURM_RESTART_COUNT:-0} + 1)), $(date -u +%FT%TZ)"

"$batch" "${arguments[@]}" &
child=$!
trap 'kill -USR1 "$child"' USR1
trap 'kill -TERM "$child"' TERM
status=0
wait "$child" || status=$?
while kill -0 "$child" 2>/dev/null; do  # the wait was cut short by a signal
  status=0
  wait "$child" || status=$?
done
if [ "$status" = 75 ]; then
  echo "rlgo: the state is stored; job $SLURM_JOB_ID goes back to the queue"
  # What belongs to an array is requeued by its own job id too. Where Slurm has requeued the job itself, this is refused.
  scontrol requeue "$SLURM_JOB_ID" || true
fi
exit "$status"
