#!/usr/bin/env bash
# The program built for Debian's Open MPI 4.1 runs under Open MPI 5 (PyPI's package), started as launch/run.sh and batch.sh do,
# with the words for machines of one NUMA node and of several: two learners, and a batch job.
set -euo pipefail
cache=${RLGO_CACHE:-$HOME/.cache/rlgo}
[ -x "$cache/site/bin/mpirun" ] || { echo "no $cache/site/bin/mpirun (launch/test.sh makes it): skipped"; exit 77; }
export PATH=$cache/site/bin:$PATH LD_LIBRARY_PATH=$cache/site/lib
[[ $(mpirun --version) == *"(Open MPI) 5."* ]] || { mpirun --version; exit 1; }
source "${RLGO_SOURCE:?}/launch/scripts/common.sh"
mpi_environment
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
ldd "${RLGO_BINARY:?}" | grep -q "libmpi.so.40 => $cache/site/lib" || { ldd "$RLGO_BINARY" | grep mpi; exit 1; }
quick=(--graph toy_conv --cost analytic --train.steps-per-epoch 60 --check.repeats 3 --train.polish false --store.rollouts false --device cpu)
mkdir -p "$out/nodes/node1"
number=0
for folder in "$out" "$out/nodes"; do
  number=$((number + 1))
  # shellcheck disable=SC2046  # several words
  timeout 120 mpirun -np 3 $(mpi_binding "$folder") --enable-recovery -x OMP_NUM_THREADS "$RLGO_BINARY" "${quick[@]}" --learners 2 \
    --epochs 2 --runs "$out/runs" --name "run$number" </dev/null >"$out/said" 2>&1 || { cat "$out/said"; exit 1; }
  grep -q 'gradients are summed by ring of 2 ranks' "$out/runs/run$number/log.txt" || { cat "$out/runs/run$number/log.txt"; exit 1; }
done
RLGO_PROGRAM=$RLGO_BINARY timeout 120 "$RLGO_SOURCE/launch/scripts/batch.sh" --np 2 --name batch --runs "$out/runs" "${quick[@]}" --epochs 2 \
  </dev/null >"$out/said" 2>&1 || { cat "$out/said"; exit 1; }
grep -q 'training ended (all epochs done): 2 epochs' "$out/runs/batch/log.txt"
