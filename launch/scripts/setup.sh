#!/usr/bin/env bash
# Makes a Debian 12 machine ready to build and run rlgo. Safe to repeat: what is there already is recognised, in under
# two seconds when all is. Called by launch/run.sh and launch/test.sh; can be called alone.
#
#   1. Debian packages of launch/packages.txt (as root, or with sudo; without either it lists what is missing and stops)
#   2. cache/venv           Python environment with LibTorch: launch/requirements*.txt, of these requirements-cuda.txt
#                           where a CUDA 13 toolkit is found
#   3. cache/onnx-VERSION   ONNX's C++ library, built from its source release (Debian's is too old)
#
# 2 and 3 are made side by side. With RLGO_SETUP_LIGHT=1 only what a build without training needs (launch/run.sh asks for it):
# no LibTorch, MPI, HDF5; a later call without it adds them. With RLGO_SETUP_TESTS=1 also what checks the sources (launch/test.sh asks for it):
# clang-format, clang-tidy. With RLGO_SETUP_SLURM=1 also what the tests of clusters need (13 MB): slurm-wlm, munge,
# iproute2. With RLGO_SETUP_REFERENCES=1 also cache/references: reference implementations of the zoo's graphs, LightGBM, NNSmith,
# other optimisers, the runtimes OpenCV, tract, MNN and ncnn (740 MB), for tests/interop/zoo_references*.py, tests/fuzz/nnsmith_nightly.py
# and tests/core/measure/runtimes.py. These tests skip without. With RLGO_SETUP_TENSORFLOW=1 also
# cache/tensorflow: an environment with TensorFlow (1.7 GB), a rival of results/frameworks.py. With RLGO_SETUP_CORPUS=1 also
# cache/references and cache/corpus (0.6 GB): what tests/interop/_models.py makes the corpus of public models with. With
# RLGO_SETUP_EXAMPLES=1 these and cache/examples (60 MB): what the scripts and notebooks of examples/ need. With
# RLGO_SETUP_TESTS=1 (launch/test.sh) also cache/site: MkDocs (170 MB), which builds the documentation site.
# The cache folder is $RLGO_CACHE, else $XDG_CACHE_HOME/rlgo, else ~/.cache/rlgo. Its parts are made next to their place
# and renamed when complete, so an interrupted set-up leaves nothing half-made. RLGO_CUDA=off|auto|on as in the build.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

groups=(light)
[ -n "${RLGO_SETUP_LIGHT:-}" ] || groups+=(build)
[ -z "${RLGO_SETUP_TESTS:-}" ] || groups+=(tests)
[ -z "${RLGO_SETUP_SLURM:-}" ] || groups+=(slurm)
mapfile -t PACKAGES < <("$RLGO_ROOT/launch/scripts/packages.sh" "${groups[@]}")
ONNX_VERSION=1.21.0
ONNX_CMAKE=3.31.10  # ONNX asks for 3.26 or newer, Debian 12 has 3.25
ONNX_OPTIONS=(  # -O1: half the time to compile what is mostly tables
  -DCMAKE_BUILD_TYPE=Release "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG" -DCMAKE_POSITION_INDEPENDENT_CODE=ON
  -DBUILD_SHARED_LIBS=OFF -DONNX_ML=ON -DONNX_BUILD_PYTHON=OFF -DONNX_BUILD_TESTS=OFF -DONNX_USE_PROTOBUF_SHARED_LIBS=ON
)
VENV=$RLGO_CACHE/venv
ONNX=$RLGO_CACHE/onnx-$ONNX_VERSION
REFERENCES=$RLGO_CACHE/references
REFERENCE_LIST=$RLGO_ROOT/launch/requirements-references.txt
CORPUS=$RLGO_CACHE/corpus
CORPUS_LIST=$RLGO_ROOT/launch/requirements-corpus.txt
EXAMPLES=$RLGO_CACHE/examples
EXAMPLES_LIST=$RLGO_ROOT/launch/requirements-examples.txt
TENSORFLOW=$RLGO_CACHE/tensorflow
TENSORFLOW_LIST=$RLGO_ROOT/launch/requirements-tensorflow.txt
SITE=$RLGO_CACHE/site
SITE_LIST=$RLGO_ROOT/launch/requirements-site.txt
BASE_PYTHON=/usr/bin/python3
[ -z "${RLGO_SETUP_EXAMPLES:-}" ] || RLGO_SETUP_CORPUS=1

# --- what is there ---------------------------------------------------------------------------------------------------

missing_packages() {
  command -v dpkg-query >/dev/null || return 0
  local package
  declare -A installed=()
  while read -r package; do installed[$package]=1; done < <(
    dpkg-query -W -f='${db:Status-Abbrev} ${Package}\n' "${PACKAGES[@]}" 2>/dev/null | sed -n 's/^ii  *//p')
  for package in "${PACKAGES[@]}"; do
    [ -n "${installed[$package]:-}" ] || printf '%s ' "$package"
  done
}

cuda_toolkit() {  # prints the folder of a CUDA 13 toolkit, nothing where there is none
  local folder
  [ "${RLGO_CUDA:-auto}" != off ] || return 0
  for folder in "${CUDAToolkit_ROOT:-}" "${CUDA_HOME:-}" "${CUDA_PATH:-}" /usr/local/cuda; do
    if [ -n "$folder" ] && compgen -G "$folder/lib64/libcudart.so.13*" >/dev/null; then
      echo "$folder"
      return 0
    fi
  done
}

requirement_files() {  # requirement_files [light]
  echo "$RLGO_ROOT/launch/requirements-light.txt"
  [ -z "${1:-}" ] || return 0
  echo "$RLGO_ROOT/launch/requirements.txt"
  if [ -n "$(cuda_toolkit)" ]; then echo "$RLGO_ROOT/launch/requirements-cuda.txt"; fi
}

venv_stamp() {  # venv_stamp [light]: what the environment must have been made from
  { mapfile -t files < <(requirement_files "$@") && grep -hv '^ *\(#\|$\)' "${files[@]}"; } | sha256sum | cut -c1-64
}

onnx_stamp() { echo "$ONNX_VERSION ${ONNX_OPTIONS[*]}" | sha256sum | cut -c1-64; }

# has_stamp FOLDER STAMP
has_stamp() { [ -f "$1/.rlgo-stamp" ] && [ "$(<"$1/.rlgo-stamp")" = "$2" ]; }

venv_done() {  # the whole environment serves a light set-up, too
  [ -x "$VENV/bin/python3" ] || return 1
  has_stamp "$VENV" "$(venv_stamp)" || { [ -n "${RLGO_SETUP_LIGHT:-}" ] && has_stamp "$VENV" "$(venv_stamp light)"; }
}

onnx_done() { has_stamp "$ONNX" "$(onnx_stamp)" && [ -f "$ONNX/lib/libonnx.a" ]; }

list_stamp() { grep -hv '^ *\(#\|$\)' "$1" | sha256sum | cut -c1-64; }

references_done() { [ -z "${RLGO_SETUP_REFERENCES:-}${RLGO_SETUP_CORPUS:-}" ] || has_stamp "$REFERENCES" "$(list_stamp "$REFERENCE_LIST")"; }

corpus_done() { [ -z "${RLGO_SETUP_CORPUS:-}" ] || has_stamp "$CORPUS" "$(list_stamp "$CORPUS_LIST")"; }

examples_done() { [ -z "${RLGO_SETUP_EXAMPLES:-}" ] || has_stamp "$EXAMPLES" "$(list_stamp "$EXAMPLES_LIST")"; }

site_done() { [ -z "${RLGO_SETUP_TESTS:-}" ] || has_stamp "$SITE" "$(list_stamp "$SITE_LIST")"; }

tensorflow_done() { [ -z "${RLGO_SETUP_TENSORFLOW:-}" ] || has_stamp "$TENSORFLOW" "$(list_stamp "$TENSORFLOW_LIST")"; }

# --- what makes it ---------------------------------------------------------------------------------------------------

install_packages() {
  local missing=$1 sudo=()
  [ "$(id -u)" = 0 ] || sudo=(sudo)
  if ! command -v apt-get >/dev/null || ! { [ "$(id -u)" = 0 ] || sudo -n true 2>/dev/null || { [ -t 0 ] && command -v sudo >/dev/null; }; }; then
    die "these Debian packages are missing:
  $missing
Have them installed as root, then call this again:
  apt-get install --no-install-recommends $missing
Or take the wheel (docs/python.md), which needs none of them: pip install 'rlgo-*.whl[onnxruntime]'"
  fi
  say "installing Debian packages: $missing"
  local apt=("${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600 -o Acquire::Retries=3)
  run_step "$RLGO_CACHE/setup.log" "apt-get update" "${apt[@]}" update
  # shellcheck disable=SC2086
  run_step "$RLGO_CACHE/setup.log" "apt-get install" "${apt[@]}" install -y --no-install-recommends $missing
}

make_venv() {
  local new=$work/venv log=$RLGO_CACHE/setup-venv.log files=() arguments=() file
  mapfile -t files < <(requirement_files ${RLGO_SETUP_LIGHT:+light})
  for file in "${files[@]}"; do arguments+=(-r "$file"); done
  if [ -x "$VENV/bin/python3" ] && "$VENV/bin/python3" -m pip --version >/dev/null 2>&1; then
    say "bringing the Python environment up to date"
    cp -al "$VENV" "$new"  # hard links: only what changes is downloaded
    rm -f "$new/.rlgo-stamp"
  else
    say "making the Python environment ($([ -n "${RLGO_SETUP_LIGHT:-}" ] && echo "a download of 50 MB" || echo "LibTorch: a download of 0.5 GB"))"
    run_step "$log" "python3 -m venv" "$BASE_PYTHON" -m venv "$new"
  fi
  run_step "$log" "pip install (is PyPI reached?)" "$new/bin/python3" -m pip install \
    --no-deps --no-cache-dir --only-binary=:all: --disable-pip-version-check --no-input --retries 5 "${arguments[@]}"
  local check='import numpy, onnxruntime'
  [ -n "${RLGO_SETUP_LIGHT:-}" ] || check='import h5py, matplotlib, numpy, onnx, onnxruntime, pandas, importlib.util as u, os
torch = os.path.dirname(u.find_spec("torch").origin)
assert os.path.isfile(torch + "/lib/libtorch_cpu.so"), torch'
  run_step "$log" "checking the Python environment" "$new/bin/python3" -c "$check"
  name_interpreter "$new" "$VENV"
  venv_stamp ${RLGO_SETUP_LIGHT:+light} >"$new/.rlgo-stamp"
  replace "$new" "$VENV"
}

make_onnx() {
  local source=$work/onnx-source log=$RLGO_CACHE/setup-onnx.log launcher=()
  if [ ! -f "$ONNX/.rlgo-stamp" ] && [ -f "$ONNX/lib/cmake/ONNX/ONNXConfig.cmake" ] && [ -f "$ONNX/lib/libonnx.a" ]; then
    onnx_stamp >"$ONNX/.rlgo-stamp"  # put there by hand
    return
  fi
  say "building ONNX $ONNX_VERSION (a minute on 2 cores)"
  mkdir "$source"
  run_step "$log" "downloading ONNX (is PyPI reached?)" "$BASE_PYTHON" -m pip download \
    --no-deps --no-cache-dir --no-binary=onnx --disable-pip-version-check --no-input -d "$source" "onnx==$ONNX_VERSION"
  tar -xzf "$source/onnx-$ONNX_VERSION.tar.gz" -C "$source"
  export CCACHE_DIR=$RLGO_CACHE/ccache CCACHE_BASEDIR=$work CCACHE_NOHASHDIR=1
  launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_C_COMPILER_LAUNCHER=ccache)
  run_step "$log" "downloading CMake (is PyPI reached?)" "$BASE_PYTHON" -m pip install --no-deps --no-cache-dir \
    --only-binary=:all: --disable-pip-version-check --no-input --target "$source/tools" "cmake==$ONNX_CMAKE"
  run_step "$log" "configuring ONNX" "$source/tools/cmake/data/bin/cmake" -G Ninja -S "$source/onnx-$ONNX_VERSION" -B "$source/build" \
    "${ONNX_OPTIONS[@]}" "${launcher[@]}" -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=12 \
    -DCMAKE_PROJECT_onnx_INCLUDE="$RLGO_ROOT/launch/cmake/onnx_unity.cmake" -DCMAKE_INSTALL_PREFIX="$work/onnx" -DCMAKE_INSTALL_LIBDIR=lib
  run_step "$log" "building ONNX" ninja -C "$source/build" -j "$(build_jobs)" install
  onnx_stamp >"$work/onnx/.rlgo-stamp"
  replace "$work/onnx" "$ONNX"
}

# make_folder FOLDER LIST: packages next to those of the environment.
make_folder() {
  local name
  name=$(basename "$1")
  say "fetching the packages of $(basename "$2")"
  run_step "$RLGO_CACHE/setup.log" "pip install (is PyPI reached?)" "$VENV/bin/python3" -m pip install --no-deps \
    --no-cache-dir --only-binary=:all: --disable-pip-version-check --no-input --retries 5 --target "$work/$name" -r "$2"
  list_stamp "$2" >"$work/$name/.rlgo-stamp"
  replace "$work/$name" "$1"
}

# make_environment FOLDER LIST: a Python environment of its own.
make_environment() {
  local name log
  name=$(basename "$1")
  log=$RLGO_CACHE/setup-$name.log
  say "making the Python environment $1 from $(basename "$2")"
  run_step "$log" "python3 -m venv" "$BASE_PYTHON" -m venv "$work/$name"
  run_step "$log" "pip install (is PyPI reached?)" "$work/$name/bin/python3" -m pip install --no-deps \
    --no-cache-dir --only-binary=:all: --disable-pip-version-check --no-input --retries 5 -r "$2"
  name_interpreter "$work/$name" "$1"
  list_stamp "$2" >"$work/$name/.rlgo-stamp"
  replace "$work/$name" "$1"
}

# name_interpreter NEW OLD: the scripts in NEW/bin name their interpreter by its path, which will be OLD's.
name_interpreter() { { grep -rlI "$1" "$1/bin" || true; } | xargs -r sed -i "s|$1|$2|g"; }

# replace NEW OLD: NEW, complete, takes OLD's place.
replace() {
  if [ -e "$2" ]; then mv "$2" "$work/replaced-$(basename "$2")"; fi
  mv "$1" "$2"
}

# --- main ------------------------------------------------------------------------------------------------------------

if [ "${1:-}" = --help ]; then
  script_help "${BASH_SOURCE[0]}"
  exit 0
fi
[ "$#" = 0 ] || die "setup.sh takes no arguments (see --help)"
if [ "${RLGO_CUDA:-auto}" = on ] && [ -z "$(cuda_toolkit)" ]; then
  die "RLGO_CUDA=on, but no CUDA 13 toolkit was found; set CUDA_HOME"
fi
if [ -z "$(missing_packages)" ] && venv_done && onnx_done && references_done && corpus_done && examples_done && tensorflow_done && site_done; then
  exit 0
fi

mkdir -p "$RLGO_CACHE"
exec 9>"$RLGO_CACHE/setup.lock"
if ! flock -n 9; then
  say "waiting for another set-up to end"
  flock 9
fi
rm -rf "$RLGO_CACHE"/setup.work.*  # of a set-up that was killed
work=$(mktemp -d "$RLGO_CACHE/setup.work.XXXXXX")
jobs=()
end_jobs() {
  local job
  for job in "${jobs[@]}"; do kill -- "-$job" 2>/dev/null || true; done  # with all that they started
  rm -rf "$work"
}
trap end_jobs EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

missing=$(missing_packages)
[ -z "$missing" ] || install_packages "$missing"
# One waits for the network, the other for the processor. A job is a process group, so that it can be ended.
set -m
if ! venv_done; then
  make_venv &
  jobs+=($!)
fi
if ! onnx_done; then
  make_onnx &
  jobs+=($!)
fi
set +m
for job in "${jobs[@]}"; do wait "$job" || exit 1; done
jobs=()
references_done || make_folder "$REFERENCES" "$REFERENCE_LIST"
corpus_done || make_folder "$CORPUS" "$CORPUS_LIST"
examples_done || make_folder "$EXAMPLES" "$EXAMPLES_LIST"
tensorflow_done || make_environment "$TENSORFLOW" "$TENSORFLOW_LIST"
site_done || make_environment "$SITE" "$SITE_LIST"
say "set-up done ($RLGO_CACHE)"
