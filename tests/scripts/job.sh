#!/usr/bin/env bash
# launch/scripts/job.sh on programs of a few lines: whose exit status counts, what signals and dead ranks do.
# (They are no MPI programs; mpirun starts and watches them all the same.)
# shellcheck disable=SC2016  # the programs' variables are theirs to expand
set -euo pipefail
cd "${RLGO_SOURCE:-.}"
source launch/scripts/common.sh
source launch/scripts/job.sh
mpi_environment

expect() {  # expect WHAT WANTED GOT
  [ "$2" = "$3" ] || die "$1: expected '$2', got '$3'"
  echo "ok: $1"
}
with_rank() { printf 'rank=%s; %s' "\$OMPI_COMM_WORLD_RANK" "$1"; }

run_job 2 bash -c "$(with_rank 'exit $((rank == 0 ? 7 : 0))')"
expect "the status of rank 0" 7 "$job_status"
rm -rf "$job_folder"

run_job 3 bash -c "$(with_rank '[ $rank != 1 ] || kill -KILL $$; sleep 1')"
expect "a dead actor is no failure" 0 "$job_status"
rm -rf "$job_folder"

run_job 2 bash -c "$(with_rank '[ $rank != 0 ] || kill -KILL $$')"
expect "a dead learner" 137 "$job_status"
rm -rf "$job_folder"

SECONDS=0
RLGO_GRACE_S=2 run_job 2 bash -c "$(with_rank '[ $rank != 0 ] || exit 5; sleep 300')"
expect "the status of a learner whose actors hang" 5 "$job_status"
[ "$SECONDS" -lt 120 ] || die "actors outlived the learner"
rm -rf "$job_folder"

# TERM: the learner ends in its own way; the actor sees from a file that it did.
over=$(mktemp -u)
export over
(
  sleep 3
  kill -TERM $$
) &
run_job 2 bash -c "$(with_rank '
  if [ $rank = 0 ]; then
    trap "touch $over; exit 3" TERM
    for i in $(seq 600); do sleep 0.1; done
  else
    until [ -e $over ]; do sleep 0.1; done
  fi')"
expect "a clean end after TERM" "3 TERM" "$job_status $job_stopped"
[ -e "$over" ] || die "the learner was not asked"
rm -rf "$job_folder" "$over"

# INT reaches a learner although background processes of a shell do not hear it; USR1 and then TERM is one request.
for signals in INT 'USR1 TERM'; do
  (
    sleep 3
    for signal in $signals; do
      kill -s "$signal" $$
      sleep 1
    done
  ) &
  export signals
  run_job 1 bash -c 'heard=; for s in INT USR1 TERM; do trap "heard=\"\${heard}$s \"" $s; done
    for i in $(seq 70); do sleep 0.1; done
    [ "$heard" = "$signals " ] && exit 4
    echo "heard: $heard"
    exit 1'
  expect "the learner hears $signals" "4 ${signals#* }" "$job_status ${job_stopped#* }"
  wait
  rm -rf "$job_folder"
done

# A learner that a batch system's signal kills, as it has no ear for it yet, is to be started again; one that Ctrl-C kills is not.
for signal in TERM USR1 INT; do
  (
    sleep 3
    kill -s "$signal" $$
  ) &
  run_job 1 sleep 300
  expect "a learner killed by $signal" "$([ "$signal" = INT ] && echo 130 || echo 75)" "$job_status"
  wait
  rm -rf "$job_folder"
done

# run_restarting: a learner that crashes or asks for it (75) is started again with --resume, others are not.
work=$(mktemp -d)
export work
again='echo "$*" >>$work/starts; mkdir -p $work/runs/a/checkpoints; touch $work/runs/a/checkpoints/c.h5
  echo $work/runs/a >$RLGO_JOB_FOLDER/run'
run_restarting 3 1 bash -c "$again; "'[ $(wc -l <$work/starts) -lt 3 ] || exit 6
  [ $(wc -l <$work/starts) != 1 ] || exit 75
  kill -KILL $$' learner --runs "$work/runs"
expect "restarts until it ends" 6 "$job_status"
expect "the first start" "--runs $work/runs" "$(sed -n 1p "$work/starts")"
expect "the third start" "--runs $work/runs --resume $work/runs/a" "$(sed -n 3p "$work/starts")"
rm -rf "$job_folder" "$work/starts"
run_restarting 1 1 bash -c "$again; exit 75" learner --runs "$work/runs"
expect "no restart is left" "75 2" "$job_status $(wc -l <"$work/starts")"
rm -rf "$job_folder" "$work"

# Two jobs under one --runs: a neighbour's newer checkpoint is not taken for this job's, with or without one of its own.
work=$(mktemp -d)
job_folder=$work/job
mkdir -p "$work"/job "$work"/runs/{mine,neighbour}/checkpoints
touch "$work/runs/neighbour/checkpoints/1.h5"
expect "the learner ended before it had a folder" "" "$(started_run)"
echo "$work/runs/mine" >"$job_folder/run"
expect "no checkpoint of its own" "" "$(started_run)"
touch -d '1 hour ago' "$work/runs/mine/checkpoints/1.h5"
expect "the run to continue with" "$work/runs/mine" "$(started_run)"
rm -rf "$work"

# What ranks on other hosts are to know is handed to mpirun, which takes nothing there by itself.
work=$(mktemp -d)
printf '#!/bin/sh\necho "$*" >%s/words\n' "$work" >"$work/mpirun"
chmod +x "$work/mpirun"
PATH=$work:$PATH OMP_NUM_THREADS=3 run_job 2 true
grep -q -- '-x OMP_NUM_THREADS' "$work/words" || die "mpirun was started with: $(cat "$work/words")"
echo "ok: OMP_NUM_THREADS goes to other hosts"
rm -rf "$job_folder" "$work"
