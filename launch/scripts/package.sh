#!/usr/bin/env bash
# Builds rlgo and packs it for another x86-64 Linux machine, one that has the NVIDIA driver (or none) and LibTorch 2.11:
#
#   launch/scripts/package.sh [OUT_FOLDER]      (default: dist; writes OUT_FOLDER/rlgo-VERSION-linux-x86_64.tar.xz)
#
# In the package: rlgo (a script) and libexec/rlgo/rlgo, its plug-in, Open MPI's launcher, the shared libraries that they need in lib/ (found by
# $ORIGIN), rules, configurations, documentation, the GPU tests and gpu-check.sh. Not in it: glibc, LibTorch, CUDA.
# RLGO_PRESET chooses the build; RLGO_BUILT=1 takes it as it stands; RLGO_XZ_LEVEL (6) how hard xz tries.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

if [ "${1:-}" = --help ]; then
  script_help "${BASH_SOURCE[0]}"
  exit 0
fi
calling_folder=$PWD
out=$(realpath -m "${1:-dist}")
preset=${RLGO_PRESET:-release}
build=$RLGO_ROOT/build/$preset
if [ -z "${RLGO_BUILT:-}" ]; then
  "$RLGO_ROOT/launch/scripts/setup.sh"
  build_rlgo "$preset" rlgo test_gpu
fi
[ -x "$build/rlgo" ] || die "$build/rlgo is not built"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
version=$(sed -n 's/^CMAKE_PROJECT_VERSION:STATIC=//p' "$build/CMakeCache.txt")
name=rlgo-$version-linux-x86_64
tree=$work/$name
run_step "$work/install.log" "cmake --install" cmake --install "$build" --prefix "$tree"

# What every Linux has, and what comes with LibTorch and CUDA.
outside='^(linux-vdso|ld-linux-.*|libc|libm|libdl|librt|libpthread|libresolv|libutil|libanl|libtorch.*|libc10.*|libgomp|libcu(da|dart|pti|blas|fft|rand|solver|sparse|file|dnn).*|libnv.*|libnccl)\.so'

# needs FILE: names and paths of the shared libraries that it needs, all levels down, of those that the package brings.
needs() {
  LD_LIBRARY_PATH=$torch_libs ldd "$1" 2>/dev/null | awk '$2 == "=>" { print $1, $3 }' | grep -Ev "$outside" || true
}
torch_libs=$(sed -n 's/^LibTorch_CPU_LIBRARY:FILEPATH=\(.*\)\/[^/]*$/\1/p' "$build/CMakeCache.txt")

add_needs() {  # copies what FILE needs into lib/
  local soname path
  while read -r soname path; do
    [ "$path" != not ] || die "$1 needs $soname, which is not on this machine"
    [ -e "$tree/lib/$soname" ] || cp -L "$path" "$tree/lib/$soname"
  done < <(needs "$1")
}

mkdir -p "$tree/lib"
for file in libexec/rlgo/rlgo libexec/rlgo/test_gpu; do
  if [ -e "$tree/$file" ]; then add_needs "$build/$(basename "$file")"; fi
done

# Open MPI: launcher, daemon, components, its help texts. OPAL_PREFIX (rlgo.sh) names its place; components
# that need libraries of special networks stay behind.
mpi=/usr/lib/x86_64-linux-gnu/openmpi/lib
pmix=/usr/lib/x86_64-linux-gnu/pmix2/lib
if [ -d "$mpi/openmpi3" ]; then
  components=$tree/lib/x86_64-linux-gnu/openmpi/lib/openmpi3
  mkdir -p "$components" "$tree/share"
  cp -L /usr/bin/orterun /usr/bin/orted "$tree/bin/"
  add_needs /usr/bin/orterun
  for component in "$mpi"/openmpi3/*.so; do
    if needs "$component" | grep -Eq '^lib(ucp|ucs|uct|ucm|fabric|psm|psm2|ibverbs|rdmacm|slurm|pmi|pmi2)\.'; then continue; fi
    add_needs "$component"
    cp -L "$component" "$components/"
  done
  mkdir -p "$tree/lib/x86_64-linux-gnu/pmix2/lib"
  if [ -d "$pmix/pmix" ]; then
    cp -rL "$pmix/pmix" "$tree/lib/x86_64-linux-gnu/pmix2/lib/"
    for component in "$pmix"/pmix/*.so; do add_needs "$component"; done
    if [ -d /usr/lib/x86_64-linux-gnu/pmix2/share ]; then cp -rL /usr/lib/x86_64-linux-gnu/pmix2/share "$tree/lib/x86_64-linux-gnu/pmix2/"; fi
  fi
  cp -rL /usr/share/openmpi "$tree/share/"
fi

# A library with a search path of its own would not use the program's.
find "$tree/lib" -name '*.so*' -type f >"$work/libraries"
while read -r file; do echo "file(RPATH_REMOVE FILE \"$file\")"; done <"$work/libraries" >"$work/rpath.cmake"
run_step "$work/rpath.log" "removing search paths" cmake -P "$work/rpath.cmake"

strip --strip-unneeded "$tree"/lib/*.so* "$tree"/libexec/rlgo/plugins/*.so "$tree"/libexec/rlgo/* 2>/dev/null || true
mkdir -p "$out"
tar -C "$work" --owner=0 --group=0 --sort=name -cf - "$name" | xz -T0 "-${RLGO_XZ_LEVEL:-6}" >"$work/package.tar.xz"
mv "$work/package.tar.xz" "$out/$name.tar.xz"
cd "$calling_folder"
say "$out/$name.tar.xz: $(($(stat -c %s "$out/$name.tar.xz") / 1024)) KiB packed, $(du -sk "$tree" | cut -f1) KiB unpacked"
