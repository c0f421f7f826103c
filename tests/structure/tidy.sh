#!/usr/bin/env bash
# clang-tidy's quick checks find nothing in what the last commit changed, nor in a part of the other sources that moves
# on from commit to commit. All checks of all sources: tidy_nightly.sh.
set -euo pipefail
exec "${RLGO_SOURCE:-.}/launch/scripts/tidy.sh" --quick --sample 12 --build "$(dirname "${RLGO_BINARY:-build/release/rlgo}")"
