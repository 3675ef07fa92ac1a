#!/usr/bin/env bats
# list, get, set and check over the interfaces of hypervisors: the models, and what was saved of one.  Needs no privileges.
bats_require_minimum_version 1.5.0
load common

setup() { cd "$BATS_TEST_TMPDIR" || return 1; }

# expect STATUS TEXT VERB ARGUMENTS...: how it ends, and what the first line on stderr begins with.
expect() {
  run --separate-stderr "$TALLY" "${@:3}"
  [ "$status" -eq "$1" ] && [[ "${stderr_lines[0]}" == "tally: $2"* ]] || {
    echo "${*:3}: status $status, not $1: $stderr"
    return 1
  }
}

# ---- list ------------------------------------------------------------------------------------------

@test "list names the kinds of hypervisor counters" {
  run "$TALLY" list
  [ "$status" -eq 0 ]
  for kind in vfalls mmustat gpci; do grep -q "^$kind " <<<"$output"; done
}

@test "list vfalls has the registers of the table, with addresses and groups" {
  run "$TALLY" list --on batoka vfalls 'zam0_lpu_a_*'
  said 0 "NO  REGISTER         OF      GROUP         LOCAL        GLOBAL  ACCESS  HOLDS
18  zam0_lpu_a_pcr   chip 0  LPU0   0x8130001000  0xe130004000  yes     2 lpu events
19  zam0_lpu_a_pic0  chip 0  LPU0   0x8130001008  0xe130004008  yes     count, 64 bits
20  zam0_lpu_a_pic1  chip 0  LPU0   0x8130001010  0xe130004010  yes     count, 64 bits"
  [ "$("$TALLY" list --on batoka -x , vfalls | grep -c ^register,)" -eq 90 ]
}

@test "list vfalls has bits and reasons with -v, list mmustat the rows of a side or of a page size" {
  "$TALLY" list --on batoka -v vfalls 'zam0_lpu_a_pcr' | diff - <(cat <<'ROWS'
NO  REGISTER        OF      GROUP         LOCAL        GLOBAL    BITS  ACCESS  HOLDS         WHY NOT
18  zam0_lpu_a_pcr  chip 0  LPU0   0x8130001000  0xe130004000  0xffff  yes     2 lpu events  -
ROWS
  )
  rows() { "$TALLY" list --on niagara -x , mmustat "$1" | grep -cE '^[a-z ]*,?(immu|dmmu),'; }
  [ "$(rows immu)" -eq 8 ]
  [ "$(rows 8K)" -eq 4 ]
  [ "$(rows '*')" -eq 16 ]
}

@test "list vfalls says what this machine, its version and these rights do not give" {
  access() { "$TALLY" list --on "$1" -x , vfalls "$2" | grep ^register | cut -d , -f 9; }
  [ "$(access batoka zam3_asu_pcr)" = yes ]
  [ "$(access batoka,api=1.0 zam3_asu_pcr)" = "not here" ]
  [ "$(access maramba zam0_asu_pcr)" = "not here" ]
  [ "$(access maramba,sockets=1 node1_mcu0_pcr)" = "not here" ]
  [ "$(access batoka,rights=strand node0_mcu0_pcr)" = "no right" ]
  [ "$(access batoka,rights=strand sparc_pcr)" = yes ]
  "$TALLY" list --on batoka --json vfalls | grep -q '"name":"Br_taken".*"modelled":false'
  "$TALLY" list --on batoka --json vfalls | grep -q '"name":"mem_reads","code":0.*"modelled":true'
}

@test "list gpci has each request with what firmware and rights allow, and its fields" {
  here() { "$TALLY" list --on "$1" -x , gpci "$2" | grep ^request | cut -d , -f 10; }
  [ "$(here power dispatch_purr)" = yes ]
  [ "$(here power instructions)" = "not here" ]
  [ "$(here power,firmware=8 instructions)" = yes ]
  [ "$(here power,firmware=8 links_abc)" = "not here" ]
  [ "$(here power,rights=none dispatch_purr)" = "no right" ]
  [ "$(here power,rights=none entitled)" = "own only" ]
  [ "$(here power,rights=all mmcrh)" = "no right" ]
  [ "$("$TALLY" list --on power -x , gpci links_abc | grep ^request | cut -d , -f 6)" = 0-7 ]     # both layouts
  COLUMNS=80 run "$TALLY" list --on power gpci entitled
  said 0 "NUMBER  REQUEST   BY         BYTES  LEVELS  RIGHT              HERE
  0x20  entitled  partition     48  0-      own: anybody; all  yes

REQUEST   FIELD        AT  BYTES  KIND     UNIT         WHAT
entitled  partition   0x0      8  id                    partition id
entitled  entitled    0x8      8  counter  PURR cycles  what it was entitled to
entitled  capped     0x10      8  counter  PURR cycles  what it consumed inside
                                                        its entitlement; of a
                                                        dedicated partition all
entitled  uncapped   0x18      8  counter  PURR cycles  what it consumed beyond,
                                                        from the shared pool
entitled  donated    0x20      8  counter  PURR cycles  what a dedicated
                                                        partition gave to
                                                        uncapped ones
entitled  idle       0x28      8  counter  PURR cycles  of what it consumed,
                                                        what its operating
                                                        system calls idle"
}

@test "each line of --json is an object" {
  needs_python
  for what in "list --on batoka --json vfalls" "list --on niagara --json mmustat" "list --on power --json gpci" \
    "get --on power --json gpci/dispatch_purr/ gpci/affinity_by_partition/" "check --on power --json gpci"; do
    "$TALLY" $what | python3 -c 'import json, sys
for line in sys.stdin:
    pairs = json.loads(line, object_pairs_hook=list)
    assert len(pairs) == len(set(k for k, v in pairs)), line' || { echo "$what"; return 1; }
  done
}

# ---- get and set -------------------------------------------------------------------------------------

@test "get reads registers by name, number, pattern and strand, decoded" {
  run "$TALLY" get --on batoka,load=compute --duration 1 vfalls/zam0_lpu_a_pcr/ vfalls/18 vfalls/node1_mcu0_pcr/ vfalls/l2_cr,cpu=64/
  said 0 "vfalls/zam0_lpu_a_pcr=0x0  event0=none event1=none
vfalls/zam0_lpu_a_pcr=0x0  event0=none event1=none
vfalls/node1_mcu0_pcr=0x0  event0=mem_reads event1=mem_reads
vfalls/l2_cr,cpu=64/=0x0  misses=all"
  [ "$("$TALLY" get --on batoka,load=compute --duration 1 'vfalls/zam?_gpd_pcr/' | wc -l)" -eq 4 ]
  run "$TALLY" get --on batoka,load=compute --duration 1 --raw vfalls/18/
  said 0 0000000000000000
}

# Rows of the tables of the specification's page: number, short name, sizes.
spec_rows() {
  sed -n 's/^| \(0x[0-9A-Fa-f]*\)[^|]*| `\([a-z_]*\)` | \([^|]*\) |.*/\1 \2 \3/p' "$BATS_TEST_DIRNAME/../doc/spec-gpci.md" |
    grep -v ' all '                     # a row of the table of rights
}

@test "the specification's page has every request, with the sizes of its records" {
  [ "$(spec_rows | wc -l)" -eq 23 ]
  "$TALLY" list --on power -x , gpci | grep ^request, | while IFS=, read -r _ number name _ bytes _; do
    spec_rows | awk -v number="$number" -v name="$name" -v bytes="$bytes" '
      function value(s,   i, v) { s = tolower(s); for (i = 3; i <= length(s); i++) v = v * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1; return v }
      $2 == name && value($1) == number + 0 { for (i = 3; i <= NF; i++) if ($i + 0 == bytes || ($i == "none" && bytes == 8)) found = 1 }
      END { exit !found }' || { echo "$number $name: not with $bytes bytes"; return 1; }
  done
}

@test "get prints every record decoded" {
  run "$TALLY" get --on power gpci/entitled,partition=2/
  said 0 "entitled partition=2
  partition                                   2
  entitled                           1536000000 PURR cycles
  capped                             1414748160 PURR cycles
  uncapped                            937502720 PURR cycles
  donated                                     0 PURR cycles
  idle                                352837632 PURR cycles"
  run "$TALLY" get --on power --json gpci/entitled,partition=2/
  said 0 '{"type":"gpci","request":"entitled","partition":2,"entitled":1536000000,"capped":1414748160,"uncapped":937502720,"donated":0,"idle":352837632}'
  run "$TALLY" get --on power -x ';' gpci/links_abc,chip=0/
  [ "${lines[0]}" = "type;request;hw_chip_id;total;idle_a;idle_b;idle_c" ]
  [[ "${lines[1]}" =~ ^gpci\;links_abc\;0\;2048000000\;[0-9]+\;\;$ ]]      # B and C are not wired
}

@test "one reply holds all processors of the default machine, and not those of load large" {
  [ "$("$TALLY" get --on power -x , gpci/dispatch_purr/ | wc -l)" -eq 49 ]
  [ "$("$TALLY" get --on power,load=large -x , gpci/dispatch_purr/ | wc -l)" -eq 97 ]
  "$TALLY" get --on power --raw gpci/dispatch_purr/ | head -n 1 | grep -q '^000000100000000000000030'
  "$TALLY" get --on power,load=large --raw gpci/dispatch_purr/ | head -n 1 | grep -q '^0000001000000000000000540000001b'
}

@test "Linux's names mean the same" {
  linux=hv_gpci/dispatch_timebase_by_processor_processor_time_in_timebase_cycles,phys_processor_idx=0/
  [ "$("$TALLY" get --on power -x , "$linux")" = "$("$TALLY" get --on power -x , gpci/dispatch_purr,processor=0,field=processor_time/)" ]
}

@test "the same seed gives the same records, another one others" {
  for run in 'seed=5 a' 'seed=5 b' 'seed=6 c'; do
    "$TALLY" get --on "power,${run% *}" gpci/dispatch_purr/ gpci/entitled/ gpci/links_wxyz/ >"${run#* }"
  done
  cmp a b
  ! cmp -s a c || return 1
}

@test "what a longer run counts is more" {
  hits() { "$TALLY" get --on niagara --load chase --duration "$1" -x , mmustat/dmmu,cpu=0/ | awk -F , '{ n += $6 } END { print n }'; }
  [ "$(hits 4)" -gt "$(hits 2)" ]
}

@test "set takes registers and MMCRH, and says that a model ends" {
  run --separate-stderr "$TALLY" set --on batoka vfalls/l2_cr=7 vfalls/zam0_lpu_a_pcr,cpu=3/=0x0101
  [ "$status" -eq 0 ]
  [ "${stderr_lines[0]}" = "tally: vfalls/l2_cr/ is now 0x3: the other bits are reserved" ]
  [[ "$stderr" == *"settings are lost when it exits"* ]]
  run --separate-stderr "$TALLY" set --on power gpci/mmcrh=-1
  [ "$status" -eq 0 ]
  [[ "$stderr" == *"MMCRH becomes 0xffffffffffffffff at the next collection"* ]]
}

# ---- files -----------------------------------------------------------------------------------------

@test "a saved reply is a platform, as digits and as bytes" {
  "$TALLY" get --on power --raw gpci/entitled/ -o reply
  "$TALLY" get --on power gpci/entitled/ >live
  "$TALLY" get --on ./reply gpci/entitled/ | cmp - live
  sed 's/../\\x&/g' reply | while read -r line; do printf "$line"; done >bytes
  "$TALLY" get --on ./bytes gpci/entitled/ | cmp - live
  "$TALLY" get --on ./bytes --raw gpci/entitled/ | cmp - reply
  expect 3 "dispatch_purr: not on this firmware" get --on ./reply gpci/dispatch_purr/
  expect 2 "./reply is a saved reading and does not change: 'tally get' shows it" stat --on ./reply -e gpci/entitled/ --count 1
  "$TALLY" check --on ./reply gpci >/dev/null 2>&1
}

@test "a dump of MMU statistics is a platform" {
  "$TALLY" get --on niagara --load chase --duration 2 --raw mmustat/all,cpu=0/ >dump
  [ "$(tr -d '\n' <dump | wc -c)" -eq 1024 ]
  "$TALLY" get --on niagara --load chase --duration 2 -x , mmustat/all,cpu=0/ | cut -d , -f 3- >live
  "$TALLY" get --on ./dump -x , mmustat/all/ | cut -d , -f 3- | cmp - live
  expect 3 "./dump has no gpci" get --on ./dump gpci/entitled/
}

@test "a file that is neither is refused" {
  echo hello >other
  expect 1 "./other is neither a reply of H_GetPerformanceCounterInfo nor a dump of MMU statistics" get --on ./other gpci/entitled/
  expect 1 "" get --on ./missing gpci/entitled/
  [[ "$stderr" == *missing* ]]
  "$TALLY" get --on power --raw gpci/entitled/ | head -n 3 >cut
  expect 1 "./cut is neither" get --on ./cut gpci/entitled/
}

# ---- machine files ---------------------------------------------------------------------------------

@test "power takes a machine file" {
  printf 'nodes 1\nchips 1\ncores 2\npartition 1 name=a type=shared vps=1 entitlement=50 uncapped rights=all home=0 memory=8 demand=500\n' >m
  [ "$("$TALLY" get --on power,config=m -x , gpci/dispatch_purr/ | wc -l)" -eq 3 ]
  expect 4 "" get --on power,config=m gpci/processor_config/
  echo 'nodes 1 2' >bad
  expect 2 "line 1" get --on power,config=bad gpci/dispatch_purr/
  expect 1 "" get --on power,config=missing gpci/dispatch_purr/
}

# ---- check -----------------------------------------------------------------------------------------

@test "check holds every invariant against the model" {
  run "$TALLY" check --on power gpci
  [ "$status" -eq 0 ]
  [ "$(grep -c '^ *[0-9]*  holds ' <<<"$output")" -eq 15 ]
  for load in contended donating links idle; do "$TALLY" check --on power --load $load gpci >/dev/null; done
}

@test "check says what it can't tell, and why" {
  run --separate-stderr "$TALLY" check --on power,rights=none gpci
  [ "$status" -eq 0 ]
  [[ "$stderr" == *"invariant 1, processors_ran_what_was_consumed, cannot be checked: "* ]]
}

@test "check finds a broken invariant, with status 1" {
  # More idle than consumed: the reply's last counter is made large.
  "$TALLY" get --on power --raw gpci/entitled,partition=6/ | tr -d '\n' | sed 's/................$/00ffffffffffffff/' >reply
  expect 1 "invariant" check --on ./reply gpci
  [[ "$stderr" == *"is broken"* ]]
  [[ "$output" == *BROKEN* ]]
}

@test "check on two readings of one window held 14 invariants: it says that nothing was checked" {
  run --separate-stderr "$TALLY" check --on power -I 1 gpci
  [ "$status" -eq 3 ]
  [[ "$stderr" == *"nothing was checked: no counter changed between the two readings"* ]]
  [[ "$output" != *holds* ]]
}

@test "a partition of two without rights was shown with one virtual processor" {
  "$TALLY" stat --view partitions --on power,rights=none --duration 1000 --count 2 --json 2>why >row
  grep -q '"partition":1,"kind":null,"vps":null,' row
  # What is not known has its reason, once: the kind, and the number of processors.
  [ "$(grep -c 'without dispatch_purr: not permitted' why)" -eq 1 ]
  [ "$(grep -c 'permitted to read only its own record of entitled, run_instructions, affinity_by_vp, queuing_times$' why)" -eq 1 ]
  "$TALLY" stat --view partitions --on power,rights=all --duration 1000 --count 1 2>&1 >/dev/null | grep -q 'only its own record of affinity_by_vp, queuing_times$'
  "$TALLY" stat --view partitions --on power --duration 1000 --count 1 --json | grep -q '"partition":1,"kind":"shared","vps":2,'
}

@test "the row of all partitions has sums of cores and processors, and ratios of sums" {
  "$TALLY" stat --view partitions --on power --duration 1000 --count 1 >text
  "$TALLY" stat --view partitions --on power --duration 1000 --count 1 --json >json
  awk -F'[:,]' '{ for (i = 1; i < NF; i++) v[$i] = $(i + 1); physc = v["\"physc\""]; p += physc; idle += physc * v["\"idle\""]; n += v["\"vps\""] }
    END { printf "%d %.1f\n", n, 100 * idle / p }' json >want
  awk '$1 == "all" { print $2, $(NF - 2) }' text | cmp - want
}

@test "the chip at the other end of the hottest link was named by its number in the node, which another chip of the machine has" {
  "$TALLY" stat --view links --on power,load=links --duration 1000 --count 1 --json >rows
  grep -q '"chip":12,"node":3,.*"hottest":"Y chip 15"' rows
  # Both are chips of one node, and both ends of a cable carry the same.
  awk -F'[:,"}]+' '{ for (i = 1; i < NF; i++) v[$i] = $(i + 1); node[v["chip"]] = v["node"]; all[v["chip"]] = $0
      if (split(v["hottest"], h, " ") == 3 && h[2] == "chip") { far[v["chip"]] = h[3]; used[v["chip"]] = v[tolower(h[1])] } }
    END { for (c in far) if (node[far[c]] != node[c] || !index(all[far[c]], used[c]) || far[c] == c) exit 1; exit !(length(far) > 3) }' rows
}

# field NAME < JSON ROWS: the numbers, one a line.
field() { grep -o "\"$1\":[0-9]*" | cut -d: -f2; }

@test "each TSB hit took the same 7 ticks: it takes what the walk took" {
  "$TALLY" get --on niagara,load=chase --duration 5 --json mmustat/all,cpu=0/ | grep -v '"hits":0' >rows
  awk -v h="$(field hits <rows)" -v t="$(field ticks <rows)" 'BEGIN { exit !(h > 1000 && t >= 25 * h) }'
  # What the genuine hypervisor was seen to count is a profile of its own, which may stand behind the name.
  "$TALLY" get --profile opensparc --on niagara,load=chase --duration 5 --json mmustat/all,cpu=0/ | grep -v '"hits":0' >rows
  awk -v h="$(field hits <rows)" -v t="$(field ticks <rows)" 'BEGIN { exit !(h > 1000 && t == 7 * h) }'
  "$TALLY" get --on niagara,load=chase,profile=opensparc --duration 5 --json mmustat/all,cpu=0/ | grep -v '"hits":0' | cmp - rows
}

@test "a quarter of what a memory controller moved were writes, whatever ran" {
  "$TALLY" get --on power --duration 1000 --json gpci/links_mc/ >rows
  paste <(field mc0_frames <rows) <(field mc0_writes <rows) | awk '$1 > 1000000 { share[int(100 * $2 / $1)] = 1 } END { exit !(length(share) >= 3) }'
}

@test "a wait for a processor was longer than the dispatcher's window" {
  "$TALLY" get --on power,load=contended --duration 1000 --json gpci/queuing_times/ >rows
  paste <(field wait_processor_time <rows) <(field wait_processor_count <rows) |
    awk '$2 { n++; if ($1 / $2 > 5120000) bad = 1 } END { exit !(n >= 3) || bad }' # 10 ms of 512 MHz
}

@test "the hypervisor took no time when all cores were full" {
  "$TALLY" get --on power,load=contended --duration 1000 --json gpci/hypervisor_times/ >rows
  [ "$(field dispatching <rows)" -gt 0 ]
  [ "$(field timers <rows)" -gt 0 ]
}

@test "requests about what the model has not were zeros with success" {
  for request in links_gx 0x70 tlbie 0xf4; do
    run "$TALLY" get --on power gpci/$request
    [ "$status" -eq 3 ]
    [[ "$output" == *H_Not_Available* ]]
    run "$TALLY" stat --on power --duration 100 --count 1 -e gpci/$request/
    [ "$status" -eq 3 ]
    [[ "$output" == *H_Not_Available* ]]
  done
  "$TALLY" get --on power gpci/hypervisor_times | grep -q 'dispatching'
}

@test "MMCRH was decimal and processor states were numbers" {
  "$TALLY" get --on power gpci/hpmc,index=0/ | grep -q ' mmcrh  *0x3c1200$'
  "$TALLY" get --on power gpci/dispatch_purr >states
  for state in shared dedicated guarded unlicensed 'not installed'; do grep -q " state  *$state\$" states; done
  "$TALLY" get --on power -x , gpci/dispatch_purr,index=0/ | grep -q ',4,0,0,'     # machines read numbers
}

@test "queue latencies of Victoria Falls were events: they are cycles" {
  "$TALLY" stat --on batoka,load=chase --duration 1 --count 1 -e vfalls/node0_mcu0,event=rd_queue_latency/ >latency 2>&1 || { cat latency; false; }
  grep -q ' cycles .*rd_queue_latency' latency
}

@test "the share of all strands was the sum of their percents" {
  "$TALLY" stat --on niagara,load=chase --duration 1 --count 1 -e mmustat/all/ >mmu
  # each of 32 strands has 1,200,000 ticks in a millisecond
  awk '$2 == "all" { gsub(",", ""); want = sprintf("%.1f", $8 / (32 * 1200000) * 100); found = $9 == want; print $0, want }
    END { exit !found }' mmu
}

@test "check holds every invariant of vfalls and mmustat against the models" {
  run "$TALLY" check --on batoka,load=mixed vfalls
  [ "$status" -eq 0 ]
  [[ "$output" != *BROKEN* ]]
  [ "$(grep -c holds <<<"$output")" -ge 15 ]
  for on in maramba,load=random batoka,sockets=2,load=producer batoka,rights=strand; do "$TALLY" check --on $on vfalls >/dev/null; done
  "$TALLY" check --on niagara,load=chase --json mmustat >rows
  [ "$(grep -c '"verdict":"holds"' rows)" -eq 6 ]
  "$TALLY" check --profile opensparc --on niagara,load=mixed mmustat >/dev/null
}

@test "check of strands that miss no TLB held that reserved words stay: it says that nothing was checked" {
  run --separate-stderr "$TALLY" check --on niagara,load=compute -I 1 mmustat
  [ "$status" -eq 3 ]
  [[ "$stderr" == *"nothing was checked: the counts between the readings concern no invariant"*"a load that misses the TLBs, as load=chase does"* ]]
}

@test "a check of which all invariants are unknown ended with the status of one that holds: it says that nothing was checked" {
  "$TALLY" get --on power --raw gpci/system_hypervisor_times/ >reply
  run --separate-stderr "$TALLY" check --on ./reply gpci
  [ "$status" -eq 3 ]
  [[ "$stderr" == *"invariant 15, "*" cannot be checked: "*"nothing was checked: no invariant could be"* ]]
}

@test "a check that had nothing to check ended with the status of a broken invariant" {
  # An invariant between zeros, two readings of one window: 3, as tune with nothing to compare.
  local on
  for on in "niagara,load=compute mmustat" "power -I 1 gpci"; do
    run --separate-stderr "$TALLY" check --on $on
    [ "$status" -eq 3 ]
    [[ "$stderr" == *"nothing was checked: "* ]]
  done
  # An invariant that is broken: 1.
  "$TALLY" get --on power --raw gpci/entitled,partition=6/ | tr -d '\n' | sed 's/................$/00ffffffffffffff/' >reply
  run --separate-stderr "$TALLY" check --on ./reply gpci
  [ "$status" -eq 1 ]
  [[ "$stderr" == *"is broken"* && "$output" == *BROKEN* ]]
}

@test "check of a saved buffer finds hits without ticks, and says what one reading can't tell" {
  "$TALLY" get --on niagara,load=chase --duration 5 --raw mmustat/all,cpu=0/ | tr -d ' \n' >whole
  [ "$(wc -c <whole)" -eq 1024 ]
  run --separate-stderr "$TALLY" check --on ./whole mmustat
  [ "$status" -eq 0 ]
  [[ "$stderr" == *"there is one reading"* ]]
  # The ticks of the slot at 0x180 are made 0.
  { head -c $((2 * 0x188)) whole; printf 0000000000000000; tail -c +$((2 * 0x190 + 1)) whole; } >doctored
  run --separate-stderr "$TALLY" check --on ./doctored mmustat
  [ "$status" -eq 1 ] && [[ "$stderr" == *"invariant 3, hits_take_ticks, is broken"* ]]
  { head -c $((2 * 0x1a0)) whole; printf 0000000000000001; tail -c +$((2 * 0x1a8 + 1)) whole; } >reserved
  run --separate-stderr "$TALLY" check --on ./reserved mmustat
  [ "$status" -eq 1 ] && [[ "$stderr" == *"invariant 2, reserved_words_stay, is broken"* ]]
  expect 3 "./whole holds MMU statistics, not vfalls registers" check --on ./whole vfalls
}

@test "an event that the model does not model is said by get, set, stat and trace alike" {
  for asked in "get --on batoka vfalls/zam0_lpu_a_pic0/" "set --on batoka vfalls/zam0_lpu_a_pcr=0x0226" \
    "stat --on batoka -I 1 --count 1 -e vfalls/zam0_lpu_a,event=cycles_CRC_errors/" \
    "trace --on batoka -n vfalls:::cycles_CRC_errors-1ms{exit(0);}"; do
    run --separate-stderr "$TALLY" $asked
    [ "$status" -eq 0 ]
    # Nothing is selected before: reading that counter is about a modelled event.
    if [[ $asked == get* ]]; then [[ "$stderr" != *"is not modelled"* ]]; else [[ "$stderr" == *"is not modelled"* ]]; fi
  done
}

@test "a probe of a request or event without its interval was said to be unknown, and near to itself" {
  local on probe
  while read -r on probe; do
    run --separate-stderr "$TALLY" trace --on "$on" -n "$probe"
    [ "$status" -eq 1 ]
    [[ "$stderr" == *": no probe \"${probe##*:}\"; there is ${probe##*:}-INTERVAL, e.g. ${probe##*:}-1s"* ]]
  done <<<'power gpci:::dispatch_purr
batoka vfalls:::mem_reads
batoka vfalls:::sample
niagara mmustat:::sample'
}

@test "a request whose records have no counter was counted, with nothing and status 0" {
  for request in capabilities bus_topology affinity_by_partition; do
    expect 2 "gpci/$request/: a record of $request has no counter; 'tally get --on power gpci/$request/' shows it" stat --on power --count 1 -e gpci/$request/
    "$TALLY" get --on power gpci/$request/ | grep -q "^$request"
  done
}

@test "what cannot be counted was offered as an event to count" {
  # All that is offered has a row, but for what the model has not; of 700 events of Victoria Falls every fifth is tried.
  local on selector ms
  for on in power batoka niagara,load=chase; do
    "$TALLY" list --on $on --names countable >offered
    [ -s offered ]
    ms=1 && [ $on != power ] || ms=100
    awk -v n="$(wc -l <offered)" 'n < 100 || NR % 5 == 1' offered | while read -r selector; do
      "$TALLY" stat --on $on --duration ${ms} --count 1 --json -e "$selector" >rows 2>why || grep -q H_Not_Available why || { echo "$selector: $(cat why)"; exit 1; }
      grep -q '"type":' rows || grep -q H_Not_Available why || { echo "$selector: no row"; exit 1; }
    done
  done
  run ! grep -q capabilities <("$TALLY" list --on power --names countable)
}

@test "who may not read what takes a capability was told to tick the box that was ticked" {
  expect 4 "mmcrh: not permitted to this partition (H_Authority); it requires the capability LAB (0x20 of gpci/capabilities)" set --on power,rights=all gpci/mmcrh=1
  expect 4 'processor_config: not permitted to this partition (H_Authority); it requires "Enable Performance Information Collection" in the partition'"'s profile, and the capability EXPANDED (0x40 " get --on power,rights=all gpci/processor_config
  expect 4 "dispatch_purr: not permitted to this partition (H_Authority); enable it in the partition's profile: " get --on power,rights=none gpci/dispatch_purr
  for right in all=0x80 expanded=0xc0 lab=0xa0; do
    "$TALLY" get --on power,rights="${right%=*}" gpci/capabilities | grep -q "capability_mask .* ${right#*=}\$"
  done
}

@test "power answers whoever gives the size first, and has no run counts when told" {
  "$TALLY" get --on power gpci/entitled >first
  "$TALLY" get --on power,args=address-first gpci/entitled | cmp - first
  "$TALLY" get --on power,args=size-first gpci/entitled | cmp - first
  "$TALLY" get --on power,run-counts=no --duration 100 -x , gpci/0x30 >none
  "$TALLY" get --on power,run-counts=yes --duration 100 -x , gpci/0x30 >some
  ! cmp -s none some || return 1
  "$TALLY" get --on power,block=page gpci/entitled | cmp - first
  "$TALLY" list --json machines | grep '"power"' | grep 'args' | grep -q 'run-counts'
}

# ---- what is wrong ---------------------------------------------------------------------------------

@test "wrong selectors, keys and values end with status 2 and what is near" {
  expect 2 "unknown platform 'batoca'; did you mean 'batoka'?" list --on batoca vfalls
  expect 2 "sockets=5: batoka has 1 to 4" list --on batoka,sockets=5 vfalls
  expect 2 "batoka: unknown key 'socket'; did you mean 'sockets'?" list --on batoka,socket=2 vfalls
  expect 2 "load=chas: unknown load; did you mean 'chase'?" get --on niagara --load chas mmustat/all/
  expect 2 "the load is given twice" get --on niagara,load=chase --load random mmustat/all/
  expect 2 "--load requires a model: the load of local cannot be chosen" get --load chase vfalls/18/
  expect 2 "firmware=7: there are the levels 0, 3, 5, 6 and 8" list --on power,firmware=7 gpci
  expect 2 "rights: invalid value 'globl'" list --on batoka,rights=globl vfalls
  expect 2 "vfalls/l2_crr/: unknown register 'l2_crr'; did you mean 'l2_cr'?" get --on batoka,load=compute vfalls/l2_crr/
  expect 2 "gpci/entitlde/: unknown request 'entitlde'; did you mean 'entitled'?" get --on power gpci/entitlde/
  expect 2 "--duration: invalid value '0' (expected milliseconds, 1 or more)" get --on power --duration 0 gpci/entitled/
  expect 2 "vfalls/l2_cr/: invalid value 'x'" set --on batoka vfalls/l2_cr=x
  expect 2 "nothing of kind 'gpci' matches 'nope'" list --on power gpci nope
  expect 2 "cannot check 'cpc' (expected gpci, vfalls, mmustat or ptt)" check --on batoka cpc
  expect 2 "seed= is given twice" get --on batoka,seed=1,seed=2 vfalls/18/
  expect 2 "guest= is given twice" get --on unix:s,guest=a,guest=b vfalls/18/
  expect 2 "args=size: expected address-first or size-first" get --on power,args=size gpci/entitled
  expect 2 "block=4096: expected whole or page" get --on power,block=4096 gpci/entitled
  expect 2 "run-counts=0: expected yes or no" get --on power,run-counts=0 gpci/entitled
  expect 2 "vfalls/sparc,event=0xfff/: event=0xfff: unknown code; 'tally list vfalls --on batoka' shows the sparc events" stat --on batoka -e vfalls/sparc,event=0xfff/ --count 1
  expect 2 "'hisi_ptt0_2/qos_tx_p' is a tunable and cannot be counted; 'tally get hisi_ptt0_2/qos_tx_p --on kunpeng' reads it" \
    stat --on kunpeng -e hisi_ptt0_2/qos_tx_p/ --count 1
  expect 2 'no event "entitled"; the hypervisor request is gpci/entitled/' stat --on power -e entitled --count 1
  expect 2 "vfalls/zam0_lpu_a,event=0xff/: event=0xff: unknown code" stat --on batoka -e vfalls/zam0_lpu_a,event=0xff/ --count 1
  expect 2 "vfalls/node0_mcu0,event=3/: event=3: unknown code" stat --on batoka -e vfalls/node0_mcu0,event=3/ --count 1
  "$TALLY" stat --on batoka,load=compute -e vfalls/sparc,event=0x203/ --count 1 -I 1
  expect 2 "profile opensparc requires a sun4v machine" machine power --profile opensparc --listen s
  expect 2 "profile opensparc requires a sun4v machine" machine kunpeng --profile opensparc --listen s
}

@test "a machine's registers are not listed where it has none: vfalls of a Niagara, mmustat of a Batoka" {
  expect 3 "niagara has no Victoria Falls registers; the model '--on batoka' has" list vfalls --on niagara
  expect 3 "batoka has no MMU statistics; the model '--on niagara' has" list mmustat --on batoka
}

@test "a pipe is no saved answer, and nobody waits for it" {
  mkfifo fifo
  expect 2 "./fifo is not a regular file" get --on ./fifo mmustat/all
  expect 2 "/dev/null is not a regular file" get --on /dev/null mmustat/all
}

@test "a command that an error names asks the same platform, and has what was missing" {
  while read -r words; do
    run --separate-stderr "$TALLY" $words
    [ "$status" -eq 2 ]
    [[ $stderr =~ \'tally\ (list\ [^\']*)\' ]] || { echo "$words: names no command: $stderr"; return 1; }
    run "$TALLY" ${BASH_REMATCH[1]}
    [ "$status" -eq 0 ] && [ ${#lines[@]} -gt 3 ] || { echo "$words: then tally ${BASH_REMATCH[1]}: $output"; return 1; }
  done <<'EOF'
stat --on power -e gpci/nothing_like_it/ --count 1
get gpci/nothing_like_it --on power,load=links
get gpci --on power
get gpci/entitled,field=nothing_like_it --on power --duration 1
get vfalls/nothing_like_it --on batoka
get mmustat --on niagara
stat --on batoka -e vfalls/node0_mcu0/ --count 1
stat --on batoka -e vfalls/node0_mcu0,event=nothing_like_it/ --count 1
stat --on batoka -e vfalls/sparc,event=0xfff/ --count 1
get nothing_like_it/qos_tx_cpl --on kunpeng
tune --for latency --on kunpeng
EOF
}

@test "where nobody listens, no machine of another kind is advised" {
  expect 1 "no server at /nowhere/s; start 'tally machine MACHINE --listen /nowhere/s'" get --on unix:/nowhere/s vfalls/l2_cr/
}

@test "a machine without the interface names the model that has it, with status 3" {
  expect 3 "local has no hypervisor counters; '--on batoka' (vfalls), '--on niagara' (mmustat) and '--on power' (gpci)" list gpci
  expect 3 "power has no vfalls; the model '--on batoka' has" list --on power vfalls
  expect 3 "batoka has no gpci; the model '--on power' has" check --on batoka gpci
  expect 3 "the model 'batoka' has no MMU statistics" get --on batoka,load=compute mmustat/all/
}

@test "what may not be read is status 4" {
  expect 4 "dispatch_purr: not permitted to this partition (H_Authority)" get --on power,rights=none gpci/dispatch_purr/
  expect 4 "ZAM0_LPU_A_PCR: not permitted to this guest (ENOACCESS)" get --on batoka,rights=none,load=compute vfalls/18/
  expect 4 "SPARC_PCR: not permitted to this guest (ENOACCESS)" set --on batoka,rights=strand vfalls/sparc_pcr=8
  expect 4 "mmcrh: not permitted to this partition (H_Authority)" set --on power,rights=all gpci/mmcrh=1
}
