#!/usr/bin/env bash
# One rank, started by mpirun or srun (see job.sh): launch/scripts/rank.sh PROGRAM ARGUMENTS...
#
# Rank 0 leaves its process id and its exit status in RLGO_JOB_FOLDER: `mpirun --enable-recovery` itself always answers
# 0, and when asked to end it leaves the ranks one second. The program adds its run's folder (the file run) for a restart.
# The other ranks are just the program.
if [ "${OMPI_COMM_WORLD_RANK:-${PMIX_RANK:-0}}" != 0 ] || [ -z "${RLGO_JOB_FOLDER:-}" ]; then
  exec "$@"
fi

# mpirun's signals reach the program too (one process group): this shell only waits for what the program makes of them.
trap : HUP INT TERM USR1 USR2
env --default-signal=INT "$@" <&0 &  # a shell's background processes do not hear INT
child=$!
echo "$child" >"$RLGO_JOB_FOLDER/pid"

# Where the launch script is gone (killed), the job ends as if it had been asked to.
(
  trap - HUP INT TERM USR1 USR2
  while kill -0 "$RLGO_JOB_PID" 2>/dev/null; do sleep 2; done
  kill -TERM "$child"
) 2>/dev/null &
guard=$!

wait "$child"
status=$?
while kill -0 "$child" 2>/dev/null; do  # the wait was cut short by a signal
  wait "$child"
  status=$?
done
kill "$guard" 2>/dev/null
if [ -d "$RLGO_JOB_FOLDER" ]; then
  echo "$status" >"$RLGO_JOB_FOLDER/status.new" && mv "$RLGO_JOB_FOLDER/status.new" "$RLGO_JOB_FOLDER/status"
fi
exit "$status"
