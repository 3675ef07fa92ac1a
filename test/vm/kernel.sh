#!/bin/bash
# kernel.sh - D against a kernel that names its variables: an x86-64 guest with Debian's kernel of Linux 6.1; speaks TAP.
#
# CONFIG_KALLSYMS_ALL is on there, as in every distribution's kernel, and off on many a small machine; so this is where
# symbols of the kernel are read and held against what /proc and /sys say of the same things (kernel-guest.sh).  The guest is an initial RAM
# disk: busybox, the program with its libraries, and D's own libraries.  Needs `make all` on amd64; where it cannot run it is skipped, with the reason.
set -uo pipefail
cd "$(dirname "$0")/../.."
title="D on a kernel that names its variables"
limit=${GUEST_SECONDS:-300}
build=${B:-build}
. test/vm/lib.sh
[ "$(uname -m)" = x86_64 ] || skip "this machine is no x86-64"
command -v qemu-system-x86_64 >/dev/null || skip "no qemu-system-x86_64 (qemu-system-x86)"
command -v cpio >/dev/null || skip "no cpio"
[ -x "$build/tally" ] || die "$build/tally is not built: make all"
. test/vm/store.sh
tools/debs.sh -k linux-image-cloud-amd64 amd64 bookworm "$store/bookworm-amd64" busybox-static >&2 || skip "Debian's packages can't be had here"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ram=$work/ram
mkdir -p "$ram"/{bin,dev,proc,sys,tmp,etc,guest,lib}
cp "$store/bookworm-amd64/bin/busybox" "$ram/bin/"
echo 'root:x:0:0:root:/:/bin/sh' >"$ram/etc/passwd"
cp "$build/tally" "$ram/guest/"
ldd "$build/tally" | grep -oE '/[^ ]+' | while read -r so; do install -D "$so" "$ram$so"; done
for so in libelf.so.1 libz.so.1 libbpf.so.1; do # those that are opened when they are needed
  at=$(ldconfig -p | awk -v so=$so '$1 == so { print $NF; exit }')
  [ -z "$at" ] || install -D "$at" "$ram$at"
done
cp -r lib "$ram/"
cp -r lib/tally "$ram/guest/lib"
cp test/vm/kernel-guest.sh "$ram/guest/"
cat >"$ram/init" <<'INIT'
#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/guest:/bin HOME=/ TMPDIR=/tmp
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t tmpfs tmp /tmp
stty -opost
cd /guest
echo "== guest begins"
sh kernel-guest.sh </dev/null 2>&1
echo "== guest ends with $?"
poweroff -f
INIT
chmod 755 "$ram/init"
mknod "$ram/dev/console" c 5 1 2>/dev/null || :
(cd "$ram" && find . | cpio -o -H newc -R 0:0 --quiet) | gzip -1 >"$work/initrd"
kernel=$(find "$store/bookworm-amd64/boot" -name 'vmlinuz-*' | head -n 1)
: >"$work/console"
timeout -k 5 "$limit" qemu-system-x86_64 -accel tcg -m 768 -display none -monitor none -parallel none -nic none -no-reboot \
  -serial "file:$work/console" -kernel "$kernel" -initrd "$work/initrd" -append "console=ttyS0 quiet loglevel=1 panic=-1 apparmor=0 audit=0" \
  </dev/null >"$work/qemu" 2>&1
sed -n '/^== guest begins/,/^== guest ends/p' "$work/console" | tr -d '\r' | grep -v '^== guest ' || :
status=$(sed -n 's/^== guest ends with \([0-9]*\).*/\1/p' "$work/console")
[ -n "$status" ] || { tail -n 40 "$work/console" "$work/qemu" >&2; die "the guest did not come to its end"; }
exit "$status"
