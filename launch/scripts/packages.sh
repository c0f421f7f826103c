#!/usr/bin/env bash
# Prints the Debian packages of groups of launch/packages.txt, a line each:
#
#   launch/scripts/packages.sh GROUP...        e.g. build tests
set -euo pipefail
list=$(dirname "${BASH_SOURCE[0]}")/../packages.txt
if [ "$#" = 0 ] || [ "$1" = --help ]; then
  sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
  exit 0
fi
for group in "$@"; do
  grep -q "^$group " "$list" || { echo "packages.sh: no group $group in $list" >&2; exit 1; }
  sed -n "s/^$group //p" "$list" | tr ' ' '\n'
done
