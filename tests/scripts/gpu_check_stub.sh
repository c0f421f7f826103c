#!/usr/bin/env bash
# gpu-check.sh as on a machine with two GPUs: a stand-in for rlgo takes what the script gives it, and refuses words for
# --device that rlgo refuses. All checks must pass, by NCCL too, and the report must have them.
set -euo pipefail
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
mkdir -p "$out/package/bin" "$out/package/libexec/rlgo" "$out/tools"
cp "${RLGO_SOURCE:?}/launch/scripts/gpu-check.sh" "$out/package/"
touch "$out/package/bin/rlgo"
chmod +x "$out/package/bin/rlgo"
printf '#!/bin/sh\necho "GPU 0: H100"\necho "GPU 1: H100"\n' >"$out/tools/nvidia-smi"
cat >"$out/package/rlgo" <<'STUB'
#!/usr/bin/env bash
set -euo pipefail
if [ -n "${RLGO_PROGRAM:-}" ]; then echo '[       OK ] Gpu.All (1 ms)'; exit 0; fi
rank=${OMPI_COMM_WORLD_RANK:-0} runs=runs name=r device=auto resume= epochs=1
[ "${1:-}" != --version ] || { echo "rlgo stub"; exit 0; }
while [ $# -gt 0 ]; do
  case $1 in
    --runs) runs=$2 ;; --name) name=$2 ;; --device) device=$2 ;; --resume) resume=$2 ;; --epochs) epochs=$2 ;;
  esac
  shift
done
if ! [[ $device =~ ^(auto|cpu|cuda|cuda:[0-9]+)$ ]]; then echo "rlgo: error: --device $device" >&2; exit 2; fi
echo "$device" >>"$GPU_STUB_DEVICES"
if [ -n "$resume" ]; then touch "$resume/summary.txt"; exit 0; fi
if [ "$rank" != 0 ]; then
  if [ "$epochs" = 1000000 ] && [ "$rank" = 1 ]; then echo $$ >"$runs/victim"; exec sleep 100; fi
  exit 0
fi
folder=$runs/$name
mkdir -p "$folder"
{ echo 'epoch,update_s,epoch_steps,transitions,host_memory_mb,device_memory_mb'; for i in 1 2 3 4; do echo "$i,0.$i,60,60,1,2"; done; } >"$folder/metrics.csv"
for i in 1 2 3 4 5 6 7 8 9 10 11; do printf 'op%s\t1.%s\n' "$i" "$i"; done >"$folder/costs.tsv"
way=ring
[ "$device" != cuda ] || way=NCCL
printf 'gradients are summed by %s\nlearner 0: checksum of the weights ab\nlearner 1: checksum of the weights ab\n' "$way" >"$folder/log.txt"
if [ "$epochs" = 1000000 ]; then
  until [ -f "$runs/victim" ]; do sleep 0.1; done
  while kill -0 "$(cat "$runs/victim")" 2>/dev/null; do sleep 0.1; done
  echo "rlgo: error: NCCL on device 0: not all learners came to sum within 10 s"
  exit 75
fi
STUB
chmod +x "$out/package/rlgo" "$out/tools/nvidia-smi"
export GPU_STUB_DEVICES=$out/devices
status=0
timeout 100 env PATH="$out/tools:$PATH" "$out/package/gpu-check.sh" "$out/report" >"$out/said" 2>&1 || status=$?
cat "$out/said"
[ "$status" = 0 ] || { echo "status $status"; exit 1; }
for check in prices learners-one-device learners-nccl learner-killed; do
  grep -q "^$check,passed," "$out/report/checks.csv" || { echo "$check did not pass"; exit 1; }
done
sort -u "$out/devices" | tr '\n' ' ' | grep -qx 'cpu cuda cuda:0 ' || { echo "devices: $(sort -u "$out/devices")"; exit 1; }
