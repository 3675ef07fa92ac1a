#!/bin/busybox sh
# ptt-init.sh - process 1 of ptt.sh's guest: runs /guest/ptt-guest.sh between two marks on the serial line, writes
# what it left in /out as a tar archive to the NVMe drive, and switches the machine off.
/bin/busybox --install -s /bin
export PATH=/guest:/bin HOME=/ TMPDIR=/tmp
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t tmpfs -o size=1500m tmp /tmp
mkdir -p /tmp/out && ln -s /tmp/out /out
stty -opost
cd /guest
echo "== guest begins"
sh ptt-guest.sh </dev/null 2>&1
echo "== guest ends with $?"
dmesg >/out/dmesg
drive=$(ls /dev/nvme*n1 2>/dev/null | head -n 1)
[ -z "$drive" ] || { tar -C /out -cf "$drive" . && sync && echo "== drive written"; }
poweroff -f
