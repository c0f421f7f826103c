#!/usr/bin/env bash
# slurm-train.sh in a heterogeneous job: srun starts the ranks of all parts as one run. (A Slurm of one node has no such job: a
# stand-in for srun.)
set -euo pipefail
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
mkdir "$out/tools"
cat >"$out/tools/srun" <<'STUB'
#!/usr/bin/env bash
echo "$*" >>"$SRUN_SAID"
while [[ $1 == --* ]]; do shift; done
PMIX_RANK=0 exec "$@"
STUB
printf '#!/bin/sh\necho "$*" >"$PROGRAM_SAID"\n' >"$out/program"
chmod +x "$out/tools/srun" "$out/program"
export SRUN_SAID=$out/srun PROGRAM_SAID=$out/said RLGO_ROOT=${RLGO_SOURCE:?} RLGO_PROGRAM=$out/program
cd "$out"
run() {
  env PATH="$out/tools:$PATH" SLURM_JOB_ID=7 SLURM_NTASKS=1 "$@" "$RLGO_ROOT/launch/scripts/slurm-train.sh" --graph bert
}
run SLURM_HET_SIZE=2 SLURM_NTASKS_HET_GROUP_0=1 SLURM_NTASKS_HET_GROUP_1=64
grep -q -- '^--mpi=pmix .*--het-group=0-1 .*program --graph bert' "$out/srun" || { cat "$out/srun"; exit 1; }
grep -q -- '--name rlgo-7 --runs runs' "$out/said" || { cat "$out/said"; exit 1; }
run RLGO_LAUNCHER=srun SLURM_NTASKS=5
grep -q -- '--ntasks=5 .*program' "$out/srun" || { cat "$out/srun"; exit 1; }
status=0
run RLGO_LAUNCHER=ssh 2>"$out/errors" || status=$?
[ "$status" = 1 ] && grep -q 'RLGO_LAUNCHER must be mpirun or srun' "$out/errors"
status=0
(run() { env SLURM_JOB_ID=7 "$RLGO_ROOT/launch/scripts/slurm-train.sh" --graph bert --device cuda; }; run) 2>"$out/errors" || status=$?
[ "$status" = 1 ] && grep -q 'the job has no GPU: submit with --gpus-per-node=1' "$out/errors"
