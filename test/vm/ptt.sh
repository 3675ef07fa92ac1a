#!/bin/bash
# ptt.sh [-k] - the genuine Linux hisi_ptt driver against `tally machine kunpeng --vfio-user`; speaks TAP.
#
# In a QEMU arm64 guest with Debian's kernel, the driver built from Debian's linux-source package and the genuine perf
# do what test/vm/ptt-guest.sh says; what perf recorded there is then read by `tally report` here and held against
# what the device counted.  Everything comes from test/vm/ptt-fetch.sh, is unpacked in directories of its own and
# installed nowhere; what is built lies in build/vm/ptt, with the transcript.  -k keeps the guest's files there too.
# Needs `make all cross-tally`.  Where it cannot run it is skipped, with the reason.
set -uo pipefail
cd "$(dirname "$0")/../.."
keep=
while getopts k o; do case $o in k) keep=1 ;; *) exit 2 ;; esac; done
limit=600
work=$PWD/build/vm/ptt
mkdir -p "$work"
cross=aarch64-linux-gnu-
machine_pid=

skip() { printf '1..1\nok 1 - the genuine hisi_ptt driver # SKIP %s\n' "$*"; exit 0; }
die() { printf 'not ok - %s\n' "$*"; exit 1; }

finish() {
  [ -z "$machine_pid" ] || kill "$machine_pid" 2>/dev/null
  [ -n "$keep" ] || rm -rf "$work/ram" "$work/initrd" "$work/drive" "$work/out" "$work/socket"
}
trap finish EXIT
trap 'exit 130' INT TERM

# ---- what the guest is made of ------------------------------------------------------------------------

# hisi_ptt.ko by the cross compiler of this release; the kernel's build tool modpost wants a newer C library. What is
# called modpost in Debian's package only chooses one by the byte order and the word size.
build_module() {
  local host=$store/ptt-host headers
  headers=$(echo "$store"/ptt-guest/usr/src/linux-headers-*-cloud-arm64)
  mkdir -p "$work/module"
  cp -u "$store"/ptt-guest/driver/hisi_ptt.[ch] "$work/module/"
  echo 'obj-m := hisi_ptt.o' >"$work/module/Makefile"
  printf '#!/bin/sh\nexec %s --library-path %s %s "$@"\n' "$loader" "$libraries" \
    "$(echo "$host"/usr/lib/linux-kbuild-*/scripts/mod/modpost.real-lsb-64)" >"$work/modpost"
  chmod 755 "$work/modpost"
  timeout $limit make -s -C "${headers%-cloud-arm64}-common" O="$headers" M="$work/module" ARCH=arm64 \
    CROSS_COMPILE=$cross CC=${cross}gcc MODPOST="$work/modpost" CONFIG_DEBUG_INFO_BTF_MODULES= \
    CONFIG_CC_HAS_MIN_FUNCTION_ALIGNMENT= KCFLAGS='-Wno-attributes -g0' modules
}

# PROGRAM's shared libraries, and theirs, from the guest's own packages.
libraries_of() { # PROGRAM
  local queue=("$1") name path
  declare -A seen
  while [ ${#queue[@]} -gt 0 ]; do
    while read -r name; do
      [ -z "${seen[$name]:-}" ] || continue
      seen[$name]=1
      path=$store/ptt-guest/usr/lib/aarch64-linux-gnu/$name
      [ -e "$path" ] || continue
      echo "$path"
      queue+=("$path")
    done < <(${cross}readelf -d "${queue[0]}" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
    queue=("${queue[@]:1}")
  done
}

build_initrd() {
  local ram=$work/ram perf=$store/ptt-guest/usr/bin/perf
  rm -rf "$ram"
  mkdir -p "$ram"/{bin,dev,proc,sys,tmp,etc,lib,guest}
  cp "$store/ptt-guest/usr/bin/busybox" "$ram/bin/"
  cp test/vm/ptt-init.sh "$ram/init"
  cp test/vm/ptt-guest.sh test/vm/tap.sh "$work/module/hisi_ptt.ko" "$perf" build/arm64/tally "$ram/guest/"
  libraries_of "$perf" | xargs -I{} cp -L {} "$ram/lib/"
  ${cross}gcc -std=gnu17 -D_GNU_SOURCE -Wall -Wextra -Werror -O2 -static -o "$ram/guest/ptt-open" test/vm/ptt-open.c &&
  chmod 755 "$ram/init" &&
  mknod "$ram/dev/console" c 5 1 &&
  (cd "$ram" && find . | cpio -o -H newc -R 0:0 --quiet) >"$work/initrd"
}

# ---- the two machines ---------------------------------------------------------------------------------

start_machine() {
  rm -f "$work/socket"
  build/tally machine "kunpeng,load=${PTT_LOAD:-mixed}" --vfio-user "$work/socket" >"$work/machine.log" 2>&1 &
  machine_pid=$!
  for _ in {1..50}; do
    [ -S "$work/socket" ] && return 0
    kill -0 $machine_pid 2>/dev/null || return 1
    sleep 0.1
  done
  return 1
}

# Root ports 10.0 with a drive, for what leaves the guest, and 11.0 with what is removed and found again.
run_guest() {
  local device=(-device "{\"driver\":\"vfio-user-pci\",\"socket\":{\"type\":\"unix\",\"path\":\"$work/socket\"},\"bus\":\"pcie.0\",\"addr\":\"1e.0\"}")
  rm -f "$work/drive"                           # of a run before
  truncate -s 512M "$work/drive"
  : >"$work/console"
  timeout -k 5 $limit "$loader" --library-path "$libraries" "$store/ptt-host/usr/bin/qemu-system-aarch64" \
    -machine virt,gic-version=3,its=on,memory-backend=ram -cpu cortex-a76 -accel tcg,thread=multi -smp 2 -m 2G \
    -object memory-backend-memfd,id=ram,size=2G,share=on -nodefaults -nic none -display none -monitor none -no-reboot \
    -device pcie-root-port,id=port0,bus=pcie.0,addr=0x10,chassis=1 \
    -device pcie-root-port,id=port1,bus=pcie.0,addr=0x11,chassis=2 \
    -drive "if=none,id=drive,format=raw,file=$work/drive" -device nvme,drive=drive,serial=tally,bus=port0 \
    -object rng-builtin,id=chance -device virtio-rng-pci,rng=chance,bus=port1,romfile= \
    "${device[@]}" -serial "file:$work/console" \
    -kernel "$(echo "$store"/ptt-guest/usr/lib/modules/*/vmlinuz)" -initrd "$work/initrd" \
    -append "console=ttyAMA0 quiet loglevel=1 panic=-1 audit=0 apparmor=0 PTT_SECONDS=${PTT_SECONDS:-9}" \
    </dev/null >"$work/qemu.log" 2>&1
}

# ---- what is found --------------------------------------------------------------------------------------
. test/vm/tap.sh

# What the guest has checked, with its numbers.
guest_said() {
  local said
  said=$(sed -n '/^== guest begins/,/^== guest ends/p' "$work/console" | grep -v '^== guest ')
  printf '%s\n' "$said"
  n=$(grep -c '^\(not \)\?ok ' <<<"$said")
  bad=$(grep -c '^not ok ' <<<"$said")
  grep -q '^== guest ends' "$work/console" && grep -q '^== drive written' "$work/console"
  check $? "the guest comes to its end" "$(tail -n 30 "$work/console" "$work/qemu.log")"
}

field() { sed -n "s/.*\"$1\":\"\{0,1\}\([^,\"}]*\).*/\1/p" <<<"$2"; } # NAME JSON...

# A trace as `tally report` reads it, against what the device has counted while it wrote it.
recorded() { # NAME
  local said records
  said=$(timeout $limit build/tally report --json "$work/out/$1.data" 2>&1)
  records=$(field records "$(grep '"type":"summary"' <<<"$said")")
  [ -n "$records" ] && grep -q " $records recorded, 0 lost" "$work/machine.log"
  check $? "$1.data: $records records, as many as the device has recorded" "$(head -n 2 <<<"$said")
$(cat "$work/machine.log")"
  requesters=$(field requester "$(grep '"type":"requester"' <<<"$said")" | sort | xargs)
  types=$(field name "$(grep '"type":"tlp_type"' <<<"$said")" | sort | xargs)
}
# The kunpeng machine's places: a drive with two functions below 10.0, a switch with a NIC and a drive below 11.0.
traces_hold() {
  rm -rf "$work/out"
  mkdir -p "$work/out"
  tar -xf "$work/drive" -C "$work/out" || { check 1 "the guest's files are on the drive"; return; }
  local name
  for name in ring wide drive outbound short again tally named; do
    recorded $name
    case $name in
    ring) is "ring.data has requests of that root port and what is below it" "$requesters" "00:10.0 01:00.0 01:00.1" ;;
    wide) is "wide.data has requests of what is below the other root port" "$requesters" "04:00.0 05:00.0" ;;
    drive) is "drive.data has requests of that function, and to it" "$requesters" "00:10.0 01:00.0" ;;
    outbound) is "outbound.data has posted requests of the root port" "$requesters $types" "00:10.0 MWr64" ;;
    named) is "named.data has inbound requests of that function" "$requesters" "01:00.0" ;;
    esac
  done
  cmp -s <(build/tally dump --perf "$work/out/short.data" 2>&1 | head -n 9000) "$work/out/short.text"
  check $? "tally dump --perf prints what perf report -D printed there" "$(head -n 5 "$work/out/short.text")"
  build/tally report --json "$work/out/slow.data" 2>&1 | grep '"type":"file_losses"' | grep -q '"truncated_aux":[1-9]'
  check $? "slow.data says that some is lost" "$(build/tally report --json "$work/out/slow.data" | grep loss)"
}

# ---- from here on -------------------------------------------------------------------------------------
[ "${TALLY_NO_VM:-0}" != 1 ] || skip "TALLY_NO_VM=1"
[ "$(id -u)" -eq 0 ] || skip "only root can make the guest's console"
tools/deps.sh vm >"$work/deps.log" 2>&1 || skip "the cross compiler or cpio cannot be installed"
store=$(test/vm/ptt-fetch.sh 2>"$work/fetch.log") || skip "not fetched: $(tail -n 1 "$work/fetch.log")"
loader=$store/ptt-host/usr/lib64/ld-linux-x86-64.so.2 libraries=$store/ptt-host/usr/lib/x86_64-linux-gnu
for program in build/tally build/arm64/tally; do
  [ -x $program ] || die "$program is not there: make all cross-tally"
done

build_module >"$work/module.log" 2>&1 || { tail -n 20 "$work/module.log"; die "hisi_ptt.ko cannot be built"; }
build_initrd >"$work/initrd.log" 2>&1 || { tail -n 20 "$work/initrd.log"; die "the guest's RAM disk cannot be built"; }
start_machine || { cat "$work/machine.log"; die "tally machine kunpeng --vfio-user does not start"; }
echo "# $("$loader" --library-path "$libraries" "$store/ptt-host/usr/bin/qemu-system-aarch64" --version | head -n 1)"
SECONDS=0
run_guest
echo "# the guest took $SECONDS s"
guest_said
kill "$machine_pid" && wait "$machine_pid"
check $? "tally machine ends when it is told to" "$(cat "$work/machine.log")"
machine_pid=
sed 's/^/# /' "$work/machine.log"
traces_hold
echo "1..$n"
[ $bad -eq 0 ]
