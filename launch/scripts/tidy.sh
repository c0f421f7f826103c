#!/usr/bin/env bash
# Runs clang-tidy 14 (settings: .clang-tidy) on files of a configured build; its status is 1 where it finds something:
#
#   launch/scripts/tidy.sh                     all sources, in parallel: an hour of processor time
#   launch/scripts/tidy.sh FILE.cc...          these
#   launch/scripts/tidy.sh --sample N          what the last commit changed, filled up to N with others that change
#                                              from commit to commit, so that all have their turn: a minute for six
#   launch/scripts/tidy.sh --quick [...]       the checks that need no data flow, of sources that read no LibTorch: 2 s
#                                              of processor time a file; goes with the forms above
#   --build FOLDER                             the build's folder (build/release)
#
# Status 77 where clang-tidy 14 is missing: RLGO_SETUP_TESTS=1 launch/scripts/setup.sh installs it.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

sample=
quick=
build=build/${RLGO_PRESET:-release}
while [ "$#" -gt 0 ]; do
  case $1 in
    --help | -h) script_help "${BASH_SOURCE[0]}" && exit 0 ;;
    --quick) quick=1 && shift ;;
    --sample) sample=${2:?--sample needs a number} && shift 2 ;;
    --build) build=${2:?--build needs a folder} && shift 2 ;;
    -*) die "unknown option $1 (see --help)" ;;
    *) break ;;
  esac
done
cd "$RLGO_ROOT"
if ! clang-tidy --version 2>/dev/null | grep -q 'version 14\.'; then
  say "skipped: clang-tidy 14 is not installed (RLGO_SETUP_TESTS=1 launch/scripts/setup.sh)"
  exit 77
fi
[ -f "$build/compile_commands.json" ] || die "no $build/compile_commands.json: configure first (cmake --preset release)"

readonly quick_checks=-*,bugprone-use-after-move,bugprone-infinite-loop,bugprone-sizeof-*,bugprone-string-constructor,\
bugprone-dangling-handle,bugprone-undelegated-constructor,bugprone-unused-raii,bugprone-copy-constructor-init,\
misc-definitions-in-headers,misc-unused-using-decls,misc-unused-alias-decls,modernize-use-override,modernize-use-using,\
cppcoreguidelines-virtual-class-destructor,performance-for-range-copy,\
readability-identifier-naming,readability-container-size-empty

# Modules that read neither LibTorch's nor nanobind's headers, themselves or through others (launch/modules.tsv).
light_modules() {
  awk -F'\t' '!/^#/ && NF == 3 {
    heavy = $2 == "all" || $3 ~ /torch|nanobind/
    count = split($2, others, " ")
    for (k = 1; k <= count; k++) heavy = heavy || others[k] in is_heavy
    if (heavy) is_heavy[$1] = 1; else print $1
  }' launch/modules.tsv
}

all_sources() {
  local tops=(core actors replay learner launch)
  [ -z "$quick" ] || mapfile -t tops < <(light_modules)
  find "${tops[@]}" -name '*.cc' -not -path '*/cuda/*' | sort -u
}

# The sources of the last commit and, from a place that moves on by N with each commit, the next ones.
sampled() {
  local files changed begin
  mapfile -t files < <(all_sources)
  changed=$(git diff --name-only --diff-filter=AM HEAD~1 HEAD -- '*.cc' 2>/dev/null | grep -xF "$(all_sources)" || true)
  begin=$(($(git rev-list --count HEAD 2>/dev/null || echo 0) * sample % ${#files[@]}))
  printf '%s\n' $changed "${files[@]:begin}" "${files[@]:0:begin}" | awk -v n="$sample" '!seen[$0]++ && ++k <= n'
}

if [ -n "$sample" ]; then
  mapfile -t chosen < <(sampled)
  set -- "${chosen[@]}"
  say "clang-tidy on $*"
elif [ "$#" = 0 ]; then
  mapfile -t chosen < <(all_sources)
  set -- "${chosen[@]}"
fi
for file in "$@"; do [ -f "$file" ] || die "$file: no such file"; done
# The precompiled headers are gcc's own; clang reads the headers themselves.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
sed -e 's/ -Winvalid-pch -include [^ ]*cmake_pch\.hxx//' -e 's/ -fpch-preprocess//' \
  "$build/compile_commands.json" >"$folder/compile_commands.json"
printf '%s\0' "$@" |
  xargs -0 -n 1 -P "$(build_jobs)" clang-tidy -p "$folder" --quiet --warnings-as-errors='*' \
    ${quick:+"--checks=$quick_checks"} 2>"$folder/notes" || {
  grep -v 'warnings\? generated\.$\|^Suppressed\|^Use -' "$folder/notes" >&2 || true
  die "clang-tidy found something"
}
