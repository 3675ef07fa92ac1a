#!/usr/bin/env bats
# stat of CPU events: commands, processes and whole CPUs of this machine, by its software events.  What takes a right
# that is not there is skipped, aloud.
bats_require_minimum_version 1.5.0
load common

setup() { cd "$BATS_TEST_TMPDIR" || return 1; }
teardown() { leaves_none ${busy:-}; }

needs_whole_cpus() { "$TALLY" stat -a -e page-faults --duration 1 >/dev/null 2>&1 || skip "counting whole CPUs is not permitted here"; }
needs_prog() { [ -x "$PROGS/$1" ] || skip "no $PROGS/$1: make progs"; }
# cell FILE NAME COLUMN: of the last row of an event in a CSV file.
cell() { awk -F , -v n="$2" -v c="$3" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } $at["name"] == n { v = $at[c] } END { print v }' "$1"; }
within() { awk -v a="$1" -v b="$2" -v p="$3" 'BEGIN { d = a - b; exit !(b > 0 && (d < 0 ? -d : d) <= b * p / 100) }'; }
expect() {
  run --separate-stderr "-$1" "$TALLY" "${@:3}"
  [ "$status" -eq "$1" ] && [[ "$stderr" == *"tally: $2"* ]] || {
    echo "${*:3}: status $status, not $1: $stderr"
    return 1
  }
}

# ---- commands --------------------------------------------------------------------------------------

@test "a command's page faults are those that it says itself, and within 1 % of perf stat's" {
  needs_prog pf
  "$TALLY" stat -x , -o t.csv -e page-faults:u -- "$PROGS/pf" 100000 >said
  ours=$(cell t.csv page-faults:u value)
  within "$ours" "$(sed 's/.*minflt //' said)" 1
  command -v perf >/dev/null || skip "no perf to compare with"
  perf stat -x , -e page-faults:u -o p.csv -- "$PROGS/pf" 100000 >/dev/null || skip "perf stat does not run here"
  theirs=$(awk -F , '/page-faults/ { print $1 }' p.csv)
  echo "tally $ours, perf $theirs"
  within "$ours" "$theirs" 1
}

@test "children count, too" {
  needs_prog pf
  "$TALLY" stat -x , -o t.csv -e page-faults:u -- sh -c "'$PROGS/pf' 30000 & '$PROGS/pf' 30000; wait" >/dev/null
  within "$(cell t.csv page-faults:u value)" 60000 3
}

@test "a command's counts by CPU add up to all of them, wherever it ran" {
  needs_prog pf
  [ "$(getconf _NPROCESSORS_ONLN)" -gt 1 ] && command -v taskset >/dev/null || skip "no second CPU, or no taskset(1)"
  "$TALLY" stat --per-cpu -x , -o t.csv -e page-faults:u -- sh -c "taskset -c 0 '$PROGS/pf' 20000; taskset -c 1 '$PROGS/pf' 20000" >/dev/null
  sum=$(awk -F , 'NR > 1 { n += $4; if ($12 != 1) bad = 1 } END { print bad ? "not counted all the time" : n }' t.csv)
  within "$sum" 40000 3 || { cat t.csv; return 1; }
}

@test "the file that stderr goes to is not emptied: neither what it held nor what the command wrote is lost" {
  echo precious >f
  "$TALLY" stat -e page-faults:u -- sh -c 'echo child err >&2' 2>>f
  [ "$(sed -n 1,2p f)" = $'precious\nchild err' ] && grep -q 'events  page-faults:u' f || { cat f; return 1; }
  "$TALLY" stat -e page-faults:u -- sh -c 'echo child out; echo child err >&2' >log 2>&1
  [ "$(sed -n 1,2p log)" = $'child out\nchild err' ] && grep -q 'events  page-faults:u' log || { cat log; return 1; }
  echo precious >f
  "$TALLY" stat -o /dev/stderr -e page-faults:u -- sh -c 'echo child err >&2' 2>>f
  [ "$(sed -n 1,2p f)" = $'precious\nchild err' ] && grep -q 'events  page-faults:u' f || { cat f; return 1; }
  "$TALLY" stat -o f -e page-faults:u -- true
  ! grep -q precious f || return 1
}

@test "the status is the command's, its output is its own, and figures go to stderr" {
  run --separate-stderr "$TALLY" stat -e page-faults:u -- sh -c 'echo hello; exit 7'
  [ "$status" -eq 7 ]
  [ "$output" = hello ]
  [[ "$stderr" == *"events  page-faults:u"* ]]
  [[ "$stderr" == *" s elapsed, "*" s user, "*" s system"* ]]
  run "$TALLY" stat -e page-faults:u -- sh -c 'kill -9 $$'
  [ "$status" -eq 137 ]
  expect 127 "failed to start '/nonexistent'" stat -e page-faults:u -- /nonexistent
  expect 126 "failed to start '/'" stat -e page-faults:u -- /
}

@test "options of the command are the command's" {
  run --separate-stderr "$TALLY" stat -e page-faults:u echo -a --json
  [ "$output" = "-a --json" ]
}

@test "a command runs -r times, and the spread of its figures is shown" {
  run --separate-stderr "$TALLY" stat -r 3 -e page-faults:u -- sh -c 'echo x'
  [ "$output" = $'x\nx\nx' ]
  [[ "$stderr" == *"COUNT  UNIT    NAME           SPREAD"* ]]
  [[ "$stderr" == *" +- "*" %, "*": means of 3 runs" ]]
  "$TALLY" stat -r 3 --json -o t.json -e page-faults:u -- true
  grep -q '"type":"run".*"runs":3,"status":0}' t.json
  grep -q '"spread":[0-9]' t.json
  run "$TALLY" stat -r 3 -e page-faults:u -- sh -c 'exit 5'
  [ "$status" -eq 5 ]
}

@test "without -e the usual events are rows, also those that are not to be had" {
  run --separate-stderr "$TALLY" stat -- true
  for name in task-clock context-switches cpu-migrations page-faults cycles instructions branches branch-misses; do
    grep -qE " $name(:u)?( |\$)" <<<"$stderr" || { echo "no $name: $stderr"; return 1; }
  done
}

@test "the table fits into 80 columns" {
  run --separate-stderr "$TALLY" stat -I 50 -- sleep 0.2
  [ "$(awk '!/^tally: / && length > n { n = length } END { print n + 0 }' <<<"$stderr")" -le 80 ]
  run --separate-stderr "$TALLY" stat -r 2 -- true
  [ "$(awk '!/^tally: / && length > n { n = length } END { print n + 0 }' <<<"$stderr")" -le 80 ]
}

# ---- forms -----------------------------------------------------------------------------------------

@test "JSON is one object per line with numbers as numbers, and CSV has the same fields" {
  "$TALLY" stat --json -o t.json -e page-faults:u,task-clock -- true
  [ "$(wc -l <t.json)" -eq 3 ]
  if command -v python3 >/dev/null; then
    python3 - t.json <<'PY'
import json, sys
rows = [json.loads(l) for l in open(sys.argv[1])]
assert [r["type"] for r in rows] == ["count", "count", "run"]
assert all(isinstance(r["value"], int) and r["share"] in (1, None) for r in rows[:2])
assert rows[1]["unit"] == "ns" and rows[0]["unit"] == "events"
keys = ["type", "time", "delta", "value", "unit", "id", "name", "selector", "raw", "status", "why", "share", "spread", "metric", "metric_unit"]
assert list(rows[0]) == keys
PY
  fi
  "$TALLY" stat -x ';' -o t.csv -e page-faults:u -- true
  [ "$(head -n 1 t.csv)" = "type;time;delta;value;unit;id;name;selector;raw;status;why;share;spread;metric;metric_unit" ]
}

@test "all rows of a table are of one time, also of what can't be counted" {
  "$TALLY" stat --json -r 3 -o t.json -e page-faults:u,task-clock:u,task-clock -- true
  [ "$(sed -n 's/.*"time":\([0-9.e-]*\),.*/\1/p' t.json | sort -u | wc -l)" -eq 1 ]
  "$TALLY" stat -x , -I 20 -o t.csv -e page-faults:u,task-clock:u -- sleep 0.05
  [ "$(awk -F , 'NR > 1 { n[$2]++ } END { for (t in n) if (n[t] != 2) print t }' t.csv)" = "" ]
}

@test "intervals add up to the sum below them" {
  needs_prog pf
  "$TALLY" stat -I 20 -x , -o t.csv -e page-faults:u -- "$PROGS/pf" 50000 >/dev/null
  [ "$(wc -l <t.csv)" -ge 2 ]
  [ "$(awk -F , 'NR > 1 { n += $3 } END { print n }' t.csv)" = "$(cell t.csv page-faults:u value)" ]
  [ "$(cell t.csv page-faults:u value)" -ge 50000 ]
}

# ---- processes, threads, CPUs --------------------------------------------------------------------

@test "a process that runs already is counted while another command runs, or until it ends" {
  needs_prog spin
  "$PROGS/spin" 100000000000 & busy=$!
  run --separate-stderr "$TALLY" stat -x , -e task-clock -p $busy -- sleep 0.3
  [ "$status" -eq 0 ]
  [ "$(awk -F , 'END { print $4 }' <<<"$stderr")" -gt 1000000 ]
  run --separate-stderr "$TALLY" stat -x , -e task-clock -t $busy --duration 200
  [ "$(awk -F , 'END { print $4 }' <<<"$output")" -gt 1000000 ]
  "$TALLY" stat -x , -e task-clock -p $busy >t.csv & counting=$!
  until [ -d "/proc/$counting/fd" ] && ls -l "/proc/$counting/fd" 2>/dev/null | grep -q perf_event; do kill -0 $counting; done
  kill $busy
  wait $busy || [ $? -eq 143 ]
  wait $counting
  busy=
  grep -q task-clock t.csv
}

@test "whole CPUs: all together, each on its own, or some" {
  needs_whole_cpus
  "$TALLY" stat -a -x , -e cpu-clock --duration 100 >all
  "$TALLY" stat --per-cpu -x , -e cpu-clock --duration 100 >each
  [ "$(wc -l <all)" -eq 2 ]
  [ "$(wc -l <each)" -eq $(($(getconf _NPROCESSORS_ONLN) + 1)) ]
  grep -q ',cpu=0,cpu-clock,' each
  within "$(cell all cpu-clock metric)" "$(getconf _NPROCESSORS_ONLN)" 10
  "$TALLY" stat -C 0 -x , -e cpu-clock --duration 100 >one
  within "$(cell one cpu-clock metric)" 1 10
  expect 2 "CPU 4095 is not online" stat -C 4095 -e cpu-clock || expect 2 "invalid CPU list '4095'" stat -C 4095 -e cpu-clock
}

@test "an interrupt ends it with the sum, and status 0" {
  needs_whole_cpus
  run --separate-stderr timeout --foreground -s INT --preserve-status 0.5 "$TALLY" stat -a -e page-faults -I 200
  [ "$status" -eq 0 ]
  [[ "$output" == *"COUNT  UNIT    NAME"* ]]
  [[ "$output" == *" s elapsed" ]]
}

# ---- several platforms -----------------------------------------------------------------------------

@test "counters of a model and CPU events stand in one table, each of its platform" {
  run --separate-stderr "$TALLY" stat --on power -e gpci/entitled,partition=2,field=capped/ --on local -e page-faults:u -x , \
    -- sleep 0.1
  [ "$status" -eq 0 ]
  [[ "$stderr" == *"partition=2,entitled.capped"* ]]
  [[ "$stderr" == *"all,page-faults:u,page-faults:u"* ]]
  run --separate-stderr "$TALLY" stat --on batoka -e vfalls/zam0_lpu_a,event=clock_cycles/ --on power -e gpci/entitled,partition=2,field=capped/ \
    -I 10 --count 1 -x ,
  [ "${#lines[@]}" -eq 3 ]
  [[ "${lines[1]}" == *zam0_lpu_a* && "${lines[2]}" == *entitled.capped* ]]
  expect 2 "--on power: no event after it" stat --on batoka -e vfalls/zam0_lpu_a,event=clock_cycles/ --on power
}

# ---- what can't be ------------------------------------------------------------------------------------

@test "what is not supported is a row with the reason below, and the command runs" {
  run --separate-stderr "$TALLY" stat -e page-faults:u,task-clock:u -- echo ran
  [ "$status" -eq 0 ]
  [ "$output" = ran ]
  [[ "$stderr" == *"task-clock:u   <not supported>"* ]]
  [[ "$stderr" == *"tally: task-clock:u: the kernel counts a clock's time in all modes together: leave out the modes"* ]]
}

@test "when nothing can be counted that is the status, and the command does not run" {
  run --separate-stderr "$TALLY" stat -e task-clock:u -- touch ran
  [ "$status" -eq 3 ]
  [[ "$stderr" == *"<not supported>"*"none of these events can be counted here"* ]]
  [ ! -e ran ]
}

@test "who may not count in the kernel counts in user mode, and the name says so" {
  [ "$(id -u)" -eq 0 ] || skip "needs root, to be somebody else"
  command -v setpriv >/dev/null || skip "no setpriv(1)"
  [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -eq 2 ] || skip "perf_event_paranoid is not 2"
  cp "$TALLY" tally && chmod 755 tally . || return 1
  run setpriv --reuid 65534 --clear-groups --inh-caps=-all --bounding-set=-all "$(realpath tally)" stat -x , -e page-faults,context-switches -- true
  [ "$status" -eq 0 ] || skip "nobody can't run it in $PWD: $output"
  has "page-faults:u,page-faults,"
  has "context-switches,context-switches,,not permitted,"
  has "cap_perfmon"
}

@test "wrong options end with status 2 and say what is wrong" {
  expect 2 'no event "cycels"; did you mean cycles?' stat -e cycels -- true
  expect 2 'this machine has no PMU "nosuch"' stat -e nosuch/event=1/ -- true
  expect 2 "no such process: 2147483647" stat -p 2147483647
  expect 2 "no such thread: 2147483647" stat -t 2147483647
  expect 2 "-p: invalid value 'x' (expected process IDs" stat -p x
  expect 2 "-p: invalid value '1,'" stat -p 1,
  expect 2 "-r: invalid value '0' (expected a number of runs" stat -r 0 -- true
  expect 2 "-r requires a COMMAND" stat -r 2 -a
  expect 2 "whole CPUs and processes (-a or -C, and -p or -t) cannot be combined" stat -a -p 1
  expect 2 "a command, processes or CPUs are given, but no CPU event" stat --on power -e gpci/entitled/ -- true
}

@test "a tracepoint is refused as one, not as an event that a hardware PMU would have" {
  expect 2 "sched:sched_switch looks like a tracepoint" stat -e sched:sched_switch -- true
}

@test "a group of events is what perf means by it, and is told why not where it can't be" {
  "$TALLY" stat -j -e '{page-faults,cs},minor-faults' -o counts.json -- true
  [ "$(grep -c '"type":"count"' counts.json)" -eq 3 ]
  expect 2 "'{page-faults,cs}': groups and --share cannot be combined" stat --share -e '{page-faults,cs}' -- true
  expect 2 "'{page-faults,cs': } is missing" stat -e '{page-faults,cs' -- true
  expect 2 "'}': } without a {" stat -e 'page-faults}' -- true
  expect 2 "'{cs,{page-faults}}': groups cannot be nested" stat -e '{cs,{page-faults}}' -- true
  expect 2 "'{{cs}}': groups cannot be nested" stat -e '{{cs}}' -- true
  expect 2 "':u': a group takes no modifier" stat -e '{page-faults,cs}:u' -- true
  expect 2 "an event is missing" stat -e '{}' -- true
}

@test "perf's letters -A and -j and its --timeout do what --per-cpu, --json and --duration do" {
  "$TALLY" stat -a -A -j --timeout 50 -e page-faults >rows
  [ "$(grep -c '"id":"cpu=' rows)" -eq "$(nproc --all)" ] || [ "$(grep -c '"id":"cpu=' rows)" -eq "$(nproc)" ]
  expect 2 "--timeout: invalid value 'x' (expected milliseconds" stat --timeout x -e cs -a
}
