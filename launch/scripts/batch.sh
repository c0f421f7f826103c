#!/usr/bin/env bash
# A training run under a batch system: starts it, or continues where an earlier start of the same run left off.
#
#   launch/scripts/batch.sh --np N --name NAME [--runs FOLDER] [rlgo's options]
#
# The run folder FOLDER/NAME decides: with a checkpoint in it the run is resumed; one that got no checkpoint is set aside
# (NAME.void-1, ...) and the run starts again. So the same command line serves every start. Nothing is built here: build
# before (launch/run.sh or cmake), where all hosts see it. Exit status: the learner's; 75 means "start me again", which
# SIGUSR1 and SIGTERM bring about (docs/clusters.md). Environment:
#   RLGO_PROGRAM         the program (default: build/$RLGO_PRESET/rlgo here, or bin/rlgo of an installed package)
#   RLGO_RESTARTS        restarts after a crash of the learner within this job (2)
#   RLGO_STOP_S          seconds that the learner has to store its state (60)
#   RLGO_MPIRUN_OPTIONS  more options for mpirun: hosts, network
#   RLGO_LAUNCHER        srun: Slurm starts the ranks, by PMIx (mpirun)
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
source "$(dirname "${BASH_SOURCE[0]}")/job.sh"

ranks=
name=
runs=runs
arguments=()
while [ "$#" -gt 0 ]; do
  case $1 in
    --help | -h)
      script_help "${BASH_SOURCE[0]}"
      exit 0
      ;;
    --np | --name | --runs)
      [ "$#" -ge 2 ] || die "$1 needs a value"
      case $1 in
        --np) ranks=$2 ;;
        --name) name=$2 ;;
        --runs) runs=$2 ;;
      esac
      shift
      ;;
    --np=*) ranks=${1#--np=} ;;
    --name=*) name=${1#--name=} ;;
    --runs=*) runs=${1#--runs=} ;;
    --resume | --resume=*) die "--resume is not needed: the run continues by itself where $runs/NAME has a checkpoint" ;;
    *) arguments+=("$1") ;;
  esac
  shift
done
[[ $ranks =~ ^[1-9][0-9]*$ ]] || die "--np needs a whole number above 0, not '$ranks'"
[[ ${RLGO_LAUNCHER:-mpirun} =~ ^(mpirun|srun)$ ]] || die "RLGO_LAUNCHER must be mpirun or srun, not '$RLGO_LAUNCHER'"
[ -n "$name" ] || die "--name is missing: a run that is started again is found by its name"
[[ ${RLGO_RESTARTS:-2} =~ ^[0-9]+$ ]] || die "RLGO_RESTARTS must be a whole number, not '$RLGO_RESTARTS'"

program=${RLGO_PROGRAM:-}
for place in "$RLGO_ROOT/build/${RLGO_PRESET:-release}/rlgo" "$RLGO_ROOT/bin/rlgo" "$RLGO_ROOT/../../bin/rlgo"; do
  if [ -z "$program" ] && [ -x "$place" ]; then program=$place; fi
done
[ -x "$program" ] || die "there is no program ${program:-rlgo}: build it (launch/run.sh train --help does), or name it with RLGO_PROGRAM"

folder=$runs/$name
if compgen -G "$folder/checkpoints/checkpoint-*.h5" >/dev/null; then
  say "continuing with $folder"
  arguments+=(--resume "$folder")
else
  if [ -f "$folder/config.cfg" ]; then
    holder=$(sed -n 's/^host \(.*\), process \([0-9]*\)$/\1 \2/p' "$folder/run.lock" 2>/dev/null || true)
    if [ "${holder% *}" = "$(hostname)" ] && [ "$(cat "/proc/${holder#* }/comm" 2>/dev/null)" = rlgo ]; then
      die "$folder: process ${holder#* } writes here already; end it first"
    fi
    number=1
    while [ -e "$folder.void-$number" ]; do number=$((number + 1)); done
    mv "$folder" "$folder.void-$number"
    say "$folder has no checkpoint: it is $folder.void-$number now, and the run starts again"
  fi
  arguments+=(--name "$name" --runs "$runs")
fi
mpi_environment
run_restarting "${RLGO_RESTARTS:-2}" "$ranks" "$program" "${arguments[@]}"
exit "$job_status"
