#!/usr/bin/env bats
# Machines with hypervisors: machine code that calls them, guests behind a socket, the library inside an emulator.
bats_require_minimum_version 1.5.0
load common

GUEST=$BATS_TEST_DIRNAME/../examples/guest
ROOT=$BATS_TEST_DIRNAME/..

setup() { cd "$BATS_TEST_TMPDIR" || return 1; }
teardown() { leaves_none ${machine:-}; }

# The sparc64 and powerpc64 compilers: an image of a source in examples/guest.
needs_unicorn() { ldconfig -p 2>/dev/null | grep -q 'libunicorn\.so\.2' || skip "no libunicorn, which runs machine code"; }
sparc64() { # NAME
  command -v sparc64-linux-gnu-gcc >/dev/null || skip "no compiler for sparc64"
  sparc64-linux-gnu-gcc -m64 -mcpu=niagara -mflat -O1 -Wall -Wextra -Werror -ffreestanding -fno-pic -fno-stack-protector -nostdlib -static \
    -no-pie -Wl,-n,-Ttext=0x80000000,-e,start,--build-id=none -o "${1%.*}.img" "$GUEST/$1"
}
powerpc64() { # NAME ABI
  command -v powerpc64-linux-gnu-gcc >/dev/null || skip "no compiler for powerpc64"
  powerpc64-linux-gnu-gcc -mbig "-mabi=$2" -O2 -Wall -Wextra -Werror -ffreestanding -mno-vsx -mno-altivec -fno-pic -fno-stack-protector \
    -nostdlib -static -no-pie -Wl,-n,--no-warn-rwx-segments,-Ttext=0x1000,-e,start,--build-id=none -o "${1%.*}.img" "$GUEST/$1"
}
run_image() { run --separate-stderr timeout 60 "$TALLY" machine "$@"; }

# serve PATH MACHINE OPTION...: the model behind a socket.
serve() {
  "$TALLY" machine "${@:2}" --listen "$1" >machine.log 2>&1 3>&- &
  machine=$!
  for _ in $(seq 100); do [ -S "$1" ] && return; sleep 0.05; done
  cat machine.log
  return 1
}

# ---- machine code ------------------------------------------------------------------------------------

@test "a SPARC64 guest negotiates, and has its MMU statistics" {
  needs_unicorn
  sparc64 niagara.c
  run_image niagara --run niagara.img
  echo "$output $stderr"
  [ "$status" -eq 0 ]
  [ "$output" = "niagara: as specified" ]
}

@test "a SPARC64 guest negotiates, and has its performance registers" {
  needs_unicorn
  sparc64 vfalls.c
  run_image batoka --run vfalls.img
  echo "$output $stderr"
  [ "$status" -eq 0 ]
  [ "$output" = "vfalls: as specified" ]
}

@test "a guest's rights are the machine's rights=" {
  needs_unicorn
  sparc64 vfalls.c
  run_image batoka,rights=none --run vfalls.img
  [ "$status" -gt 0 ] && has "set: 0xa, not 0x0"
}

@test "a flat SPARC64 image prints, and ends with its status" {
  needs_unicorn
  sparc64 flat.S
  sparc64-linux-gnu-objcopy -O binary -j .text flat.img flat.bin
  run bash -c "'$TALLY' machine niagara --run flat.bin >/dev/full"
  said 1 "tally: failed to write to stdout: No space left on device"
  run_image niagara --run flat.bin
  [ "$status" -eq 7 ] && [ "$output" = flat ]
}

@test "a run of an image is the same every time" {
  needs_unicorn
  sparc64 vfalls.c
  for turn in 1 2; do
    run --separate-stderr "$TALLY" machine niagara,seed=9 --run vfalls.img
    echo "$status: $output" >"said.$turn" # its status is the guest's
  done
  [ -n "$output" ]
  cmp said.1 said.2
}

@test "a POWER partition asks for performance counters, in both ABIs" {
  needs_unicorn
  for abi in elfv2 elfv1; do
    powerpc64 power.c $abi
    run_image power,load=large --run power.img
    echo "$abi: $output $stderr"
    [ "$status" -eq 0 ]
    [ "$output" = "power: as specified" ]
  done
}

@test "an image of another machine, a damaged one and none are refused with words" {
  needs_unicorn
  powerpc64 power.c elfv2
  run_image niagara --run power.img
  [ "$status" -eq 2 ] && [[ "$stderr" == *"another machine"* ]]
  head -c 100 power.img >cut.img
  run_image power --run cut.img
  [ "$status" -eq 1 ] && [[ "$stderr" == *"outside the file"* ]]
  run_image power --run nothing-there
  [ "$status" -ne 0 ] && [[ "$stderr" == *nothing-there* ]]
}

@test "an image that traps where nobody answers ends with the place" {
  needs_unicorn
  printf '\x91\xd0\x20\x05' >trap.bin                  # ta 5
  run_image niagara --run trap.bin
  [ "$status" -eq 1 ] && [[ "$stderr" == *"exception 0x105 at 0x80000000"* ]]
}

@test "an image without end is interrupted" {
  needs_unicorn
  printf '\x10\x80\x00\x00\x01\x00\x00\x00' >loop.bin  # ba . ; nop
  run --separate-stderr timeout -s INT 1 "$TALLY" machine niagara --run loop.bin
  [ "$status" -eq 124 ]
}

@test "what does not belong together is refused" {
  expect() { run --separate-stderr "$TALLY" machine "${@:2}"; [ "$status" -eq 2 ] && [[ "$stderr" == *"$1"* ]] || { echo "${*:2}: $status $stderr"; return 1; }; }
  expect "no interface" batoka
  expect "no PTT device" batoka --sysfs d
  expect "no hypervisor" kunpeng --run x
  expect "--run cannot be combined with --listen" niagara --run x --listen y
  expect "--guests requires a sun4v machine" power --listen y --guests /dev/null
  expect "spec or opensparc" niagara --profile driver --listen y
  expect 'line 1: expected `guest' niagara --listen y --guests <(echo what)
}

@test "a file that is no image is run as flat code, and that is said when it can't go on" {
  needs_unicorn
  cp "$BATS_TEST_FILENAME" text
  run_image niagara --run text
  [ "$status" -eq 1 ]
  [[ $stderr == *"; the image is not an ELF file and was run as a flat image" ]] || { echo "$stderr"; return 1; }
}

# ---- behind a socket -------------------------------------------------------------------------------------

@test "registers are set and read through a socket, and their guests have the rights of the file" {
  printf 'others strand\n' >guests
  serve m batoka,load=compute
  "$TALLY" set --on unix:m vfalls/l2_cr=3
  run "$TALLY" get --on unix:m vfalls/l2_cr/
  echo "$output"
  [ "$status" -eq 0 ] && has 3
  kill "$machine"; wait "$machine"
  serve m batoka,load=compute --guests guests
  run "$TALLY" set --on unix:m vfalls/l2_cr=3
  [ "$status" -eq 4 ]
}

@test "named guests have their strands and rights, at the same time" {
  printf 'guest primary global,htstrand strands=0-63\nguest web strand strands=64-127\nothers none\n' >guests
  serve m batoka,load=pingpong --guests guests
  "$TALLY" stat --on unix:m,guest=primary -I 50 -x , -e vfalls/zam0_lpu_a,event=clock_cycles/ >long 2>&1 3>&- &
  long=$!
  for _ in $(seq 100); do [ -s long ] && break; sleep 0.05; done
  run --separate-stderr "$TALLY" stat --on unix:m,guest=web --duration 20 --json -e vfalls/sparc,event=Instr_cnt/
  [ "$status" -eq 0 ] && has '"status":"ok"' && [[ "$stderr" == *"192 of 256 strands belong to other guests"* ]]
  run "$TALLY" get --on unix:m,guest=web vfalls/sparc_pcr/
  [ "$status" -eq 0 ]
  run "$TALLY" get --on unix:m,guest=web vfalls/zam0_lpu_a_pcr/
  [ "$status" -eq 4 ] && has ENOACCESS
  run "$TALLY" get --on unix:m vfalls/sparc_pcr/       # one of the strands that nobody has
  [ "$status" -eq 4 ] && has ENOACCESS
  run "$TALLY" get --on unix:m,guest=primary vfalls/l2_cr/
  [ "$status" -ne 0 ] && has "is already connected"
  run "$TALLY" get --on unix:m,guest=wb vfalls/l2_cr/
  [ "$status" -eq 2 ] && has "unknown guest name"
  kill "$long"
  wait "$long"
  [ "$(grep -c ',ok,' long)" -gt 1 ]
}

@test "the first interval of a counter is all that it has counted since the start" {
  serve m batoka
  run --separate-stderr "$TALLY" stat --on unix:m --count 1 -I 20 -e vfalls/sparc,event=Instr_cnt,user/
  echo "$output$stderr"
  [ "$status" -eq 0 ]
  awk '/Instr_cnt/ { exit !($2 == $3 && $2 != "0") }' <<<"$output"
}

@test "two who count on one machine share its strands" {
  serve m niagara,load=chase
  "$TALLY" stat --on unix:m -I 50 -e mmustat/all,cpu=8/ >one 2>&1 3>&- &
  one=$!
  for _ in $(seq 100); do [ -s one ] && break; sleep 0.05; done
  run --separate-stderr "$TALLY" stat --on unix:m --duration 50 -x , -e mmustat/dmmu/
  [ "$status" -eq 0 ] && [[ "$stderr" == *"2 of 32 strands belong to other guests"* ]]
  [ "$(awk -F , '$3 == 16 { n += $9 } END { print (n > 0) }' <<<"$output")" -eq 1 ]
  run --separate-stderr "$TALLY" get --on unix:m mmustat/all,cpu=8/
  [ "$status" -ne 0 ] && [[ "$stderr" == *"another guest"* ]]
  kill "$one"
  wait "$one"
  grep -q '^ *[0-9.]* *8 .*8K' one
}

@test "a saturating load keeps nobody waiting" {
  serve m batoka,load=mixed,strands=256
  for _ in 1 2 3; do timeout 5 "$TALLY" get --on unix:m vfalls/l2_cr/; done
}

@test "partitions are asked through a socket" {
  serve m power
  run "$TALLY" get --on unix:m gpci/entitled/
  echo "$output"
  [ "$status" -eq 0 ]
}

@test "where a socket is given as a file, --on unix: is advised" {
  serve s batoka
  run "$TALLY" get --on ./s vfalls/l2_cr/
  said 2 "tally: ./s is a socket, not a file: --on unix:./s"
  "$TALLY" get --on unix:./s vfalls/l2_cr/
}

# ---- the library ---------------------------------------------------------------------------------------------

@test "an emulator of somebody else has the services inside" {
  gcc -std=c11 -Wall -Wextra -Werror -I "$ROOT/include" -o hv "$ROOT/examples/c/hv.c" "${TALLY%/*}/libtally.so.0" \
    "-Wl,-rpath,$(realpath "${TALLY%/*}")"
  run ./hv
  echo "$output"
  [ "$status" -eq 0 ] && [ "${#lines[@]}" -eq 3 ]
  [[ "${lines[2]}" =~ ^3\ ms:\ [1-9][0-9]*\ reads ]]
  first=$output
  run ./hv
  [ "$output" = "$first" ]                             # the same steps give the same counters
  run ./hv kunpeng
  [ "$status" -eq 1 ] && has "has no hypervisor"
  run ./hv power
  [ "$status" -eq 1 ] && has "those of Victoria Falls"
  run ./hv niagara
  [ "$status" -eq 1 ] && has "hv: status"
}

# ---- invariants, over a machine that runs while it is read --------------------------------------------------

@test "check breaks no invariant of a machine that goes on while its counters are read" {
  serve hub batoka,load=random
  run --separate-stderr "$TALLY" check --on unix:hub -I 350 vfalls
  [ "$status" -eq 0 ] && [ "$(grep -c holds <<<"$output")" -ge 10 ]
  kill "$machine"
  serve one niagara,load=chase
  run --separate-stderr "$TALLY" check --on unix:one -I 100 mmustat
  [ "$status" -eq 0 ] && [ "$(grep -c holds <<<"$output")" -eq 5 ]
  [[ "$stderr" == *"invariant 6, hits_and_misses_are_all, cannot be checked: nothing tells how many misses no TSB answered"* ]]
}
