#!/usr/bin/env bash
# clang-tidy finds nothing in any source.
set -euo pipefail
exec "${RLGO_SOURCE:-.}/launch/scripts/tidy.sh" --build "$(dirname "${RLGO_BINARY:-build/release/rlgo}")"
