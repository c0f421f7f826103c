#!/usr/bin/env bash
# The package runs where nothing of the build is: unpacked elsewhere, with a clean environment, LibTorch named by a variable.
set -euo pipefail
build=$(dirname "${RLGO_BINARY:?}")
[ -x "$build/rlgo" ] || { echo "no $build/rlgo: skipped"; exit 77; }
source_folder=${RLGO_SOURCE:?}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
  echo "$*"
  exit 1
}

RLGO_XZ_LEVEL=1 RLGO_BUILT=1 RLGO_PRESET=$(basename "$build") "$source_folder/launch/scripts/package.sh" "$work/dist"
package=$(ls "$work"/dist/rlgo-*.tar.xz)
size=$(stat -c %s "$package")
[ "$size" -lt $((60 << 20)) ] || fail "the package has $size bytes, 60 MiB are allowed"
mkdir "$work/elsewhere"
tar -xJf "$package" -C "$work/elsewhere"
tree=$(ls -d "$work"/elsewhere/rlgo-*)
torch=$(sed -n 's/^LibTorch_CPU_LIBRARY:FILEPATH=\(.*\)\/lib\/[^/]*$/\1/p' "$build/CMakeCache.txt")
clean=(env -i PATH=/usr/bin:/bin HOME="$work")

"${clean[@]}" RLGO_LIBTORCH="$torch" "$tree/rlgo" --version | grep -q '^rlgo 0\.' || fail "--version by RLGO_LIBTORCH"
"${clean[@]}" LD_LIBRARY_PATH="$torch/lib" "$tree/libexec/rlgo/rlgo" --version | grep -q '^rlgo 0\.' || fail "--version by LD_LIBRARY_PATH"
if "${clean[@]}" RLGO_LIBTORCH=/nowhere "$tree/rlgo" --version 2>"$work/error"; then fail "ran without LibTorch"; fi
grep -q 'LibTorch was not found in /nowhere; set RLGO_LIBTORCH' "$work/error" || fail "$(cat "$work/error")"

# Nothing but glibc, LibTorch and CUDA comes from outside the package.
foreign=$("${clean[@]}" LD_LIBRARY_PATH="$torch/lib" ldd "$tree/libexec/rlgo/rlgo" | awk '$2 == "=>" { print $1, $3 }' | grep -v " $tree/" |
  grep -Ev '^(libc|libm|libdl|librt|libpthread|libresolv|libutil|libtorch.*|libc10|libgomp|libcudart|libcupti|libnv.*)\.so' || true)
[ -z "$foreign" ] || fail "from outside the package: $foreign"
if readelf -d "$tree/libexec/rlgo/rlgo" | grep -E 'R(UN)?PATH' | grep -qv '\[\$ORIGIN/\.\./\.\./lib\]'; then fail "the search path names a folder of this machine"; fi

# bin/ on PATH: rlgo, also where RLGO_PROGRAM names it; rlgo-analyse; the page and the completions are the program's own.
on_path=("${clean[@]}" PATH="$tree/bin:/usr/bin:/bin" RLGO_LIBTORCH="$torch")
"${on_path[@]}" rlgo --version | grep -q '^rlgo 0\.' || fail "rlgo on PATH"
"${on_path[@]}" RLGO_PROGRAM="$tree/bin/rlgo" rlgo --version | grep -q '^rlgo 0\.' || fail "RLGO_PROGRAM"
"${on_path[@]}" RLGO_PYTHON="${RLGO_PYTHON:-python3}" rlgo-analyse --help | grep -q summary || fail "rlgo-analyse"
"${on_path[@]}" rlgo man | cmp - "$tree/share/man/man1/rlgo.1" || fail "man page"
"${on_path[@]}" rlgo completion bash | cmp - "$tree/share/bash-completion/completions/rlgo" || fail "completion of bash"
"${on_path[@]}" rlgo completion zsh | cmp - "$tree/share/zsh/site-functions/_rlgo" || fail "completion of zsh"

# A run with the package's rules, from a folder without a checkout above it.
cd "$work/elsewhere"
"${clean[@]}" RLGO_LIBTORCH="$torch" "$tree/rlgo" --graph toy_conv --agent random --cost analytic --epochs 1 --train.steps-per-epoch 20 \
  --check.repeats 3 --name r >"$work/output" 2>&1 || fail "$(cat "$work/output")"
grep -q equivalence runs/r/summary.txt || fail "no summary"
if [ -x "$tree/bin/orterun" ]; then
  "${clean[@]}" RLGO_LIBTORCH="$torch" "$tree/rlgo" --np 3 --learners 2 --graph toy_conv --cost analytic --gnn.width 8 --gnn.rounds 1 --epochs 1 \
    --train.steps-per-epoch 20 --check.repeats 3 --name l >"$work/output" 2>&1 || fail "$(cat "$work/output")"
  grep -q '2 learners' runs/l/log.txt || fail "no two learners"
fi
echo "$((size >> 10)) KiB packed"
