#!/bin/bash
# gpci.sh - the genuine Linux hv_gpci driver against the power machine inside tally-qemu.so; speaks TAP.
#
# Debian's ppc64el kernel, which has the driver inside, runs under QEMU's pseries machine with the plugin; its only
# process is test/vm/gpci-init.c, which prints the PMU's files and reads all its events.  Time in the machine goes on by
# a step with each call, so gpci-truth, which has the same machine, knows what each reading must be.  Everything comes from
# test/vm/gpci-fetch.sh, is unpacked in a directory of its own and installed nowhere; what is built lies in
# build/vm/gpci, with consoles and logs.  Needs `make all build/vm/gpci-truth`.  Where it cannot run it is skipped,
# with the reason.
set -uo pipefail
cd "$(dirname "$0")/../.."
limit=300
build=${B:-build}
work=$PWD/build/vm/gpci
mkdir -p "$work"
machine=config=test/vm/gpci-machine.conf

title="the genuine hv_gpci driver"
. test/vm/lib.sh

# ---- a guest --------------------------------------------------------------------------------------

build_initrd() {
  local ram=$work/ram
  rm -rf "$ram"
  mkdir -p "$ram/dev"
  powerpc64-linux-gnu-gcc -mlittle-endian -mabi=elfv2 -mcpu=power8 -std=gnu17 -Wall -Wextra -Werror -O1 -ffreestanding \
    -fno-stack-protector -nostdlib -static -o "$ram/init" test/vm/gpci-init.c &&
  mknod "$ram/dev/console" c 5 1 &&
  (cd "$ram" && find . | cpio -o -H newc -R 0:0 --quiet) >"$work/initrd"
}

qemu() { # ARGUMENT...
  hosted gpci-host qemu-system-ppc64 -L "$store/gpci-host/usr/share/qemu" -M pseries,x-vof=on -accel tcg -m 512 \
    -nodefaults -nic none -display none -monitor none -no-reboot "$@"
}

# Runs a guest beside one other; its lines go to $work/NAME.said, the plugin's log to $work/NAME.log.
start() { # NAME CPU WORDS-OF-THE-KERNEL PLUGIN-ARGUMENT...
  while [ "$(jobs -pr | wc -l)" -ge 2 ]; do wait -n; done
  run "$@" &
}
run() {
  local name=$1 cpu=$2 words=$3 plugin=()
  shift 3
  [ $# -eq 0 ] || plugin=(-plugin "$(plugin "$@" "log=$work/$name.log")")
  rm -f "$work/$name".*
  qemu -cpu "$cpu" -smp "${CPUS:-1}" -serial "file:$work/$name.console" -kernel "$kernel" -initrd "$work/initrd" \
    -append "console=hvc0 quiet loglevel=1 panic=-1 $words" "${plugin[@]}" >"$work/$name.qemu" 2>&1
  sed -n '/^== guest begins/,/^== guest ends/p' "$work/$name.console" | tr -d '\r' >"$work/$name.said"
}

# A big-endian program in the place of the firmware; what it prints are a code and the first word of a record.
stub() {
  rm -f "$work/stub".*
  powerpc64-linux-gnu-gcc -mbig -nostdlib -static -Wl,-Ttext=0,--oformat=binary,-e,0 -Wl,--build-id=none \
    -o "$work/stub.bin" test/vm/gpci-stub.S || return
  qemu -cpu power9 -bios "$work/stub.bin" -serial "file:$work/stub.console" -pidfile "$work/stub.pid" \
    -plugin "$(plugin "$machine" rights=all+lab "log=$work/stub.log")" >"$work/stub.qemu" 2>&1 &
  for _ in {1..100}; do
    [ "$(stat -c %s "$work/stub.console" 2>/dev/null || echo 0)" -lt 16 ] || break
    sleep 0.1
  done
  [ ! -s "$work/stub.pid" ] || kill "$(cat "$work/stub.pid")"
  wait
}

# ---- what is found -----------------------------------------------------------------------------------
file() { sed -n "s|^file $2 ||p" "$work/$1.said"; } # GUEST NAME
files() { # GUEST NAME...: NAME=TEXT ...
  local guest=$1 name
  shift
  for name; do printf '%s=%s ' "${name##*/}" "$(file "$guest" "$name")"; done | xargs
}
listed() { grep -c '^file events/' "$work/$1.said"; }
events() { sed -n "s/^event $2\( .*\)\? \([=-]\) \([0-9-]*\)$/\2\3/p" "$work/$1.said" | sort | uniq -c | xargs; } # GUEST PATTERN

ended() { # GUEST
  grep -q '^== guest ends' "$work/$1.said"
  check $? "the guest comes to its end" "$(tail -n 20 "$work/$1.console" "$work/$1.qemu")"
}

# Each reading against the machine.
truth() { # GUEST ARGUMENT...
  local guest=$1
  shift
  verdicts < <("$build/vm/gpci-truth" "$work/$guest.log" "$work/$guest.said" "$@" 2>&1 || echo "1 gpci-truth ends well")
}

# ---- the guests -----------------------------------------------------------------------------------------
stepping=("$machine" start=512000000 step=35840000)        # a second of the machine, and 70 ms with each call
standing=("$machine" start=5120000000 step=0)
plain=(start=5120000000 step=0)
words="processors=0,3,17,31 partitions=1,3,8 chips=0,3"

start_all() {                                   # raw: 0x100 is of level 8, 0x70 of 3 to 6, 0x30 of 0 to 7
  start bare power9 ""
  start level6 power9 "$words raw=256/1/0/8/8/8" "${stepping[@]}" firmware=6
  start level0 power9 "$words raw=112/0/0/8/16/8" "${stepping[@]}" firmware=0
  start level8 power9 "$words raw=48/1/0/8/8/8" "${stepping[@]}" firmware=8
  start rights power9 "processors=0,-1 partitions=-1,1,3 chips=0" "${stepping[@]}" rights=none
  start other power9 "processors=0 partitions=-1" "${stepping[@]}" partition=8
  start power10 power10 "" "${standing[@]}"
  start plain power10 "" "${plain[@]}"
  CPUS=2 start large power9 "processors=0 partitions=2 chips=7" machine=power load=large seed=7
  wait
}

without_plugin() {
  part "without the plugin"
  ended bare
  grep -q '^no PMU' "$work/bare.said"
  check $? "QEMU's own answer leaves no PMU" "$(cat "$work/bare.said")"
}

common() { # GUEST EVENTS
  ended "$1"
  is "the PMU is registered; cpumask" "$(file "$1" cpumask)" 0
  is "formats" "$(files "$1" format/{request,starting_index,secondary_index,counter_info_version,length,offset})" \
    "request=config:0-31 starting_index=config:32-63 secondary_index=config1:0-15 counter_info_version=config1:16-23 \
length=config1:24-31 offset=config1:32-63"
  is "events listed" "$(listed "$1")" "$2"
}

level() { # FIRMWARE EVENTS CAPABILITIES
  part "POWER9, firmware level $1"
  common "level$1" "$2"
  is "version and capabilities" "$(files "level$1" interface/{version,kernel_version,collect_privileged,ga,expanded,lab})" "$3"
  is "a request that this level has not: EINVAL" "$(events "level$1" raw)" "1 -22"
  truth "level$1" "${stepping[@]}" firmware="$1"
}

without_rights() {
  part "a partition without rights"
  common rights 23
  is "collect_privileged" "$(file rights interface/collect_privileged)" 0
  is "dispatch of any processor: EPERM" "$(events rights 'dispatch_.*')" "2 -1"
  is "times of the hypervisor: EPERM; TLB invalidations, which this machine does not count: EINVAL" "$(events rights 'system_.*')" "4 -1 2 -22"
  is "another partition, and the own by its number: EPERM" "$(events rights 'entitled_[a-z_]* 32 [13] .*')" "10 -1"
  truth rights "${stepping[@]}" rights=none
  part "another partition of the same machine"
  common other 23
  is "dispatch: EPERM" "$(events other 'dispatch_.*')" "1 -1"
  truth other "${stepping[@]}" partition=8
}

power10() {
  part "POWER10: topology; time stands still"
  common power10 67
  truth power10 "${standing[@]}"
}

# What the model is unless told otherwise is a machine that the driver knows whole.
without_options() {
  part "POWER10: the machine that there is without any option"
  common plain 67
  truth plain "${plain[@]}"
}

# More processors than a reply holds, vCPUs on two threads, and the host's clock.  Not a POWER10: there the driver writes
# the text of more than 50 processors past the end of a page before it says EFBIG, and the guest dies of it sooner or later.
large() {
  part "POWER9 with two vCPUs: 96 processors, by the clock"
  common large 23
  is "entitled and its like are read" "$(sed -n 's/^event entitled_.* \([=-]\) .*/\1/p' "$work/large.said" | uniq -c | xargs)" "5 ="
}

big_endian() {
  part "a big-endian program in the place of the firmware"
  stub
  is "its answer: code 0, a record with all and LAB rights" "$(od -An -tx1 "$work/stub.console" | xargs)" \
    "00 00 00 00 00 00 00 00 01 a0 00 00 00 00 00 00"
}

arguments() {
  part "arguments"
  refused "firmware=7: there are the levels 0, 3, 5, 6 and 8" firmware=7
  refused "load=mxed: unknown load (expected one of mixed," load=mxed
  refused "frmware=6: unknown argument; did you mean 'firmware='?" frmware=6
  refused "partition=7: no such partition" partition=7
}

# ---- from here on -----------------------------------------------------------------------------------------
[ "${TALLY_NO_VM:-0}" != 1 ] || skip "TALLY_NO_VM=1"
[ "$(id -u)" -eq 0 ] || skip "only root can make the guest's console"
tools/deps.sh power >"$work/deps.log" 2>&1 || skip "the cross compiler or cpio cannot be installed"
store=$(test/vm/gpci-fetch.sh 2>"$work/fetch.log") || skip "not fetched: $(tail -n 1 "$work/fetch.log")"
kernel=$(echo "$store"/gpci-guest/usr/lib/modules/*/vmlinuz)
for program in tally-qemu.so vm/gpci-truth; do
  [ -e "$build/$program" ] || die "$build/$program is not there: make all build/vm/gpci-truth"
done
build_initrd >"$work/initrd.log" 2>&1 || { tail -n 20 "$work/initrd.log"; die "the guest's RAM disk cannot be built"; }

SECONDS=0
echo "# $(hosted gpci-host qemu-system-ppc64 --version | head -n 1)"
echo "# $(basename "$(dirname "$kernel")"), its own hv_gpci"
start_all
echo "# the guests took $SECONDS s"
without_plugin
level 6 67 "version=0x6 kernel_version=0x8 collect_privileged=1 ga=1 expanded=1 lab=1"
level 0 67 "version=0x0 kernel_version=0x8 collect_privileged=1 ga=0 expanded=0 lab=0"
level 8 23 "version=0x8 kernel_version=0x8 collect_privileged=1 ga=1 expanded=1 lab=1"
without_rights
power10
without_options
large
big_endian
arguments
plan
