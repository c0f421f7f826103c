# shellcheck shell=bash
# Read by the launch scripts (source): where things are, messages, build steps, the environment of MPI.

RLGO_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
export RLGO_CACHE=${RLGO_CACHE:-${XDG_CACHE_HOME:-${HOME:?HOME is not set: set HOME or RLGO_CACHE}/.cache}/rlgo}

say() { printf 'rlgo: %s\n' "$*" >&2; }
die() {
  say "$*"
  exit 1
}

# The comment at a script's head, as its help.
script_help() { sed -n '2,/^set -/{/^set -/d;/^#SBATCH/d;s/^# \{0,1\}//;p}' "$1"; }

# Jobs to build with: the cores, but at most one for each 2.5 GiB of free memory (files with LibTorch take 2 GiB).
build_jobs() {
  local cores by_memory
  cores=$(nproc)
  by_memory=$(awk '/^MemAvailable:/ { print int($2 / 2621440) }' /proc/meminfo)
  [ "${by_memory:-1}" -ge 1 ] || by_memory=1
  echo "${RLGO_BUILD_JOBS:-$((cores < by_memory ? cores : by_memory))}"
}

# run_step LOG WHAT COMMAND...: runs quietly; on failure shows the end of the log and stops.
run_step() {
  local log=$1 what=$2
  shift 2
  if ! "$@" >"$log" 2>&1 </dev/null; then
    tail -n 25 "$log" >&2
    die "$what failed; the whole log is in $log"
  fi
}

# build_rlgo PRESET [TARGET]: configures where needed and builds. Prints what is built, nothing when all is up to date.
# With RLGO_SETUP_LIGHT=1 without training and tests, unless the folder has them already; what is built serves both.
build_rlgo() {
  local preset=$1 folder=$RLGO_ROOT/build/$1 training=ON
  shift
  [ -z "${RLGO_SETUP_LIGHT:-}" ] || training=OFF
  cd "$RLGO_ROOT" || exit
  mkdir -p "$folder"
  if [ ! -f "$folder/build.ninja" ] || ! grep -qxF "RLGO_CACHE_DIR:PATH=$RLGO_CACHE" "$folder/CMakeCache.txt"; then
    rm -f "$folder/CMakeCache.txt"  # made for another cache folder
    configure_rlgo "$preset" "$training"
  elif [ "$training" = ON ] && grep -qxF RLGO_TRAINING:BOOL=OFF "$folder/CMakeCache.txt"; then
    configure_rlgo "$preset" ON  # adds to what is there
  fi
  # Two runs at once take turns: ninja itself does not lock its folder.
  (
    flock 8
    NINJA_STATUS='[%f/%t] ' ninja -C "$folder" -j "$(build_jobs)" "$@" 2>&1 </dev/null 8>&- |
      sed -u -e '/no work to do/d' -e '/Entering directory/d' -e '/Re-checking globbed/d' >&2
    exit "${PIPESTATUS[0]}"
  ) 8>"$folder/build.lock" || die "the build failed (build/$preset)"
}

# configure_rlgo PRESET ON|OFF: with or without training and tests.
configure_rlgo() {
  say "configuring build/$1"
  run_step "$RLGO_ROOT/build/$1/configure.log" "configuring" cmake --preset "$1" -DRLGO_TRAINING="$2" -DRLGO_TESTS="$2"
}

# How mpirun places ranks: where a host has several NUMA nodes each rank stays on one of them (its memory is near then),
# else wherever the system likes. mpi_binding [FOLDER]: where the system lists its nodes.
mpi_binding() {
  if [ -e "${1:-/sys/devices/system/node}/node1" ]; then
    echo "--map-by numa:OVERSUBSCRIBE --bind-to numa:overload-allowed"
  else
    echo "--oversubscribe --bind-to none"
  fi
}

# Open MPI as launch scripts and tests need it. What is set already stays.
mpi_environment() {
  export OMP_NUM_THREADS=${OMP_NUM_THREADS:-1}
  # More ranks than cores must not burn the cores while they wait.
  export OMPI_MCA_mpi_yield_when_idle=${OMPI_MCA_mpi_yield_when_idle:-1}
  # Containers forbid the system call behind the single-copy mechanism.
  export OMPI_MCA_btl_vader_single_copy_mechanism=${OMPI_MCA_btl_vader_single_copy_mechanism:-none}
  export OMPI_MCA_smsc=${OMPI_MCA_smsc:-^cma,knem,xpmem}  # the same in Open MPI 5
  export PRTE_MCA_rmaps_default_mapping_policy=${PRTE_MCA_rmaps_default_mapping_policy:-:oversubscribe}
  if [ "$(id -u)" = 0 ]; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
  fi
}
