#!/bin/sh
# rlgo out of an Apptainer image, as the program of the launch scripts:
#
#   RLGO_IMAGE=$PWD/rlgo.sif RLGO_PROGRAM=$PWD/launch/images/in-image.sh sbatch launch/scripts/slurm-train.sh --graph bert
#
# With GPUs the image needs CUDA's libraries (apptainer build --build-arg cuda=yes); the driver is the host's.
#
# Ranks are started by the host's Open MPI 4.1, each in the image (Apptainer's hybrid model). The folder of the job and
# RLGO_BIND (as apptainer's --bind) are seen inside.
if [ ! -r "${RLGO_IMAGE:-}" ]; then
  echo "in-image.sh: set RLGO_IMAGE to the image that apptainer build made of launch/images/rlgo.def" >&2
  exit 1
fi
# The host's NVIDIA driver, where it has one of these files.
gpu=
for file in ${RLGO_DRIVER_FILES:-/proc/driver/nvidia/version /dev/nvidiactl}; do
  if [ -e "$file" ]; then gpu=--nv; fi
done
# shellcheck disable=SC2086  # perhaps no word
exec "${RLGO_APPTAINER:-apptainer}" exec $gpu --bind "$PWD${RLGO_BIND:+,$RLGO_BIND}" --pwd "$PWD" "$RLGO_IMAGE" rlgo "$@"
