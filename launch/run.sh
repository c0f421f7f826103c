#!/usr/bin/env bash
# Sets up, builds and runs rlgo, under MPI where it trains:
#
#   launch/run.sh [--np N] [--restarts N] [rlgo's options]       e.g. launch/run.sh --graph resnet50
#                                                                     launch/run.sh optimise model.onnx -o faster.onnx
#
# optimise, compare, search, rules and inspect need no LibTorch, MPI or HDF5: where these are missing, rlgo is set up and built
# without them (6 minutes on two cores), and with them once a command trains, by the same folders.
#
#   --np N        ranks to start: one learner, the rest actors, unless options say otherwise. Default: the cores, at
#                 least 2; 1 for every subcommand but train. One rank alone runs without MPI.
#   --restarts N  how often a run continues from its last checkpoint after the learner crashed (was killed by a signal) or
#                 too few actors were left (2)
#   --help        this text; "launch/run.sh train --help" shows rlgo's own
#
# The exit status is the learner's: 0, 1 after an error, 75 where the state is stored and --resume shall continue. Ctrl-C ends
# the run with what it has found; SIGTERM and SIGUSR1 only store its state (75). Once more ends at once. docs/clusters.md.
# Set-up and build take seconds when nothing changed. Environment:
#   RLGO_CACHE       folder for what is costly to make (default: ~/.cache/rlgo)
#   RLGO_BUILD_JOBS  compilers at once (default: the cores, fewer where memory is short)
#   RLGO_PRESET      build preset (default: release)
#   RLGO_STOP_S      seconds that the learner has after Ctrl-C (60)
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/scripts/common.sh"
source "$RLGO_ROOT/launch/scripts/job.sh"

ranks=
restarts=2
asks_help=
arguments=()
while [ "$#" -gt 0 ]; do
  case $1 in
    --np | -np | --restarts)
      [ "$#" -ge 2 ] || die "$1 needs a number"
      if [ "$1" = --restarts ]; then restarts=$2; else ranks=$2; fi
      shift
      ;;
    --np=*) ranks=${1#--np=} ;;
    --restarts=*) restarts=${1#--restarts=} ;;
    --help | -h)
      if [ "${#arguments[@]}" = 0 ]; then
        script_help "${BASH_SOURCE[0]}"
        exit 0
      fi
      asks_help='--help for '
      arguments+=("$1")
      ;;
    *) arguments+=("$1") ;;
  esac
  shift
done
if [ -z "$ranks" ]; then
  case $asks_help${arguments[0]:-train} in
    train | -*) ranks=$(($(nproc) > 2 ? $(nproc) : 2)) ;;
    *) ranks=1 ;;
  esac
fi
[[ $ranks =~ ^[1-9][0-9]*$ ]] || die "--np needs a whole number above 0, not '$ranks'"
[[ $restarts =~ ^[0-9]+$ ]] || die "--restarts needs a whole number, not '$restarts'"

# What trains, and what is not known here, gets all of rlgo.
case " ${arguments[*]} " in
  *' libtorch '* | *=libtorch\ * | *' train '* | *=train\ *) ;;
  *)
    case ${arguments[0]:-} in
      optimise | optimize | compare | search | rules | inspect | completion | man) export RLGO_SETUP_LIGHT=1 ;;
      bench) [[ ${arguments[1]:-} =~ ^(growth|same|profile|groups|rules)$ ]] && export RLGO_SETUP_LIGHT=1 ;;
    esac
    ;;
esac

calling_folder=$PWD
preset=${RLGO_PRESET:-release}
program=$RLGO_ROOT/build/$preset/rlgo
"$RLGO_ROOT/launch/scripts/setup.sh"
build_rlgo "$preset" rlgo
[ -n "${RLGO_SETUP_LIGHT:-}" ] || mpi_environment
cd "$calling_folder"
if [ "$ranks" = 1 ]; then
  exec "$program" "${arguments[@]}"
fi

run_restarting "$restarts" "$ranks" "$program" "${arguments[@]}"
exit "$job_status"
