#!/usr/bin/env bash
# A rank that dies or hangs, and one whose environment hangs, throws or returns NaN: the learner continues with the rest,
# keeps the finished episodes, says what was lost, and the job ends by itself with status 0.
set -euo pipefail
program=$(dirname "${RLGO_BINARY:?}")/test_mpi
[ -x "$program" ] || { echo "no $program"; exit 77; }

for fault in killed hung hangs throws nan; do
  status=0
  echo "--- $fault"
  output=$(timeout 90 mpirun -np 4 --oversubscribe --bind-to none --enable-recovery "$program" "--fault=$fault" 2>&1) || status=$?
  echo "$output"
  if [ "$status" != 0 ]; then
    echo "$fault: status $status"
    exit 1
  fi
  case $fault in
    throws) grep -q 'actor 3 lost episode [0-9]*: environment 0: boom at step' <<<"$output" ;;
    nan) grep -q 'actor 3 lost episode [0-9]*: .*\(nan\|inf\)' <<<"$output" ;;
    *) grep -q 'actor 3 is lost' <<<"$output" ;;
  esac
  grep -q 'learner: interrupted, goodbyes complete' <<<"$output"
done
