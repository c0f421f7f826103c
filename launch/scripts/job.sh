# shellcheck shell=bash
# Read by launch/run.sh and batch.sh (source, after common.sh): one MPI job from start to end.
#
#   run_job RANKS PROGRAM ARGUMENTS...                   sets job_status, the exit status of rank 0
#   run_restarting RESTARTS RANKS PROGRAM ARGUMENTS...   the same; continues from the last checkpoint after a crash
#
# - A rank that dies does not take the others with it (--enable-recovery); the learner on rank 0 decides what to do.
# - When rank 0 has ended, the others have RLGO_GRACE_S seconds (20) to follow; then mpirun is ended, by force where it must be.
# - INT, TERM or USR1: rank 0 is asked once, by the same signal, to end cleanly (it stores a checkpoint and stops the
#   others; launch/signals.h) and has RLGO_STOP_S seconds (60) for it. A second one ends the job at once, but for a TERM
#   after a USR1, which batch systems send as a warning. job_stopped shows which it was. Where a TERM or USR1
#   ends the learner itself (it was not ready yet, or did not make it in time), the status is 75 too: start me again.
# - Ranks on other hosts get OMP_NUM_THREADS too (mpirun itself takes its own variables there, no others).
# - RLGO_MPIRUN_OPTIONS: more options for mpirun (hosts, network), separated by spaces.
# - RLGO_LAUNCHER=srun: Slurm's srun starts the ranks (PMIx), with RLGO_SRUN_OPTIONS in place of --ntasks; Slurm binds
#   them to processors and GPUs then.

job_mpirun=
job_folder=
job_status=
job_stopped=

job_rank0() { cat "$job_folder/pid" 2>/dev/null; }

# Sleeps in steps as long as the job runs: job_outlasts SECONDS is true where it still runs then.
job_outlasts() {
  local left=$1
  while [ "$left" -gt 0 ]; do
    sleep 1
    left=$((left - 1))
    kill -0 "$job_mpirun" 2>/dev/null || return 1
  done
}

# Ends mpirun and with it all ranks. Where one of its daemons cannot be reached (the network is gone) mpirun waits for it
# for ever after a TERM; two more, one soon after the other, tell it not to.
job_end() {
  local seconds
  for seconds in 15 2 5; do
    kill -TERM "$job_mpirun" 2>/dev/null || return 0
    job_outlasts "$seconds" || return 0
  done
  kill -KILL "$job_mpirun" 2>/dev/null || true
}

job_stop() {
  local signal=$1 rank0
  if [ -n "$job_stopped" ] && [ "$job_stopped" != USR1 ]; then
    say "ending at once"
    kill -TERM "$job_mpirun" 2>/dev/null
    return
  fi
  job_stopped=$signal
  rank0=$(job_rank0)
  if [ -z "$rank0" ] || ! kill -s "$signal" "$rank0" 2>/dev/null; then
    kill -TERM "$job_mpirun" 2>/dev/null
    return
  fi
  say "stopping: the learner has ${RLGO_STOP_S:-60} s to store its state (once more: end at once)"
  (if job_outlasts "${RLGO_STOP_S:-60}"; then job_end; fi) 2>/dev/null &
}

run_job() {
  local ranks=$1 watcher
  shift
  job_folder=$(mktemp -d "${TMPDIR:-/tmp}/rlgo-job.XXXXXX")
  trap 'rm -rf "$job_folder"' EXIT
  job_status=
  job_stopped=
  export RLGO_JOB_FOLDER=$job_folder RLGO_JOB_PID=$$
  trap 'job_stop INT' INT
  trap 'job_stop TERM' TERM
  trap 'job_stop USR1' USR1
  local launcher
  # shellcheck disable=SC2046,SC2206,SC2207  # several words
  if [ "${RLGO_LAUNCHER:-mpirun}" = srun ]; then
    launcher=(srun --mpi=pmix --kill-on-bad-exit=0 ${RLGO_SRUN_OPTIONS:---ntasks="$ranks"})
  else
    launcher=(mpirun -np "$ranks" $(mpi_binding) --enable-recovery -x OMP_NUM_THREADS ${RLGO_MPIRUN_OPTIONS:-})
  fi
  # A session of its own: the terminal's Ctrl-C must not reach mpirun, which would kill the ranks after a second.
  setsid "${launcher[@]}" "$RLGO_ROOT/launch/scripts/rank.sh" "$@" </dev/null &
  job_mpirun=$!
  (
    trap - INT TERM USR1
    while kill -0 "$job_mpirun" && [ ! -f "$job_folder/status" ]; do sleep 1; done
    if job_outlasts "${RLGO_GRACE_S:-20}"; then job_end; fi
  ) 2>/dev/null &
  watcher=$!
  local answer=0
  wait "$job_mpirun" || answer=$?
  while kill -0 "$job_mpirun" 2>/dev/null; do  # the wait was cut short by a signal
    answer=0
    wait "$job_mpirun" || answer=$?
  done
  trap - INT TERM USR1
  kill "$watcher" 2>/dev/null || true
  job_status=$(cat "$job_folder/status" 2>/dev/null || true)
  if [ -z "$job_status" ]; then  # rank 0 did not come to an end of its own
    job_status=$((answer > 0 ? answer : 1))
    [ -z "$job_stopped" ] || job_status=$((128 + $(kill -l "$job_stopped")))
  fi
  case $job_stopped in
    TERM | USR1) [ "$job_status" -le 128 ] || job_status=75 ;;
  esac
}

# Status 75 (too few actors are left) and those of a learner that a signal killed (129 and more) ask for another start,
# where nobody has asked the run to end.
run_restarting() {
  local restarts=$1 ranks=$2 program=$3 resuming='' folder argument
  shift 3
  local arguments=("$@")
  for argument in "$@"; do
    case $argument in
      --resume | --resume=*) resuming=yes ;;
    esac
  done
  while :; do
    run_job "$ranks" "$program" "${arguments[@]}"
    if { [ "$job_status" -le 128 ] && [ "$job_status" != 75 ]; } || [ -n "$job_stopped" ] || [ "$restarts" = 0 ]; then
      return
    fi
    if [ -z "$resuming" ]; then
      folder=$(started_run)
      if [ -z "$folder" ]; then
        say "the learner ended (status $job_status) before its first checkpoint"
        return
      fi
      arguments+=(--resume "$folder")
      resuming=yes
    fi
    say "the learner ended (status $job_status); continuing from its last checkpoint ($restarts restarts left)"
    restarts=$((restarts - 1))
    rm -rf "$job_folder"
  done
}

# The folder of the run that this job's learner began (rlgo leaves its path in the job's folder), where it has a checkpoint.
# Never looked for under --runs: other jobs write their runs there too.
started_run() {
  local folder
  folder=$(cat "$job_folder/run" 2>/dev/null) || return 0
  if compgen -G "$folder/checkpoints/*.h5" >/dev/null; then echo "$folder"; fi
}
