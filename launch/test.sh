#!/usr/bin/env bash
# Sets up, builds everything and runs the tests:
#
#   launch/test.sh [ctest's options]      e.g. launch/test.sh -L core/graph   (-L label, -R name, -j jobs)
#
# Tests with the label nightly take long: they run where they are asked for (-L nightly; launch/scripts/nightly.sh).
# Environment: RLGO_CACHE, RLGO_BUILD_JOBS, RLGO_PRESET as for launch/run.sh.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/scripts/common.sh"

if [ "${1:-}" = --help ] || [ "${1:-}" = -h ]; then
  script_help "${BASH_SOURCE[0]}"
  exit 0
fi
preset=${RLGO_PRESET:-release}
export RLGO_SETUP_TESTS=1
"$RLGO_ROOT/launch/scripts/setup.sh"
build_rlgo "$preset"
mpi_environment
case " $* " in
  *nightly*) ;;
  *) set -- -LE nightly "$@" ;;
esac
exec ctest --test-dir "$RLGO_ROOT/build/$preset" --output-on-failure --no-tests=error -j "$(nproc)" "$@" </dev/null
