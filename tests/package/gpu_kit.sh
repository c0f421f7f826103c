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
runs=runs name=r device=auto epochs=1 ranks=
[ "${1:-}" != --version ] || { echo "rlgo stub"; exit 0; }
while [ $# -gt 0 ]; do
  case $1 in
    --runs) runs=$2 ;; --name) name=$2 ;; --device) device=$2 ;; --epochs) epochs=$2 ;; --np) ranks=$2 ;;
  esac
  shift
done
[[ $device =~ ^(auto|cpu|cuda|cuda:[0-9]+)$ ]] || { echo "rlgo: error: --device $device"; exit 2; }
echo "$device" >>"$STUB_DEVICES"
if [ "$name" = speed ] && [ -n "${STUB_HANGS:-}" ]; then sleep 1000; fi
mkdir -p "$runs/$name"
for i in 1 2 3 4 5 6 7 8 9 10 11; do printf 'op%s\t1.%s\n' "$i" "$i"; done >"$runs/$name/costs.tsv"
if [ "$epochs" = 1000000 ]; then
  OMPI_COMM_WORLD_RANK=1 bash -c 'while :; do sleep 0.1; done' rank1 --name killed &
  printf '1\n2\n3\n' >"$runs/$name/metrics.csv"
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
for name in machine tests prices-first prices-second profile speed learners-one killed; do
  grep -q "^| $name | passed" "$out/report/report.md" || { echo "$name did not pass"; cat "$out/report/report.md"; exit 1; }
done
grep -q 'half within 1.000' "$out/report/report.md"
[ "$(sort -u "$out/devices" | tr '\n' ' ')" = 'cuda cuda:0 ' ]
# Cut off while a step hangs: what came before is in the report. And a step never outlasts the kit's time.
rm -rf "$out/report"
run STUB_HANGS=1 KIT_SECONDS=9 || status=$?
[ "$status" = 1 ]
grep -q '^| profile | passed' "$out/report/report.md"
grep -q '^| speed | over its limit' "$out/report/report.md"
grep -q '^| killed | left out' "$out/report/report.md"

# The real folder is small enough, and rlgo in it runs.
build=$(dirname "${RLGO_BINARY:?}")
[ -x "$build/test_gpu" ] || { echo "no $build/test_gpu: the folder is not packed"; exit 0; }
RLGO_BUILT=1 RLGO_PRESET=$(basename "$build") "$RLGO_SOURCE/launch/scripts/gpu-kit.sh" pack "$out/packed"
tar -xJf "$out/packed/rlgo.tar.xz" -C "$out/packed" --strip-components=1
torch=$(sed -n 's/^LibTorch_CPU_LIBRARY:FILEPATH=\(.*\)\/lib\/[^/]*$/\1/p' "$build/CMakeCache.txt")
env -i PATH=/usr/bin:/bin HOME="$out" RLGO_LIBTORCH="$torch" "$out/packed/rlgo" --version | grep -q '^rlgo 0'
