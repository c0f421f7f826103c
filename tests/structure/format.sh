#!/usr/bin/env bash
# Every C++ source is as clang-format 14 writes it (.clang-format).
set -euo pipefail
cd "${RLGO_SOURCE:-.}"

version=$(clang-format --version 2>/dev/null | sed -n 's/.*version \([0-9]*\).*/\1/p') || true
if [ "$version" != 14 ]; then
  echo "skipped: clang-format 14 is not installed (RLGO_SETUP_TESTS=1 launch/scripts/setup.sh), found: ${version:-none}"
  exit 77
fi
find core actors replay learner launch tests -name '*.cc' -o -name '*.h' | sort |
  xargs -n 50 -P 2 clang-format --dry-run -Werror || {
  echo "clang-format -i mends that"
  exit 1
}
