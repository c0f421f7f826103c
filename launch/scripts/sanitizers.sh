#!/usr/bin/env bash
# Builds the C++ tests with sanitizers and runs them; its status is 1 where one fails:
#
#   launch/scripts/sanitizers.sh [asan|tsan ...] [-- PROGRAM...]
#
# asan: addresses and undefined behaviour, all programs but those under mpirun. tsan: threads, in the programs whose code has
# any and no LibTorch, whose own pool is not built for it. Without PROGRAMs (test_core_base ...) all of these. An hour or two of
# processor time for each.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

presets=()
while [ "$#" -gt 0 ] && [ "$1" != -- ]; do
  case $1 in
    --help | -h) script_help "${BASH_SOURCE[0]}" && exit 0 ;;
    asan | tsan) presets+=("$1") && shift ;;
    *) die "unknown preset $1 (see --help)" ;;
  esac
done
[ "$#" = 0 ] || shift
[ "${#presets[@]}" -gt 0 ] || presets=(asan tsan)
threaded=(test_core_base test_core_comm test_core_measure test_core_search test_replay)
cd "$RLGO_ROOT"
status=0
for preset in "${presets[@]}"; do
  cmake --preset "$preset" >/dev/null
  programs=("$@")
  if [ "${#programs[@]}" = 0 ]; then
    if [ "$preset" = tsan ]; then
      programs=("${threaded[@]}")
    else
      mapfile -t programs < <(ninja -C "build/$preset" -t targets all | grep -oE '^test_[a-z_]+' | sort -u | grep -v '^test_mpi$')
    fi
  fi
  ninja -C "build/$preset" -j "$(build_jobs)" "${programs[@]}"
  for program in "${programs[@]}"; do
    # Doubled symbols are those of LibTorch's libraries. handle_segv: a test of the fuzzer raises the signal on purpose.
    if OMP_NUM_THREADS=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
      ASAN_OPTIONS=detect_leaks=1:detect_odr_violation=0:handle_segv=0 \
      UBSAN_OPTIONS=print_stacktrace=1 "build/$preset/$program" >"build/$preset/$program.txt" 2>&1; then
      say "$preset $program: $(grep ' ran\.' "build/$preset/$program.txt" | tail -1)"
    else
      say "$preset $program: FAILED, build/$preset/$program.txt"
      status=1
    fi
  done
done
exit "$status"
