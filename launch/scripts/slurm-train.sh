#!/usr/bin/env bash
# A training run as a Slurm job that survives preemption and time limits:
#
#   sbatch [sbatch's options] launch/scripts/slurm-train.sh [rlgo's options]
#   e.g. sbatch --ntasks=32 --job-name=bert launch/scripts/slurm-train.sh --graph bert --epochs 500
#
# With GPUs, two learners on one node, actors on the processors of the same nodes:
#
#   sbatch --ntasks=32 --gpus-per-node=2 launch/scripts/slurm-train.sh --graph bert --learners 2 --device cuda
#
# One node with a GPU for the learner and others without for the actors are a heterogeneous job; rank 0 is on the first part:
#
#   sbatch --ntasks=1 --gpus-per-node=1 --partition=gpu : --ntasks=64 --partition=cpu \
#     launch/scripts/slurm-train.sh --graph bert --device cuda
#
# Ranks are started by mpirun; RLGO_LAUNCHER=srun starts them by `srun --mpi=pmix` (heterogeneous jobs always do): Slurm then
# binds them to cores and NUMA nodes. GPUs stay visible to all ranks of a node, and rlgo gives each learner its own.
#
# Submit it from rlgo's root folder, which all nodes must see, with a build in it (or set RLGO_PROGRAM; for an Apptainer image
# launch/images/in-image.sh). One task is one rank; the run folder is runs/JOB-NAME-JOB-ID unless --runs and --name say
# otherwise.
#
# Two minutes before its time is up, or when it is preempted (SlurmctldParameters=preempt_send_user_signal), Slurm sends USR1 to
# this script alone: the learner stores its state and ends with status 75, the job requeues itself, and its next start
# continues from the checkpoint. The same holds where too few actors were left. A node that fails is Slurm's to requeue.
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
ranks=${SLURM_NTASKS:-1}
if [ "${SLURM_HET_SIZE:-1}" -gt 1 ]; then  # mpirun knows the first part alone
  ranks=0
  for part in $(seq 0 $((SLURM_HET_SIZE - 1))); do
    tasks=SLURM_NTASKS_HET_GROUP_$part
    ranks=$((ranks + ${!tasks:-1}))
  done
  export RLGO_LAUNCHER=srun RLGO_SRUN_OPTIONS=--het-group=0-$((SLURM_HET_SIZE - 1))
fi
case " $* " in
  *" --device cuda"* | *" --device=cuda"*)
    if [ -z "${SLURM_JOB_GPUS:-}${SLURM_GPUS:-}${SLURM_GPUS_ON_NODE:-}${SLURM_GPUS_PER_NODE:-}${SLURM_GPUS_PER_TASK:-}${CUDA_VISIBLE_DEVICES:-}" ]; then
      echo "rlgo: --device cuda, but the job has no GPU: submit with --gpus-per-node=1 (or --gres=gpu:1), or use --device cpu" >&2
      exit 1
    fi
    ;;
esac
arguments=(--np "$ranks" "$@")
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
