#!/usr/bin/env bash
# The wheel on fresh Debian 12 and 13, as launch/images/wheel.Dockerfile installs it: the commands of the recipe run on a file system
# with Debian's packages and nothing else, without a network; then an ordinary user, who sees no sources, works with it.
#
#   tests/python/wheel_debian_nightly.sh [SUITE...]      (default: bookworm trixie)
#
# RLGO_WHEEL names a wheel; without it launch/scripts/wheel.sh builds one. Needs root and debootstrap; skipped (77) without.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../../launch/scripts/common.sh"
if [ "$(id -u)" != 0 ] || ! command -v debootstrap >/dev/null; then
  echo "skipped: needs root and debootstrap"
  exit 77
fi
[ "$#" -gt 0 ] || set -- bookworm trixie
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
if [ -z "${RLGO_WHEEL:-}" ]; then
  "$RLGO_ROOT/launch/scripts/wheel.sh" "$work/dist"
  RLGO_WHEEL=$(echo "$work"/dist/rlgo-*.whl)
fi
recipe=$RLGO_ROOT/launch/images/wheel.Dockerfile
packages=$("$RLGO_ROOT/launch/scripts/packages.sh" wheel | paste -sd,)
path=$(sed -n 's/^ENV PATH=\(.*\):\$PATH$/\1/p' "$recipe")
mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | grep '/debian/*$' | head -n 1)
for suite in "$@"; do
  root=$work/$suite
  run_step "$work/log" "debootstrap $suite" debootstrap --variant=minbase --include="$packages" "$suite" "$root" "$mirror"
  version=$(chroot "$root" python3 -c 'import sys; print(*sys.version_info[:2], sep=".")')
  run_step "$work/log" "downloading for Python $version" "$RLGO_CACHE/venv/bin/python3" -m pip download --only-binary=:all: \
    --python-version "$version" --no-cache-dir -d "$root/wheels" "$RLGO_WHEEL[onnxruntime,gym]"
  install -D -m 644 "$RLGO_WHEEL" "$root/tmp/rlgo/$(basename "$RLGO_WHEEL")"
  {
    echo "set -e; export PATH=$path:/usr/bin:/bin PIP_NO_INDEX=1 PIP_FIND_LINKS=/wheels PIP_QUIET=1"
    sed -n '/apt-get/!s/^RUN //p' "$recipe"
  } >"$root/tmp/recipe.sh"
  install -D -m 644 "$here/_first_minute.py" "$root/home/user/first_minute.py"
  chown -R 1000:1000 "$root/home/user"
  unshare --mount --net --pid --fork bash -euc '
    mount -t proc proc "$1/proc"
    chroot "$1" /usr/bin/env -i HOME=/root /bin/sh /tmp/recipe.sh
    exec chroot --userspec=1000:1000 "$1" /usr/bin/env -i PATH="$2:/usr/bin:/bin" HOME=/home/user bash -euc "
      cd /home/user
      mkdir work && python first_minute.py work"' - "$root" "$path"
  echo "$suite: Python $version, $(chroot "$root" ldd --version | sed -n '1s/.* //;1p' | sed 's/^/glibc /'): works"
done
