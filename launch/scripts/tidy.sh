#!/usr/bin/env bash
# Runs clang-tidy (settings: .clang-tidy) on files of a configured build: launch/scripts/tidy.sh FILE.cc...
# Without files: on all sources, in parallel. Needs the Debian package clang-tidy, which set-up leaves to those who want it.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

command -v clang-tidy >/dev/null || die "clang-tidy is not installed (Debian package clang-tidy)"
build=$RLGO_ROOT/build/${RLGO_PRESET:-release}
[ -f "$build/compile_commands.json" ] || die "configure first: cmake --preset ${RLGO_PRESET:-release}"

# The precompiled header is gcc's own; clang reads the headers themselves.
mkdir -p "$build/tidy"
sed -e 's/ -Winvalid-pch -include [^ ]*cmake_pch\.hxx//' -e 's/ -fpch-preprocess//' \
  "$build/compile_commands.json" >"$build/tidy/compile_commands.json"
cd "$RLGO_ROOT"
if [ "$#" = 0 ]; then
  mapfile -t files < <(git ls-files 'core/*.cc' 'actors/*.cc' 'replay/*.cc' 'learner/*.cc' 'launch/*.cc' |
    grep -v '/cuda/')
  set -- "${files[@]}"
fi
printf '%s\0' "$@" | xargs -0 -n 1 -P "$(build_jobs)" clang-tidy -p "$build/tidy" --quiet
