#!/bin/bash
# kernel.sh [SUITE] - D against a kernel that names its variables: an x86-64 guest with the kernel of that Debian; speaks TAP.
#
# bookworm, which is meant without one, has Linux 6.1; trixie has Linux 6.12, which has CONFIG_FPROBE and other names of functions.
# CONFIG_KALLSYMS_ALL is on there, as in every distribution's kernel, and off on many a small machine; so this is where
# symbols of the kernel are read and held against what /proc and /sys say of the same things (kernel-guest.sh), and functions of
# it are probed (function-guest.sh), and where those examples of doc/d.md run that name such a kernel.  The guest is an initial RAM
# disk: busybox, the program with its libraries, and D's own libraries.  Needs `make all progs` on amd64; where it cannot run it is skipped, with the reason.
set -uo pipefail
cd "$(dirname "$0")/../.."
suite=${1:-bookworm}
title="D on a kernel that names its variables ($suite)"
limit=${GUEST_SECONDS:-300}
build=${B:-build}
. test/vm/lib.sh
[ "$(uname -m)" = x86_64 ] || skip "this machine is no x86-64"
command -v qemu-system-x86_64 >/dev/null || skip "no qemu-system-x86_64 (qemu-system-x86)"
command -v cpio >/dev/null || skip "no cpio"
[ -x "$build/tally" ] && [ -x "$build/prog/locks" ] || die "$build/tally and $build/prog/locks are not built: make all progs"
. test/vm/store.sh
debian=$store/$suite-amd64
tools/debs.sh -k linux-image-cloud-amd64 amd64 "$suite" "$debian" busybox-static >&2 || skip "Debian's packages can't be had here"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. test/vm/ram.sh
ram_begin "$(find "$debian" -path '*/bin/busybox' | head -n 1)" "sh kernel-guest.sh"
cp "$build/tally" "$build/prog/locks" test/vm/{kernel-guest,function-guest,tap}.sh "$ram/guest/"
module=$(find "$debian" -name 'loop.ko*' | head -n 1)
case $module in *.xz) xz -dc "$module" >"$ram/guest/loop.ko" ;; *) cp "$module" "$ram/guest/" ;; esac
ldd "$build/tally" | grep -oE '/[^ ]+' | while read -r so; do install -D "$so" "$ram$so"; done
for so in libelf.so.1 libz.so.1 libbpf.so.1; do # those that are opened when they are needed
  at=$(ldconfig -p | awk -v so=$so '$1 == so { print $NF; exit }')
  [ -z "$at" ] || install -D "$at" "$ram$at"
done
cp -r lib "$ram/"
cp -r lib/tally "$ram/guest/lib"
cp doc/translators.md "$ram/guest/"
mkdir -p "$ram/guest/page/lib"
awk -v dir="$ram/guest/page" -f test/lib/page-examples.awk doc/d.md >"$ram/guest/page/list"
ram_pack
ram_run "$limit" "$(find "$debian/boot" -name 'vmlinuz-*' | head -n 1)" ttyS0 qemu-system-x86_64 -accel tcg -m 768
status=$?
[ $status -ne 125 ] || die "the guest did not come to its end"
exit $status
