#!/bin/bash
# pmu-vm.sh [-i SHIFT] [-c CPUS] [-t SECONDS] [-f FILE]... COMMAND - runs a shell command as root in a small machine whose CPU
# has a performance monitoring unit with real overflow interrupts: QEMU's arm64, emulated, under Linux 6.1.
#
#   -i SHIFT    2^SHIFT ns of guest time for each instruction (0): with it time, and so a count of cycles, does not
#               depend on how busy this machine is.  `instructions` overflows in time only from 6 on.
#   -c CPUS     how many CPUs (1); with several time is not that of instructions, but the host's
#   -t SECONDS  limit for the whole guest (300)
#   -f FILE     put FILE in the guest's directory /guest, where COMMAND runs; repeatable, directories too
#
# stdout is the command's, shown when the guest has ended; stderr gets the console when the guest fails to report.
# Exit: the command's status; 125: the guest died or ran out of time.
#
# The guest is an initial RAM disk: busybox, the C library of the cross compiler, the shared libraries of
# build/sysroot-arm64, and FILEs.  It answers on its one serial line, which is a file here: what the command
# prints stands between two marks, the second with the status.
set -euo pipefail
shift_ns=0 cpus=1 limit=300 files=()
while getopts i:c:t:f: o; do
  case $o in c) cpus=$OPTARG ;; i) shift_ns=$OPTARG ;; t) limit=$OPTARG ;; f) files+=("$OPTARG") ;; *) exit 2 ;; esac
done
shift $((OPTIND - 1))
[ $# -eq 1 ] || { sed -n '2s/^# //p' "$0" >&2; exit 2; }
here=$(dirname "$0")
root=$here/../..
store=$("$here/fetch.sh")

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ram=$work/ram
mkdir -p "$ram"/{bin,dev,proc,sys,tmp,etc,lib,guest}
cp "$store/bin/busybox" "$ram/bin/"
ln "$ram/bin/busybox" "$ram/bin/true"           # a program with a path of its own, for what looks at mappings
echo 'root:x:0:0:root:/:/bin/sh' >"$ram/etc/passwd"
cp -L /usr/aarch64-linux-gnu/lib/{ld-linux-aarch64.so.1,libc.so.6,libm.so.6,libdl.so.2,libpthread.so.0} "$ram/lib/"
find "$root/build/sysroot-arm64" -name 'lib*.so.[0-9]' -exec cp -L {} "$ram/lib/" \;
[ ${#files[@]} -eq 0 ] || cp -rL "${files[@]}" "$ram/guest/"
printf '%s\n' "$1" >"$ram/guest/.command"
cat >"$ram/init" <<'INIT'
#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/guest:/bin HOME=/ TMPDIR=/tmp
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t tmpfs tmp /tmp
mount -t bpf bpf /sys/fs/bpf
stty -opost
# Nothing may slow the sampling down but what is tested.
echo 1000000 >/proc/sys/kernel/perf_event_max_sample_rate
echo 0 >/proc/sys/kernel/perf_cpu_time_max_percent
echo 1 >/proc/sys/net/core/bpf_jit_enable
cd /guest
echo "== guest begins"
sh .command </dev/null 2>&1
echo "== guest ends with $?"
poweroff -f
INIT
chmod 755 "$ram/init"
mknod "$ram/dev/console" c 5 1 2>/dev/null || echo "pmu-vm.sh: no device node, the console stays empty" >&2
(cd "$ram" && find . | cpio -o -H newc -R 0:0 --quiet) | gzip -1 >"$work/initrd"

: >"$work/console"
kernel=$(find "$store/boot" -name 'vmlinuz-*' | head -n 1)
time=(-icount "shift=$shift_ns,sleep=off")
[ "$cpus" -eq 1 ] || time=()
timeout -k 5 "$limit" qemu-system-aarch64 -M virt -cpu cortex-a57 -smp "$cpus" -m 768 ${time[@]+"${time[@]}"} \
  -display none -monitor none -parallel none -nic none -no-reboot -serial "file:$work/console" \
  -kernel "$kernel" -initrd "$work/initrd" -append "console=ttyAMA0 quiet loglevel=1 panic=-1 apparmor=0 audit=0" \
  </dev/null >"$work/qemu" 2>&1 || echo "qemu ended with status $?" >>"$work/qemu"
sed -n '/^== guest begins/,/^== guest ends/p' "$work/console" | grep -v '^== guest ' || :
status=$(sed -n 's/^== guest ends with \([0-9]*\).*/\1/p' "$work/console")
[ -z "$status" ] || exit "$status"
tail -n 40 "$work/console" "$work/qemu" >&2
exit 125
