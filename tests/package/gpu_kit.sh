#!/usr/bin/env bash
# gpu-kit.sh: the packed folder runs from elsewhere with a clean environment and leaves a report; cut off, too. (No GPU: a
# stand-in for rlgo takes its place, which refuses other words for --device than rlgo does.)
set -euo pipefail
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
mkdir -p "$out/kit/libexec/rlgo"
cp "${RLGO_SOURCE:?}/launch/scripts/gpu-kit.sh" "$out/kit/"
cat >"$out/kit/rlgo" <<'STUB'
#!/usr/bin/env bash
set -euo pipefail
[ -z "${RLGO_PROGRAM:-}" ] || { echo '[       OK ] Gpu.All (1 ms)'; exit 0; }
runs=runs name=r device=auto epochs=1 out=
[ "${1:-}" != --version ] || { echo "rlgo stub"; exit 0; }
while [ $# -gt 0 ]; do
  case $1 in
    --runs) runs=$2 ;; --name) name=$2 ;; --device) device=$2 ;; --epochs) epochs=$2 ;; --out) out=$2 ;;
  esac
  shift
done
[[ $device =~ ^(auto|cpu|cuda|cuda:[0-9]+)$ ]] || { echo "rlgo: error: --device $device"; exit 2; }
echo "$device" >>"$STUB_DEVICES"
[ -z "$out" ] || { echo fitted >"$out"; exit 0; }
if [ "$name" = speed ] && [ -n "${STUB_HANGS:-}" ]; then sleep 1000; fi
mkdir -p "$runs/$name"
for i in 1 2 3 4 5 6 7 8 9 10 11; do printf 'op%s\t1.%s\n' "$i" "$i"; done >"$runs/$name/costs.tsv"
printf 'epoch,update_s,transitions,dreamed_steps\n1,0.5,10,10\n2,0.5,20,30\n3,0.5,30,50\n' >"$runs/$name/metrics.csv"
if [ "$epochs" = 1000000 ]; then
  OMPI_COMM_WORLD_RANK=1 bash -c 'while :; do sleep 0.1; done' rank1 --name killed &
  wait $! || true
  echo "rlgo: error: learner rank 1 is lost"
  exit 75
fi
STUB
chmod +x "$out/kit/rlgo"
run() { (cd "$out" && env -i PATH=/usr/bin:/bin HOME="$out" STUB_DEVICES="$out/devices" "$@" kit/gpu-kit.sh run report >said 2>&1); }
status=0
run STUB_X=1 || status=$?
[ "$status" = 0 ] || { cat "$out/said"; exit 1; }
for name in machine tests prices-{cuda,libtorch}-{first,second} prices-compared speed dreams learners-one killed profile-{cuda,libtorch}; do
  grep -q "^| $name | passed" "$out/report/report.md" || { echo "$name did not pass"; cat "$out/report/report.md"; exit 1; }
done
for line in 'half within 1.000' 'takes 1.00 of the time of LibTorch' '50 transitions/s' '80 dreamed steps/s'; do
  grep -q "$line" "$out/report/report.md" || { echo "not reported: $line"; cat "$out/report/report.md"; exit 1; }
done
[ "$(sort -u "$out/devices" | tr '\n' ' ')" = 'cuda cuda:0 ' ]
# Cut off while a step hangs: what came before is in the report. And a step never outlasts the kit's time.
rm -rf "$out/report"
run STUB_HANGS=1 KIT_SECONDS=20 || status=$?
[ "$status" = 1 ]
grep -q '^| prices-compared | passed' "$out/report/report.md"
grep -q '^| speed | over its limit' "$out/report/report.md"
grep -q '^| killed | left out' "$out/report/report.md"

# The real folder is small enough, and rlgo in it runs.
build=$(dirname "${RLGO_BINARY:?}")
[ -x "$build/test_gpu" ] || { echo "no $build/test_gpu: the folder is not packed"; exit 0; }
RLGO_BUILT=1 RLGO_PRESET=$(basename "$build") "$RLGO_SOURCE/launch/scripts/gpu-kit.sh" pack "$out/packed"
tar -xJf "$out/packed/rlgo.tar.xz" -C "$out/packed" --strip-components=1
torch=$(sed -n 's/^LibTorch_CPU_LIBRARY:FILEPATH=\(.*\)\/lib\/[^/]*$/\1/p' "$build/CMakeCache.txt")
bare() { env -i PATH=/usr/bin:/bin HOME="$out" RLGO_LIBTORCH="$torch" KIT_DEVICE=cpu "$@"; }
bare "$out/packed/rlgo" --version | grep -q '^rlgo 0'

# What the steps ask of rlgo is what rlgo takes: they run there on the CPU, on small graphs.
one() {  # one WORDS [VARIABLE=VALUE...]: a step
  local words=$1
  shift
  # shellcheck disable=SC2086  # several words
  bare KIT_GRAPH=toy_attention "$@" timeout 200 "$out/packed/gpu-kit.sh" one "$out/real" $words >"$out/said" 2>&1 || { echo "$words"; cat "$out/said"; exit 1; }
}
mkdir -p "$out/real/runs"
for words in 'prices libtorch first' 'prices libtorch second' 'learners cpu'; do one "$words"; done
grep -q 'checksum of the weights' "$out/real/runs/learners/log.txt"
# A slow machine times too few operators for a fit: that is no error of usage.
bare "$out/packed/rlgo" bench profile --target libtorch --device cpu --seconds 6 --drawn 8 --cost.profile gpu --out "$out/real/gpu.cost" >"$out/said" 2>&1 ||
  grep -q 'operators were timed in 6 s, too few' "$out/said" || { cat "$out/said"; exit 1; }

# The plug-in for cuDNN out of the packed folder, over stand-ins for the driver and CUDA's libraries.
stubs=$build/stubs
[ -e "$stubs/libcudnn.so.9" ] && [ -e "$out/packed/libexec/rlgo/plugins/rlgo_core_gpu_cuda.so" ] || { echo "no stand-ins for cuDNN: not tried"; exit 0; }
cat >"$out/cuda.c" <<'STUB'
int cuInit(unsigned f) { return 0; }
int cuDriverGetVersion(int* v) { *v = 13000; return 0; }
int cuDeviceGetCount(int* n) { *n = 1; return 0; }
int cuDeviceGet(int* d, int i) { *d = i; return 0; }
int cuDeviceGetName(char* t, int n, int d) { return __builtin_snprintf(t, n, "NVIDIA stub") < 0; }
int cuDeviceGetPCIBusId(char* t, int n, int d) { return __builtin_snprintf(t, n, "0000:0%d:00.0", d) < 0; }
STUB
mkdir "$out/driver"
cc -w -shared -fPIC -o "$out/driver/libcuda.so.1" "$out/cuda.c"
for words in 'prices cuda first' 'prices cuda second' compared; do
  one "$words" KIT_CUDNN=1 LD_LIBRARY_PATH="$out/driver:$stubs" LD_PRELOAD="$stubs/libcudart.so.13"  # LibTorch brings a cudart of its own
done
grep -q 'operators: cuDNN takes' "$out/said" || { cat "$out/said"; exit 1; }
grep -qx '# model measured:cudnn' "$out/real/costs-cuda-first.tsv" || { head -5 "$out/real/costs-cuda-first.tsv"; exit 1; }
