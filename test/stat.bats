#!/usr/bin/env bats
# stat: counters of hypervisors over time, events and views, on the models.  Needs no privileges.
bats_require_minimum_version 1.5.0
load common

setup() { cd "$BATS_TEST_TMPDIR" || return 1; }

expect() {
  run --separate-stderr "$TALLY" "${@:3}"
  [ "$status" -eq "$1" ] && [[ "${stderr_lines[0]}" == "tally: $2"* ]] || {
    echo "${*:3}: status $status, not $1: $stderr"
    return 1
  }
}
# sum FILE COLUMN: of the rows of a CSV file, by the name in its header.
sum() { awk -F , -v c="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == c) at = i; next } { n += $at } END { printf "%.6f\n", n }' "$1"; }

# ---- events ----------------------------------------------------------------------------------------

@test "registers of hubs, memory controllers and strands count side by side" {
  run "$TALLY" stat --on batoka --load pingpong -I 5 --count 2 \
    -e vfalls/zam0_lpu_a,event=clock_cycles/,vfalls/node1_mcu0,event=mem_reads/ -e vfalls/sparc,cpu=5,event=L2_dmiss_ld,user,remote/
  said 0 " TIME      DELTA  SINCE START  UNIT    ID      NAME
0.005  6,000,000    6,000,000  cycles  chip=0  zam0_lpu_a.clock_cycles
0.005          2            2  events  node=1  node1_mcu0.mem_reads
0.005          0            0  events  cpu=5   sparc.L2_dmiss_ld

 TIME      DELTA  SINCE START  UNIT    ID      NAME
0.010  6,000,000   12,000,000  cycles  chip=0  zam0_lpu_a.clock_cycles
0.010          0            2  events  node=1  node1_mcu0.mem_reads
0.010          0            0  events  cpu=5   sparc.L2_dmiss_ld"
}

@test "classes of level 2 misses add up" {
  misses() { "$TALLY" stat --on batoka --load random -I 2 --count 1 -x , -e "vfalls/sparc,event=L2_dmiss_ld$1/" 2>/dev/null | awk -F , 'END { print $4 }'; }
  all=$(misses "")
  [ "$all" -gt 0 ]
  [ $(($(misses ,local) + $(misses ,remote) + $(misses ,c2c))) -eq "$all" ]
}

@test "without cpu= strands are summed, and with -a each has a row" {
  "$TALLY" stat --on batoka --load pingpong -I 2 --count 1 -x , -e vfalls/sparc,event=Instr_cnt/ >all
  "$TALLY" stat --on batoka --load pingpong -I 2 --count 1 -x , -a -e vfalls/sparc,event=Instr_cnt/ >each
  [ "$(wc -l <all)" -eq 2 ]
  [ "$(wc -l <each)" -eq 3 ]
  [ "$(sum all delta)" = "$(sum each delta)" ]
}

@test "mmustat shows hits, ticks and share of time by strand, context and page size" {
  run "$TALLY" stat --on niagara --load chase -I 2 --count 1 -e mmustat/all/
  [ "$status" -eq 0 ]
  [ "${lines[0]}" = " TIME  CPU  CTX    PAGES  I-HITS  I-TICKS  I-TIME  D-HITS  D-TICKS  D-TIME" ]
  [ "${#lines[@]}" -eq 6 ]                              # the load's four strands, and all
  [[ "${lines[5]}" == *" all "* ]]
  # The share of all is of the time of all 32 strands: it was the sum of theirs.
  read -r ticks share < <(awk '$2 == "all" { gsub(",", "", $(NF - 2)); print $(NF - 2), $(NF - 1) }' <<<"$output")
  [ "$(awk -v t="$ticks" 'BEGIN { printf "%.1f", t / (0.002 * 1.2e9 * 32) * 100 }')" = "$share" ]
  "$TALLY" stat --on niagara --load chase -I 2 --count 1 -x , -e mmustat/dmmu,cpu=0/ >dmmu
  [ "$(wc -l <dmmu)" -eq 9 ]
  [ "$(sum dmmu immu_hits)" = 0.000000 ]
  # What stat counted is what the buffer has.
  [ "$(sum dmmu dmmu_hits_total)" = "$("$TALLY" get --on niagara --load chase --duration 2 -x , mmustat/dmmu,cpu=0/ | awk -F , '{ n += $6 } END { printf "%.6f", n }')" ]
}

@test "records of a POWER machine count by field, also under Linux's names" {
  run "$TALLY" stat --on power -I 1000 --count 2 -e gpci/entitled,partition=2,field=capped/
  said 0 " TIME          DELTA    SINCE START  UNIT         ID           NAME
1.000  1,414,748,160  1,414,748,160  PURR cycles  partition=2  entitled.capped

 TIME          DELTA    SINCE START  UNIT         ID           NAME
2.000  1,380,730,880  2,795,479,040  PURR cycles  partition=2  entitled.capped"
  linux=hv_gpci/entitled_capped_uncapped_donated_idle_timebase_by_partition_consumed_capped_cycles,sibling_part_id=2/
  [ "$("$TALLY" stat --on power --count 1 -x , -e "$linux" | cut -d , -f 1-7)" = \
    "$("$TALLY" stat --on power --count 1 -x , -e gpci/entitled,partition=2,field=capped/ | cut -d , -f 1-7)" ]
}

@test "a model's time passes exactly, as fast as it goes" {
  SECONDS=0
  [ "$("$TALLY" stat --on power --count 100 -x , -e gpci/entitled,partition=1,field=entitled/ | awk -F , 'END { print $2, $4 }')" = "100 25600000000" ]
  [ $SECONDS -lt 30 ]
  # A duration that is no multiple ends with a shorter interval.
  run "$TALLY" stat --on power -I 400 --duration 1000 -x , -e gpci/entitled,partition=1,field=entitled/
  [ "$(cut -d , -f 2 <<<"$output" | tr '\n' ' ')" = "time 0.4 0.8 1 " ]
  # Without an interval: one table at the end.
  run "$TALLY" stat --on power --duration 500 -x , -e gpci/entitled,partition=1,field=entitled/
  [ "${#lines[@]}" -eq 2 ]
}

@test "without an end a model keeps to the clock until it is interrupted" {
  run timeout --foreground -s INT --preserve-status 1.5 "$TALLY" stat --on power -I 500 --view cec
  [ "$status" -eq 0 ]
  [ "${#lines[@]}" -ge 2 ] && [ "${#lines[@]}" -le 5 ]
  run timeout --foreground -s INT --preserve-status 1 "$TALLY" stat --on power -e gpci/entitled/
  [ "$status" -eq 0 ]
  has "entitled.capped"
}

@test "-o chooses the form by its suffix, and JSON and CSV have the same rows" {
  "$TALLY" stat --on power --count 2 -e gpci/entitled/ -o t.json
  "$TALLY" stat --on power --count 2 -e gpci/entitled/ -o t.csv
  [ "$(wc -l <t.json)" -eq $(($(wc -l <t.csv) - 1)) ]
  [ "$(wc -l <t.json)" -eq 60 ]
  expect 1 "failed to write to /dev/full: No space left on device" stat --on power --count 1 -e gpci/entitled/ -o /dev/full
}

# ---- what can't be counted -------------------------------------------------------------------------

@test "what may not be counted is a row with the reason, and the rest counts" {
  run --separate-stderr "$TALLY" stat --on batoka,rights=strand --load compute -I 1 --count 1 \
    -e vfalls/zam0_lpu_a,event=clock_cycles/,vfalls/sparc,cpu=0,event=Instr_cnt/
  [ "$status" -eq 0 ]
  [[ "${lines[1]}" == *"zam0_lpu_a"*"<not permitted>" ]]
  [[ "${lines[2]}" == *"sparc.Instr_cnt" ]]
  [[ "$stderr" == *ENOACCESS* ]]
  run --separate-stderr "$TALLY" stat --on power,firmware=8,rights=none --count 1 -x , \
    -e gpci/entitled,field=capped/,gpci/dispatch_purr/,gpci/links_abc/,gpci/entitled,partition=2/
  [ "$status" -eq 0 ]
  [ "$(cut -d , -f 10- <<<"$output" | grep -c 'not permitted\|not supported')" -ge 3 ]
  [[ "$stderr" == *"only its own record"* ]]
}

@test "when nothing can be counted that is the status" {
  run --separate-stderr "$TALLY" stat --on power,rights=none -e gpci/dispatch_purr/
  [ "$status" -eq 4 ]
  run --separate-stderr "$TALLY" stat --on power,firmware=8 -e gpci/links_abc/
  [ "$status" -eq 3 ]
  expect 3 "power has no vfalls" stat --on power -e vfalls/zam0_lpu_a,event=clock_cycles/
  expect 3 "local has no hypervisor counters" stat -e gpci/entitled/
}

@test "a third counter of a pair is refused in its row" {
  run --separate-stderr "$TALLY" stat --on batoka --load compute -I 1 --count 1 -x , \
    -e vfalls/zam0_gpd,event=clock_cycles/,vfalls/zam0_gpd,event=clock_cycles/,vfalls/zam0_gpd,event=none/
  [ "$status" -eq 0 ]
  [ "$(grep -c ,busy, <<<"$output")" -eq 1 ]
  [[ "$stderr" == *"has two counters, and both are taken"* ]]
}

@test "an event that is not modelled is said" {
  expect 0 "vfalls/sparc,cpu=0,event=Br_taken/: this event is not modelled: its counter does not change" \
    stat --on batoka --load compute -I 1 --count 1 -e vfalls/sparc,cpu=0,event=Br_taken/
}

# ---- views -----------------------------------------------------------------------------------------

@test "views agree with each other and with the records, on every load" {
  for load in mixed contended donating links idle; do
    for view in cec partitions processors; do "$TALLY" stat --on power --load $load --view $view --count 1 -x , >$view; done
    "$TALLY" stat --on power --load $load --count 1 -x ';' -e gpci/dispatch_purr/ | tr ';' , >records
    busy=$(sum cec busy)
    [ "$busy" = "$(sum processors busy)" ] || { echo "$load: $busy, processors $(sum processors busy)"; return 1; }
    [ "$busy" = "$(sum partitions physc)" ] || { echo "$load: $busy, partitions $(sum partitions physc)"; return 1; }
    [ "$busy" = "$(awk -F , '{ n += $3 } END { printf "%.6f", n / 512000000 }' records)" ]
    [ "$(sum cec ent)" = "$(sum partitions ent)" ]
  done
}

@test "view partitions is what an administrator reads" {
  run "$TALLY" stat --on power --view partitions --count 1
  said 0 "partitions, 1.000 s after the start, interval 1.000 s
PART  TYPE    VPS    ENT  PHYSC    %ENTC    CAP  UNCAP  DONATE   %IDLE   CPI
   3  shared   12   4.00  10.80  270.0 %   4.00   6.80    0.00   0.0 %  0.67
   2  shared    8   3.00   4.59  153.1 %   2.76   1.83    0.00  15.0 %  0.80
   6  ded       4   4.00   4.00  100.0 %   4.00   0.00    0.00   0.0 %  0.50
   5  ded       8   8.00   3.31   41.4 %   3.31   0.00    0.00   5.0 %  0.71
   4  shared    4   2.00   2.00  100.0 %   2.00   0.00    0.00  10.0 %  1.00
   1  shared    2   0.50   0.40   79.6 %   0.38   0.01    0.00  30.0 %  1.00
 all           38  21.50  25.10  116.8 %  16.46   8.65    0.00   4.7 %  0.67"
}

@test "a view says once what comes and goes, and a newcomer has no figures yet" {
  run --separate-stderr "$TALLY" stat --on power,load=moving --view partitions -I 1000 --count 5 -x ,
  [ "$stderr" = "tally: entitled: partition 4 is new; counted from now on
tally: entitled: partition 4 went" ]
  [ "$(grep -c '^partition,2,4,shared,6,,,,,,,,,$' <<<"$output")" -eq 1 ]
  [ "$(grep -c '^partition,3,4,shared,6,1,' <<<"$output")" -eq 1 ]
  [ "$(grep -c '^partition,5,4,' <<<"$output")" -eq 0 ]
  [ "$(grep -c '^partition,[34],2,shared,[48],' <<<"$output")" -eq 2 ]                          # it was resized between
}

@test "views fit into 80 columns, and the hottest is first" {
  for view in cec partitions processors links; do
    "$TALLY" stat --on power --load links --view $view --count 2 >out
    [ "$(awk '{ if (length($0) > n) n = length($0) } END { print n }' out)" -le 80 ] || { echo "$view: too wide"; cat out; return 1; }
  done
  "$TALLY" stat --on power --view processors --count 1 -x , | tail -n +2 | cut -d , -f 8 | sort -c -t, -rg
}

@test "links are between nothing and all, and both ends of a cable say the same" {
  "$TALLY" stat --on power --load links --view links --count 1 -x , >links
  [ "$(wc -l <links)" -eq 17 ]
  awk -F , 'NR > 1 { for (i = 5; i <= 11; i++) if ($i != "" && ($i < 0 || $i > 1)) exit 1 }' links
  "$TALLY" stat --on power --load idle --view links --count 1 -x , | awk -F , 'NR > 1 { for (i = 5; i <= 11; i++) if ($i > 0.5) exit 1 }'
}

@test "utilisation has colours on a terminal, unless NO_COLOR says no" {
  command -v script >/dev/null || skip "no script(1)"
  script -qec "'$TALLY' stat --on power --view processors --count 1" /dev/null >seen
  grep -q $'\033\[31m100.0 %' seen
  NO_COLOR=1 script -qec "'$TALLY' stat --on power --view processors --count 1" /dev/null >seen
  ! grep -q $'\033' seen || return 1
  ! "$TALLY" stat --on power --view processors --count 1 | grep -q $'\033' || return 1
}

@test "a view says what it has to do without" {
  run --separate-stderr "$TALLY" stat --on power,firmware=8 --view partitions --count 1
  [ "$status" -eq 0 ]
  [[ "$stderr" == "tally: without run_instructions: not on this firmware"* ]]
  expect 3 "the view needs links_abc: not on this firmware" stat --on power,firmware=8 --view links --count 1
  expect 4 "the view needs dispatch_purr: not permitted to this partition" stat --on power,rights=none --view cec --count 1
  run --separate-stderr "$TALLY" stat --on power,rights=none --view partitions --count 1 -x ,
  [ "$status" -eq 0 ]
  [ "${#lines[@]}" -eq 2 ]
}

# ---- what is wrong ---------------------------------------------------------------------------------

@test "wrong options end with status 2 and say what is wrong" {
  expect 2 "nothing to count: give -e SELECTOR, e.g. gpci/entitled/, or --view VIEW" stat --on power
  # what is given as an example is of the machine that is asked, and can be counted there
  for on in niagara,load=chase batoka maramba; do
    run "$TALLY" stat --on "$on"
    [ "$status" -eq 2 ]
    run "$TALLY" stat --on "$on" -I 1 --count 1 -e "${lines[0]##* }"
    [ "$status" -eq 0 ] || { echo "$on: $output"; return 1; }
  done
  expect 2 "-e and --view cannot be combined" stat --on power -e gpci/entitled/ --view cec
  expect 2 "unknown argument 'x'; events go after -e" stat --on power x
  expect 2 "unknown view 'partition'; did you mean 'partitions'?" stat --on power --view partition
  expect 2 "--view can be given only once" stat --on power --view cec --view links
  expect 2 "-I: invalid value '0' (expected milliseconds, 1 or more)" stat --on power -I 0 --view cec
  expect 2 "--count: invalid value 'x' (expected a number of intervals, 1 or more)" stat --on power --count x --view cec
  expect 2 "gpci/dispatch_purr,partition=3/: records of dispatch_purr have key processor: write processor=N" stat --on power -e gpci/dispatch_purr,partition=3/
  expect 2 "invalid selector 'disk/x'" stat --on power -e disk/x/
  expect 2 "vfalls/zam0_lpu_a,event=clock_cycle/: unknown lpu event 'clock_cycle'; did you mean 'clock_cycles'?" \
    stat --on batoka -e vfalls/zam0_lpu_a,event=clock_cycle/
}

@test "help has three examples at least and the formulas, and the page each of the options" {
  for verb in stat check; do
    [ "$("$TALLY" $verb -h | grep -cE "^  tally $verb ")" -ge 3 ] || { echo "$verb: examples"; return 1; }
    "$TALLY" $verb -h | sed -n 's/^  *\(-[a-zA-Z],\)\{0,1\} *\(-[-a-z0-9A-Z]*\).*/\2/p' | while read -r option; do
      grep -qE -- "\`$option(\`|=| |\[)" "$BATS_TEST_DIRNAME/../doc/verb/$verb.md" || { echo "$verb: not in the page: $option"; return 1; }
    done
  done
  "$TALLY" stat -h | grep -q 'PHYSC = CAP + UNCAP'
  grep -q 'PHYSC' "$BATS_TEST_DIRNAME/../doc/verb/stat.md"
}

@test "without -e the error names a selector of that platform, and not of another with a name as long" {
  for row in 'niagara mmustat/all/' 'maramba vfalls/node0_mcu0,event=mem_reads/' 'batoka,seed=2 vfalls/node0_mcu0,event=mem_reads/' \
    'power,load=links gpci/entitled/, or --view VIEW' "kunpeng mmustat/all/ or gpci/entitled/ ('tally list' shows the platform's)" \
    "niagaraX mmustat/all/ or gpci/entitled/ ('tally list' shows the platform's)"; do
    run "$TALLY" stat --on "${row%% *}"
    [ "$status" -eq 2 ]
    [ "${lines[0]}" = "tally: nothing to count: give -e SELECTOR, e.g. ${row#* }" ]
  done
}
