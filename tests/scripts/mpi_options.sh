#!/usr/bin/env bash
# Where ranks are bound, and the variables of Open MPI 4.1 and 5 (launch/scripts/common.sh).
set -euo pipefail
source "${RLGO_SOURCE:?}/launch/scripts/common.sh"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
mkdir "$out/node0"
[ "$(mpi_binding "$out")" = "--oversubscribe --bind-to none" ] || { echo "one node: $(mpi_binding "$out")"; exit 1; }
mkdir "$out/node1"
two=$(mpi_binding "$out")
[ "$two" = "--map-by numa:OVERSUBSCRIBE --bind-to numa:overload-allowed" ] || { echo "two nodes: $two"; exit 1; }

# Both names of the single-copy mechanism, 4.1's and 5's. A user's own values stay.
variables() { env -i PATH="$PATH" HOME="$HOME" "$@" bash -c 'source "$1/launch/scripts/common.sh"; mpi_environment; env' - "$RLGO_SOURCE"; }
variables A=1 >"$out/variables"
for line in OMPI_MCA_btl_vader_single_copy_mechanism=none 'OMPI_MCA_smsc=^cma,knem,xpmem' PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe \
  OMPI_MCA_mpi_yield_when_idle=1; do
  grep -qxF "$line" "$out/variables" || { echo "not set: $line"; exit 1; }
done
variables OMPI_MCA_smsc=cma OMPI_MCA_btl_vader_single_copy_mechanism=cma PRTE_MCA_rmaps_default_mapping_policy=node >"$out/variables"
for line in OMPI_MCA_smsc=cma OMPI_MCA_btl_vader_single_copy_mechanism=cma PRTE_MCA_rmaps_default_mapping_policy=node; do
  grep -qxF "$line" "$out/variables" || { echo "not kept: $line"; exit 1; }
done

# The installed mpirun takes the words for several nodes.
command -v mpirun >/dev/null || exit 0
mpi_environment
# shellcheck disable=SC2086  # several words
timeout 60 mpirun -np 3 $two --enable-recovery sh -c 'echo rank' >"$out/ranks" 2>&1 || { cat "$out/ranks"; exit 1; }
[ "$(grep -c '^rank$' "$out/ranks")" = 3 ] || { cat "$out/ranks"; exit 1; }
