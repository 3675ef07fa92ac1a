#!/bin/sh
# deps.sh GROUP... - makes the Debian packages of these groups present; says nothing when they are.
#
#   build  to compile and run tally         test   to run ./check.sh
#   page   to open a report in a browser    tree   to make a minimal Debian (tools/tree.sh)
#   bench  to compare with bpftrace         vm     to run the guest with the emulated PMU
#   guest  to run SPARC64 machine code under Unicorn
#   power  to run the POWER guest with the emulator's plugin
#   sparc  to run SPARC64 guests and programs with it
#   deb    to build the source package of Debian's packages (tools/deb.sh)
#
# Installs only what dpkg-query misses, without recommended packages.  TALLY_NO_INSTALL=1: prints what is
# missing and exits 2 instead.  Exit 1: could not be installed.
set -eu

# libdw1, libpfm4, liblzma5, libfuse3, libmicrohttpd and libzstd1 are opened at run time, when they are first needed.
build='make gcc libc6-dev binutils pkg-config libbpf-dev libdw-dev libelf-dev libiberty-dev zlib1g-dev libpfm4-dev liblzma-dev libfuse3-dev libzstd-dev libmicrohttpd-dev'
test='abigail-tools clang clang-format libclang-rt-14-dev llvm libcmocka-dev bats dwz g++ musl-tools xz-utils fuse3 libunicorn-dev gcc-sparc64-linux-gnu gcc-powerpc64-linux-gnu zsh fish'
page='chromium firefox-esr'
tree='mmdebstrap debian-archive-keyring'
bench='bpftrace bpftool'
power='cpio gcc-powerpc64-linux-gnu'
guest='libunicorn2 gcc-sparc64-linux-gnu'
sparc='gcc-sparc64-linux-gnu libc6-dev-sparc64-cross'
deb='dpkg-dev debhelper'
vm='qemu-system-arm qemu-system-x86 cpio gcc-aarch64-linux-gnu libc6-dev-arm64-cross'

missing() { # PACKAGE...: those that are not installed
  for package; do
    dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed || echo "$package"
  done
}

# On a Debian whose clang is another version the run-time package has that version in its name.
clang_rt() {
  version=$(apt-cache depends clang 2>/dev/null | sed -n 's/.*Depends: clang-\([0-9][0-9]*\).*/\1/p' | head -n 1)
  echo "libclang-rt-${version:-14}-dev"
}

command -v dpkg-query >/dev/null || {
  echo "deps.sh: this is not a Debian; needed: $build" >&2
  exit 1
}
want=
for group; do
  case $group in
  build) want="$want $build" ;;
  test) want="$want $test" ;;
  deb) want="$want $deb" ;;
  tree) want="$want $tree" ;;
  page) want="$want $page" ;;
  bench) want="$want $bench" ;;
  vm) want="$want $vm" ;;
  power) want="$want $power" ;;
  guest) want="$want $guest" ;;
  sparc) want="$want $sparc" ;;
  *) echo "usage: deps.sh build|test|deb|page|tree|bench|vm|guest|power|sparc ..." >&2; exit 2 ;;
  esac
done
want=$(echo "$want" | sed "s/libclang-rt-14-dev/$(clang_rt)/")
need=$(missing $want | tr '\n' ' ')
[ -n "$need" ] || exit 0
if [ "${TALLY_NO_INSTALL:-0}" = 1 ]; then
  echo "missing packages: $need"
  exit 2
fi

sudo=
if [ "$(id -u)" -ne 0 ]; then
  sudo=$(command -v sudo) || { echo "deps.sh: as root: apt-get install $need" >&2; exit 1; }
fi
echo "installing: $need" >&2
log=$(mktemp)
trap 'rm -f "$log"' EXIT
install() { $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $need; }
# The lists may be absent or old: look for newer ones only when the first try fails.
if ! install >"$log" 2>&1; then
  { $sudo apt-get update && install; } >"$log" 2>&1 || {
    tail -n 20 "$log" >&2
    echo "deps.sh: could not install: $need" >&2
    exit 1
  }
fi
