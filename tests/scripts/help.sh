#!/usr/bin/env bash
# The launch scripts explain themselves and refuse nonsense before they set up or build anything.
set -euo pipefail
cd "${RLGO_SOURCE:-.}"

launch/run.sh --help | grep -q 'launch/run.sh \[--np N\]'
launch/test.sh --help | grep -q "ctest's options"
launch/scripts/setup.sh --help | grep -q 'cache/venv'
launch/scripts/batch.sh --help | grep -q -- '--np N --name NAME'
launch/scripts/slurm-sweep.sh --help | grep -q 'FILE SEEDS'
! launch/scripts/slurm-sweep.sh --help | grep -q SBATCH
launch/scripts/soak.sh --help | grep -q OUT_FOLDER
launch/scripts/nightly.sh --help | grep -q results/nightly.md
for bad in '' '--np 2' '--np 0 --name x' '--name x' '--np 2 --name x --resume y'; do
  # shellcheck disable=SC2086
  if launch/scripts/batch.sh $bad 2>/dev/null; then
    echo "launch/scripts/batch.sh $bad was accepted"
    exit 1
  fi
done
for bad in '--np' '--np=0' '--np x' '--restarts -1'; do
  # shellcheck disable=SC2086
  if launch/run.sh $bad 2>/dev/null; then
    echo "launch/run.sh $bad was accepted"
    exit 1
  fi
done
