#!/usr/bin/env bash
# A rank that dies or hangs: the learner goes on with the rest, and the job ends by itself with status 0.
set -euo pipefail
program=$(dirname "${RLGO_BINARY:?}")/test_mpi
[ -x "$program" ] || { echo "no $program"; exit 77; }

for fault in killed hung; do
  status=0
  output=$(timeout 60 mpirun -np 4 --oversubscribe --bind-to none --enable-recovery "$program" "--fault=$fault" 2>&1) || status=$?
  echo "$output"
  if [ "$status" != 0 ]; then
    echo "$fault: status $status"
    exit 1
  fi
  grep -q 'actor 3 is lost' <<<"$output"
  grep -q 'learner: interrupted, goodbyes complete' <<<"$output"
done
