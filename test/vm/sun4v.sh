#!/bin/bash
# sun4v.sh - SPARC64 machine code that calls its hypervisor, on QEMU's niagara machine with tally-qemu.so; and a SPARC64 program
# whose references the same plugin hands to the model.  Speaks TAP.
#
# The machine's firmware is test/vm/sun4v-stub.S, a hypervisor with a console and nothing else; the guests are
# test/vm/sun4v-guest.c, which says what it sees, and the images that `tally machine --run` is tested with.  Time in the model goes
# on by a step with each call, so sun4v-truth, which has the same model, knows what each reading must be.  QEMU comes from
# test/vm/sun4v-fetch.sh, is unpacked in a directory of its own and installed nowhere; what is built lies in
# build/vm/sun4v, with consoles and logs.  Needs `make all build/vm/sun4v-truth`.  Where it cannot run it is skipped, with the
# reason.
set -uo pipefail
cd "$(dirname "$0")/../.."
limit=300
build=${B:-build}
work=$PWD/build/vm/sun4v
mkdir -p "$work"
title="sun4v guests of QEMU"
. test/vm/lib.sh

# ---- guests ---------------------------------------------------------------------------------------
flat=(-m64 -mcpu=niagara -mflat -O1 -Wall -Wextra -Werror -ffreestanding -fno-pic -fno-stack-protector -nostdlib -static -no-pie
  -Wl,--build-id=none -Iexamples/guest)

build_guest() { # NAME SOURCE: $work/NAME is a directory of firmware
  local dir=$work/$1 name
  mkdir -p "$dir"
  sparc64-linux-gnu-gcc "${flat[@]}" -Wl,-Ttext=0xfff0000000,-e,0,--oformat=binary -o "$dir/reset.bin" test/vm/sun4v-stub.S &&
  sparc64-linux-gnu-gcc "${flat[@]}" -Wl,-n,-Ttext=0x80000000,-e,entry -o "$dir/guest" test/vm/sun4v-entry.S "$2" &&
  sparc64-linux-gnu-objcopy -O binary "$dir/guest" "$dir/openboot.bin" || return
  for name in nvram1 1up-md.bin 1up-hv.bin q.bin; do head -c 8 /dev/zero >"$dir/$name"; done
}

qemu() { # ARGUMENT...
  hosted sun4v-host qemu-system-sparc64 -L "${firmware:-$work/talker}" -M niagara -accel tcg -m 128 -nodefaults -nic none -display none \
    -monitor none "$@"
}

# What the guest says goes to $work/NAME.said, the plugin's log to $work/NAME.log.  A guest has no way to switch its machine off.
run() { # NAME GUEST PLUGIN-ARGUMENT...: none: without the plugin
  local name=$1 plugin=() firmware=$work/$2
  shift 2
  [ $# -eq 0 ] || plugin=(-plugin "$(plugin "$@" "log=$work/$name.log")")
  rm -f "$work/$name".*
  qemu -serial "file:$work/$name.said" -pidfile "$work/$name.pid" "${plugin[@]}" >"$work/$name.qemu" 2>&1 &
  until_said '^== mach_exit\|^== trap' "$work/$name.said"
  [ ! -s "$work/$name.pid" ] || kill "$(cat "$work/$name.pid")"
  wait
}

# ---- what is found -----------------------------------------------------------------------------------
ended() { # NAME STATUS
  grep -qx "== mach_exit $2" "$work/$1.said"
  check $? "the guest comes to its end" "$(tail -n 20 "$work/$1.said" "$work/$1.qemu")"
}
answer() { sed -n "s/^call $2 = //p" "$work/$1.said" | sort | uniq -c | xargs; } # NAME CALL

# Each answer against the machine.
truth() { # NAME ARGUMENT...
  local name=$1
  shift
  verdicts < <("$build/vm/sun4v-truth" "$work/$name.log" "$work/$name.said" "$@" 2>&1 || echo "1 sun4v-truth ends well")
}

without_plugin() {
  part "without the plugin"
  run bare talker
  ended bare 0
  is "the firmware's own answer" "$(answer bare '80 103 0 aa bb')" "2 7 aa bb"
}

mmustat() {
  part "MMU statistics of a Niagara, load chase"
  local arguments=(machine=niagara load=chase strands=1 step=120000)
  run mmustat talker "${arguments[@]}"
  ended mmustat 0
  truth mmustat "${arguments[@]}"
  is "a group that nobody has" "$(answer mmustat 'ff 0 7777 1 0')" "1 6 1 0"
  is "a major that nobody has" "$(answer mmustat 'ff 0 200 2 0')" "1 d 2 0"
  is "a minor that is too high" "$(answer mmustat 'ff 0 200 1 5')" "1 0 0 5"
  is "Victoria Falls' group" "$(answer mmustat 'ff 0 205 1 7')" "1 6 1 7"
  is "the hypervisor's memory" "$(answer mmustat '80 102 100000 aa bb')" "1 2 aa bb"
  is "a device" "$(answer mmustat '80 102 1f10000000 aa bb')" "1 2 aa bb"
  is "not all of it memory" "$(answer mmustat '80 102 87fffe40 aa bb')" "1 2 aa bb"
  is "the last of memory" "$(answer mmustat '80 102 87fffe00 aa bb')" "1 0 0 bb"
  is "an address that wraps" "$(answer mmustat '80 102 ffffffffffffffc0 aa bb')" "1 2 aa bb"
}

registers() {
  part "performance registers of a Batoka, load random"
  local arguments=(machine=batoka load=random step=120000)
  run registers talker "${arguments[@]}"
  ended registers 0
  truth registers "${arguments[@]}"
  is "version 1.7 is 1.1" "$(answer registers 'ff 0 205 1 7')" "1 0 1 7"
  is "no such register" "$(answer registers '80 106 5a aa bb')" "1 6 aa bb"
  is "nor that" "$(answer registers '80 107 ffffffffffffffff aa bb')" "1 6 aa bb"
  is "a Zambezi under 1.0" "$(answer registers '80 106 12 aa bb' | sed 's/.* 1 d/1 d/')" "1 d aa bb"
  part "a Maramba"
  run maramba talker machine=maramba step=0
  ended maramba 0
  truth maramba machine=maramba step=0
  is "a Zambezi" "$(answer maramba '80 106 12 aa bb')" "4 d aa bb"
}

rights() {
  part "rights"
  run none talker machine=batoka rights=none
  ended none 0
  is "none: register 0; before and after, no such function" "$(answer none '80 106 0 aa bb')" "2 7 aa bb 4 a aa bb"
  is "none: a register that there is not" "$(answer none '80 106 5a aa bb')" "1 6 aa bb"
  run strand talker machine=batoka rights=strand
  ended strand 0
  is "strand: register 0" "$(answer strand '80 107 0 bf46 bb')" "1 0 bf46 bb"
  is "strand: HT" "$(answer strand '80 107 0 8 bb')" "1 a 8 bb"
  is "strand: a memory controller" "$(answer strand '80 106 3 aa bb')" "4 a aa bb"
}

opensparc() {
  part "as the genuine hypervisor"
  run opensparc talker machine=niagara profile=opensparc load=chase strands=1
  ended opensparc 0
  is "aligned to 8" "$(grep -c '^call 80 102 [0-9a-f]*8 aa bb = 0 ' "$work/opensparc.said")" 1
  is "an error leaves the buffer" "$(grep -A 1 '^call 80 102 100000 ' "$work/opensparc.said" | tail -n 1 |
    awk '{ print $4 == $9 ? "the same" : ($9 == "0" ? "none" : "another") }')" another
}

# The images that have their own judgement.
images() {
  part "the images of tally machine --run"
  run niagara niagara machine=niagara
  ended niagara 0
  run vfalls vfalls machine=batoka
  ended vfalls 0
  mv "$work/vfalls.log" "$work/before.vfalls"
  run vfalls vfalls machine=batoka
  cmp -s "$work/vfalls.log" "$work/before.vfalls"
  check $? "the same calls have the same answers, run by run"
}

arguments() {
  part "arguments"
  refused "machine=power: expected niagara, maramba or batoka" machine=power
  refused "sockets=3: maramba has 1 to 2" machine=maramba sockets=3
  refused "load=caze: unknown load (expected one of stream, random" load=caze
  refused "stp=4: unknown argument; did you mean 'step='?" stp=4
  refused "refs=x: unknown argument" refs=x
}

# ---- a program ------------------------------------------------------------------------------------------
program() { hosted sun4v-user qemu-sparc64 "$@"; }
counter() { sed -n "s/^$1  *//p" "$work/$2.counters"; } # NAME RUN

counted() { # RUN MACHINE... -- PROGRAM-ARGUMENT...
  local name=$1 words=()
  shift
  while [ "$1" != -- ]; do words+=("$1"); shift; done
  shift
  program -plugin "$(plugin "${words[@]}" "log=$work/$name.counters")" "$work/prog" "$@" >"$work/$name.out" 2>&1
}
between() { # WORDS VALUE LEAST MOST
  [ "${2:-0}" -ge "$3" ] && [ "${2:-0}" -le "$4" ]
  check $? "$1: $3 to $4" "got: ${2:-nothing}"
}

# The sweeps of prog: each element is loaded twice and stored once.  The difference of two runs is free of what the C library does.
difference() { echo $(($(counter "$1" long) - $(counter "$1" short))); }

references() {
  local kind a b
  part "the references of a SPARC64 program"
  sparc64-linux-gnu-gcc -std=gnu17 -Wall -Wextra -Werror -O1 -static -o "$work/prog" test/vm/sun4v-prog.c >"$work/prog.log" 2>&1
  check $? "it is compiled" "$(cat "$work/prog.log")"
  counted short machine=niagara -- 1 16384
  counted long machine=niagara -- 5 16384
  is "it runs as without the plugin" "$(cat "$work/long.out")" "$(program "$work/prog" 5 16384)"
  between "loads of 4 sweeps of 16,384" "$(difference loads)" 131072 131400
  between "stores" "$(difference stores)" 65536 65700
  between "misses of a data cache with lines of 16 bytes" "$(difference dc_miss)" 32768 33100
  is "misses of the L2, which has it all" "$(difference l2_dmiss_ld)" 0
  is "and of the DTLB" "$(difference dtlb_miss)" 0
  counted far machine=niagara -- 5 131072
  between "128 pages six times through a DTLB of 64" "$(counter dtlb_miss far)" 768 800
  counted again machine=niagara -- 5 16384
  cmp -s "$work/long.counters" "$work/again.counters"
  check $? "the same program has the same counters"
  counted batoka machine=batoka -- 1 131072
  between "a Batoka walks in hardware" "$(counter hardware_walks batoka)" "$(counter dtlb_miss batoka)" 100000
  is "each miss is served once" "$(($(counter l2_local batoka) + $(counter l2_remote batoka) + $(counter l2_cache_to_cache batoka)))" \
    "$(($(counter l2_imiss batoka) + $(counter l2_dmiss_ld batoka) + $(counter l2_miss_store batoka) + $(counter l2_miss_walk batoka)))"
  program -plugin "$(plugin "refs=$work/refs")" "$work/prog" 1 16384 >"$work/refs.out" 2>&1
  for kind in I:fetches L:loads S:stores; do
    is "text: ${kind#*:}" "$(awk -v k="${kind%:*}" '$1 == k { n++ } END { print n }' "$work/refs")" "$(counter "${kind#*:}" short)"
  done
  a=$(awk '$1 !~ /^[ILS]$/ || $2 !~ /^[0-9a-f]+,[0-9]+$/' "$work/refs" | head -n 1)
  is "lines that are none" "$a" ""
}

# ---- from here on -----------------------------------------------------------------------------------------
[ "${TALLY_NO_VM:-0}" != 1 ] || skip "TALLY_NO_VM=1"
tools/deps.sh sparc >"$work/deps.log" 2>&1 || skip "the cross compiler or its C library cannot be installed"
store=$(test/vm/sun4v-fetch.sh 2>"$work/fetch.log") || skip "not fetched: $(tail -n 1 "$work/fetch.log")"
for name in tally-qemu.so vm/sun4v-truth; do
  [ -e "$build/$name" ] || die "$build/$name is not there: make all build/vm/sun4v-truth"
done
{ build_guest talker test/vm/sun4v-guest.c && build_guest niagara examples/guest/niagara.c && build_guest vfalls examples/guest/vfalls.c; } \
  >"$work/build.log" 2>&1 || { tail -n 20 "$work/build.log"; die "the guests cannot be built"; }

echo "# $(hosted sun4v-host qemu-system-sparc64 --version | head -n 1)"
echo "# $(hosted sun4v-user qemu-sparc64 --version | head -n 1)"
without_plugin
mmustat
registers
rights
opensparc
images
arguments
references
plan
