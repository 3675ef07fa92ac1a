#!/bin/bash
# pmu-vm.sh [-i SHIFT] [-c CPUS] [-t SECONDS] [-d FILE] [-f FILE]... COMMAND - runs a shell command as root in a small machine whose CPU
# has a performance monitoring unit with real overflow interrupts: QEMU's arm64, emulated, under Linux 6.1.
#
#   -i SHIFT    2^SHIFT ns of guest time for each instruction (0): with it time, and so a count of cycles, does not
#               depend on how busy this machine is.  `instructions` overflows in time only from 6 on.
#   -c CPUS     how many CPUs (1); with several time is not that of instructions, but the host's
#   -t SECONDS  limit for the whole guest (300)
#   -d FILE     an NVMe disk, /dev/nvme0n1, whose bytes are FILE
#   -f FILE     put FILE in the guest's directory /guest, where COMMAND runs; repeatable, directories too
#
# stdout is the command's, shown when the guest has ended; stderr gets the console when the guest fails to report.
# Exit: the command's status; 125: the guest died or ran out of time.
#
# The guest is an initial RAM disk: busybox, the C library of the cross compiler, the shared libraries of
# build/sysroot-arm64, and FILEs.  It answers on its one serial line, which is a file here: what the command
# prints stands between two marks, the second with the status.
set -euo pipefail
shift_ns=0 cpus=1 limit=300 files=() disk=()
while getopts i:c:t:d:f: o; do
  case $o in
  c) cpus=$OPTARG ;; i) shift_ns=$OPTARG ;; t) limit=$OPTARG ;; f) files+=("$OPTARG") ;;
  d) disk=(-drive "file=$OPTARG,format=raw,if=none,id=disk" -device nvme,drive=disk,serial=1) ;;
  *) exit 2 ;;
  esac
done
shift $((OPTIND - 1))
[ $# -eq 1 ] || { sed -n '2s/^# //p' "$0" >&2; exit 2; }
here=$(dirname "$0")
root=$here/../..
store=$("$here/fetch.sh")

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$here/ram.sh"
ram_begin "$store/bin/busybox" "$1"
ln "$ram/bin/busybox" "$ram/bin/true"           # a program with a path of its own, for what looks at mappings
cp -L /usr/aarch64-linux-gnu/lib/{ld-linux-aarch64.so.1,libc.so.6,libm.so.6,libdl.so.2,libpthread.so.0} "$ram/lib/"
find "$root/build/sysroot-arm64" \( -name 'lib*.so.[0-9]' -o -name 'lib*.so.[0-9].0' \) -exec cp -L {} "$ram/lib/" \;
[ ${#files[@]} -eq 0 ] || cp -rL "${files[@]}" "$ram/guest/"
ram_pack
time=(-icount "shift=$shift_ns,sleep=off")
[ "$cpus" -eq 1 ] || time=()
ram_run "$limit" "$(find "$store/boot" -name 'vmlinuz-*' | head -n 1)" ttyAMA0 \
  qemu-system-aarch64 -M virt -cpu cortex-a57 -smp "$cpus" -m 1024 ${time[@]+"${time[@]}"} ${disk[@]+"${disk[@]}"}
