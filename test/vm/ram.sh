# ram.sh - sourced by kernel.sh and pmu-vm.sh: an initial RAM disk that runs one shell command between two marks on the
# console, and what the console says of it.
#
# $work is a directory of the caller's: $ram is the disk's tree in it, initrd the disk, console what the guest has said.
ram=$work/ram

ram_begin() { # BUSYBOX COMMAND: the tree; the command runs in /guest
  mkdir -p "$ram"/{bin,dev,proc,sys,tmp,etc,lib,guest}
  cp "$1" "$ram/bin/busybox"
  echo 'root:x:0:0:root:/:/bin/sh' >"$ram/etc/passwd"
  printf '%s\n' "$2" >"$ram/guest/.command"
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
  mknod "$ram/dev/console" c 5 1 2>/dev/null || echo "$(basename "$0"): no device node, the console stays empty" >&2
}

ram_pack() { (cd "$ram" && find . | cpio -o -H newc -R 0:0 --quiet) | gzip -1 >"$work/initrd"; }

# An emulated timer may be late on a busy machine, which an x86 kernel takes for a broken one when it boots: no_timer_check.
# QEMU with that disk; what the command has printed.  Status: the command's; 125: the guest did not come to its end, and
# stderr gets the console.
ram_run() { # SECONDS KERNEL TTY PROGRAM ARGUMENT...
  local limit=$1 kernel=$2 tty=$3 status
  shift 3
  : >"$work/console"
  timeout -k 5 "$limit" "$@" -display none -monitor none -parallel none -nic none -no-reboot -serial "file:$work/console" \
    -kernel "$kernel" -initrd "$work/initrd" -append "console=$tty quiet loglevel=1 panic=-1 apparmor=0 audit=0$([[ $1 != *x86* ]] || echo " no_timer_check")" \
    </dev/null >"$work/qemu" 2>&1 || echo "qemu ended with status $?" >>"$work/qemu"
  sed -n '/^== guest begins/,/^== guest ends/p' "$work/console" | tr -d '\r' | grep -v '^== guest ' || :
  status=$(sed -n 's/^== guest ends with \([0-9]*\).*/\1/p' "$work/console")
  [ -z "$status" ] || return "$status"
  tail -n 40 "$work/console" "$work/qemu" >&2
  return 125
}
