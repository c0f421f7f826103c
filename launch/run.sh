#!/usr/bin/env bash
# Sets up, builds and runs rlgo under MPI:
#
#   launch/run.sh [--np N] [rlgo's options]       e.g. launch/run.sh --graph resnet50
#
#   --np N    ranks to start (default: the cores, at least 2); 1 learner, the rest actors, unless options say otherwise
#   --help    this text; "launch/run.sh train --help" and the like show rlgo's own
#
# Set-up and build take seconds when nothing changed. Environment:
#   RLGO_CACHE       folder for what is costly to make (default: ~/.cache/rlgo)
#   RLGO_BUILD_JOBS  compilers at once (default: the cores, fewer where memory is short)
#   RLGO_PRESET      build preset (default: release)
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/scripts/common.sh"

ranks=$(nproc)
[ "$ranks" -ge 2 ] || ranks=2
arguments=()
while [ "$#" -gt 0 ]; do
  case $1 in
    --np | -np)
      [ "$#" -ge 2 ] || die "$1 needs a number"
      ranks=$2
      shift
      ;;
    --np=*) ranks=${1#--np=} ;;
    --help | -h)
      if [ "${#arguments[@]}" = 0 ]; then
        sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}"
        exit 0
      fi
      arguments+=("$1")
      ;;
    *) arguments+=("$1") ;;
  esac
  shift
done
[[ $ranks =~ ^[1-9][0-9]*$ ]] || die "--np needs a whole number above 0, not '$ranks'"

calling_folder=$PWD
preset=${RLGO_PRESET:-release}
"$RLGO_ROOT/launch/scripts/setup.sh"
build_rlgo "$preset" rlgo
mpi_environment
cd "$calling_folder"
# --enable-recovery: a rank that dies does not take the others with it.
exec mpirun -np "$ranks" --oversubscribe --bind-to none --enable-recovery \
  "$RLGO_ROOT/build/$preset/rlgo" "${arguments[@]}"
