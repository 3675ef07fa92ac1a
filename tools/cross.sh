#!/bin/sh
# cross.sh ARCH - the libraries that tally links with, of another architecture, in build/sysroot-ARCH.
#
# From the release this machine runs, so that they fit its cross compiler's C library.
set -eu
arch=$1
suite=$(. /etc/os-release && echo "${VERSION_CODENAME:?not a Debian release}")
exec "$(dirname "$0")/debs.sh" "$arch" "$suite" "build/sysroot-$arch" \
  libbpf-dev libelf-dev libelf1 libdw-dev libdw1 liblzma5 libbz2-1.0 libiberty-dev zlib1g-dev zlib1g libpfm4-dev liblzma-dev libfuse3-dev libzstd-dev libmicrohttpd-dev libcmocka-dev libcmocka0
