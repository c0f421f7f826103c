#!/usr/bin/env bash
# in-image.sh opens the image with the host's NVIDIA driver where there is one. (A stand-in for apptainer.)
set -euo pipefail
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
printf '#!/bin/sh\necho "$*" >"$APPTAINER_SAID"\n' >"$out/apptainer"
chmod +x "$out/apptainer"
touch "$out/rlgo.sif"
cd "$out"
run() {
  env RLGO_APPTAINER="$out/apptainer" APPTAINER_SAID="$out/said" RLGO_IMAGE="$out/rlgo.sif" "$@" "${RLGO_SOURCE:?}/launch/images/in-image.sh" --graph bert --device cuda
  cat "$out/said"
}
bare="exec --bind $out --pwd $out $out/rlgo.sif rlgo --graph bert --device cuda"
[ "$(run RLGO_DRIVER_FILES="$out/no-driver")" = "$bare" ] || { echo "without a driver: $(cat "$out/said")"; exit 1; }
[ "$(run RLGO_DRIVER_FILES="$out/no-driver $out/rlgo.sif")" = "${bare/exec/exec --nv}" ] || { echo "with a driver: $(cat "$out/said")"; exit 1; }
[ "$(run RLGO_DRIVER_FILES="$out/no-driver" RLGO_BIND=/scratch)" = "${bare/--bind $out/--bind $out,/scratch}" ] || { echo "with RLGO_BIND: $(cat "$out/said")"; exit 1; }
status=0
RLGO_IMAGE="$out/none" "$RLGO_SOURCE/launch/images/in-image.sh" 2>"$out/errors" || status=$?
[ "$status" = 1 ] && grep -q 'set RLGO_IMAGE to the image' "$out/errors" || { cat "$out/errors"; exit 1; }
