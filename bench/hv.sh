#!/bin/bash
# hv.sh [-q] - the guests' side: what a register, a statistics update and a reference of the machine model cost inside the
# program, and the model beside cachegrind on the same program.
#
# The best of many short rounds counts, since a busy neighbour can only slow one down; each target is said to be met or not.
# Exit 1 when one is not.  -q: a shorter trace.
#
#   get, set   one register of each kind by hypercall, on a model of a Batoka
#   2 threads  the slower of two at once, each with its own strand and node, beside one thread alone
#   mmustat    an update of a guest's buffer beside the same statistics kept as plain numbers
#   socket     hypercalls through the local protocol: in batches, and one at a time beside a bare round trip
#   POWER      a full reply of processors, a simulated CEC beside the clock, and its calls through the socket
#   Unicorn    trap instructions of machine code, beside Unicorn with a hook that does nothing
#   model      references a second on a Batoka: named loads, and a real program's (a lackey trace), as an emulator hands them
#              over.  The limit is for what programs are like; in the loads that have none most references miss in level 2, and
#              then three other nodes are asked through a hub
#   former     with FORMER=DIR (bench/table.sh): the models of a former build, in turn with these
set -u
cd "$(dirname "$0")/.." || exit 1
rounds=4000 turns=3 patience=5
[ "${1:-}" = -q ] && rounds=1000 turns=1 patience=1
sun4v=build/bench/sun4v
[ -x $sun4v ] || { echo "bench/hv.sh: no $sun4v (make bench)" >&2; exit 3; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
. bench/table.sh

register_rows() { # REGISTER
  local what one both
  for what in get set; do
    read -r one both < <("${all_calm[@]}" $sun4v $what "$1")
    figure "$what $1" "$one" ns - "" "<= 25"
    figure "$what $1, 2 threads" "$both" ns "$one" "one alone" "<= 1.25 x"
  done
}
mmustat_row() {
  local update plain
  read -r update plain < <($sun4v mmustat)
  figure "mmustat update" "$update" ns "$plain" "plain increments" "<= 1.5 x"
}
load_rows() {
  local load
  for load in compute producer stream; do figure "model: load $load" "$("${calm[@]}" $sun4v load $load)" M/s - "" ">= 15"; done
  for load in pingpong chase random mixed; do figure "model: load $load" "$("${calm[@]}" $sun4v load $load)" M/s - "" -; done
}
cachegrind() { # N: references and seconds
  local TIMEFORMAT=%U s
  s=$({ time valgrind --tool=cachegrind --cache-sim=yes --cachegrind-out-file=/dev/null \
    awk -v n="$1" "$program" >/dev/null 2>"$work/cg"; } 2>&1)
  awk -v s="$s" '/I +refs:/ { gsub(",", ""); n += $NF } /D +refs:/ { gsub(",", ""); sub(/ *\(.*/, ""); n += $NF } END { print n, s }' "$work/cg"
}
# The same program at two lengths: the difference is free of what valgrind takes to start.
cachegrind_rate() {
  { cachegrind 1000; cachegrind 100000; } | awk '{ n[NR] = $1; s[NR] = $2 } END { print (n[2] - n[1]) / (s[2] - s[1]) / 1e6 }'
}
program='BEGIN { for (i = 0; i < n; i++) { k = i % 977; a[k] = a[k] i; if (length(a[k]) > 99) a[k] = "" } print length(a) }'
# In turn, so that what disturbs meets both.
trace_rows() {
  local text bare cg
  command -v valgrind >/dev/null || { echo "model: valgrind is not installed (tools/deps.sh bench)"; return; }
  valgrind --tool=lackey --trace-mem=yes --log-file="$work/trace" awk -v n=$rounds "$program" >/dev/null 2>&1
  read -r text bare cg < <(for ((i = 0; i < turns; i++)); do echo "$($sun4v trace "$work/trace") $(cachegrind_rate)"; done |
    awk '{ for (i = 1; i <= 3; i++) if ($i > best[i]) best[i] = $i } END { print best[1], best[2], best[3] }')
  figure "model: a real program" "$bare" M/s - "" ">= 15"
  figure "model: the same" "$bare" M/s "$cg" cachegrind ">= 1 x"
  figure "model: the same from text" "$text" M/s - "" -
}

socket_rows() {
  local call bare trap empty
  [ -x build/bench/hvsock ] || return 0
  figure "socket: calls in batches" "$("${all_calm[@]}" build/bench/hvsock batch)" M/s - "" ">= 1"
  read -r call bare < <("${all_calm[@]}" build/bench/hvsock trip)
  figure "socket: one call" "$call" us "$bare" "a bare round trip" "<= 1.3 x"
  read -r trap empty < <("${all_calm[@]}" build/bench/hvsock trap) || { echo "Unicorn: libunicorn is not installed (tools/deps.sh test)"; return; }
  figure "Unicorn: traps" "$trap" M/s "$empty" "an empty hook" ">= 0.8 x"
}

power_rows() {
  local gpci=build/bench/gpci call bare
  [ -x $gpci ] || return 0
  figure "POWER: 0x10 of 84 processors" "$(best 5 0 1 "${calm[@]}" $gpci reply dispatch_purr)" us - "" "<= 2"
  figure "POWER: own record of 0x20" "$(best 3 0 1 "${calm[@]}" $gpci own entitled)" us - "" -
  figure "POWER: 240 cores, 1000 partitions" "$(best 5 1 1 "${calm[@]}" $gpci run 240 1000)" times 1 "the clock" ">= 100"
  [ -x build/bench/hvsock ] || return 0
  read -r call bare < <("${all_calm[@]}" build/bench/hvsock trip power)
  figure "POWER: one call by the socket" "$call" us "$bare" "a bare round trip" "<= 1.3 x"
  figure "POWER: calls in batches" "$(best 3 1 1 "${all_calm[@]}" build/bench/hvsock batch power)" M/s "$(best 3 1 1 "${all_calm[@]}" build/bench/hvsock batch)" sun4v ">= 1"
}

former_rows() {
  local load
  for load in compute producer stream pingpong chase random mixed; do former_row "model: load $load" M/s 5 sun4v load $load; done
  former_row "POWER: 240 cores, 1000 partitions" times 8 gpci run 240 1000
}

figure_head "guests"
for r in SPARC_PCR L2_CR NODE0_MCU0_PCR NODE0_MCU0_PIC ZAM0_LPU_A_PCR ZAM0_LPU_A_PIC0; do register_rows $r; done
mmustat_row
load_rows
trace_rows
socket_rows
power_rows
former_rows
figure_end
