#!/bin/bash
# ptt-fetch.sh - what test/vm/ptt.sh runs on, from Debian's unstable release: QEMU with vfio-user, and an arm64 kernel
# with its headers, the source of its PTT driver, perf and busybox.  Kept in $XDG_CACHE_HOME/tally-vm
# (~/.cache/tally-vm), about 270 MB to download once.  Prints that directory; under it are
#
#   ptt-host    what runs on this machine (amd64), with the C library it wants
#   ptt-guest   arm64; of the kernel's source only what hisi_ptt.ko is made of, in ptt-guest/driver
set -euo pipefail
cd "$(dirname "$0")/../.."
store=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/tally-vm
mkdir -p "$store"
exec 9>"$store/lock"
flock 9                                         # two runs at once: the second finds it done
[ "$(uname -m)" = x86_64 ] || { echo "ptt-fetch.sh: only x86-64 is known to run this" >&2; exit 1; }

guest=$store/ptt-guest host=$store/ptt-host
tools/debs.sh -r 'lib.*|zlib1g|linux-(image|binary|headers|source)-[0-9].*' arm64 sid "$guest" \
  linux-image-cloud-arm64 linux-headers-cloud-arm64 linux-source linux-perf busybox-static
source=$(find "$guest/usr/src" -name 'linux-source-*.tar.xz')
if [ -n "$source" ]; then                       # 160 MB, of which two files are needed
  rm -rf "$guest/driver"
  mkdir "$guest/driver"
  tar -xJf "$source" -C "$guest/driver" --strip-components=4 --wildcards '*/drivers/hwtracing/ptt/hisi_ptt.[ch]'
  rm -rf "$source" "$guest"/usr/lib/modules/*/dtb "$guest"/usr/share/doc
fi
# The kernel's build tools run on this machine; the headers look for them beside themselves.
kernel=$(basename "$guest"/usr/src/linux-headers-*-common)
kernel=${kernel#linux-headers-} kernel=${kernel%-common}
tools/debs.sh -r 'lib.*|zlib1g' amd64 sid "$host" qemu-system-arm "linux-kbuild-$kernel"
ln -sfn "../../../ptt-host/usr/lib/linux-kbuild-$kernel" "$guest/usr/lib/linux-kbuild-$kernel"
echo "$store"
