#!/bin/bash
# run.sh [-q] - tally beside bpftrace: what a user waits for, and what a traced program pays.
#
# The two run in turn on the same work, medians are compared, and each target is said to be met or not.  Exit 1 when
# one is not.  -q: a tenth of the work, for a quick look (the start then weighs more in the figure per record).
# As root; three sysctls are changed and put back: BPF statistics on, and the limit on samples per second off, since
# it would silently drop firings of both.
#
#   start    from fork to exit          record   a million printf records, whole run
#   firing   time in the BPF program, per firing, as the kernel counts it
#   wall     what the traced loop's page faults cost above the same loop untraced
#   user     time in the programs of user code, per firing, as the kernel counts it
#   address  a key with a user address, which keeps what it meant, beside one of the same words without
#   language what naming a type of the kernel, a translator and a user's string costs
set -u
cd "$(dirname "$0")/.." || exit 1
runs=20 rounds=5 faults=1000000
[ "${1:-}" = -q ] && runs=5 rounds=3 faults=100000
[ "$(id -u)" -eq 0 ] || { echo "bench/run.sh: needs root" >&2; exit 4; }
command -v bpftrace >/dev/null || { echo "bench/run.sh: no bpftrace (tools/deps.sh bench)" >&2; exit 3; }

# Two at once would disturb each other, and the second would take the first one's sysctls for the machine's own.
exec 9>build/bench/lock
flock -n 9 || { echo "bench/run.sh: another run is under way" >&2; exit 1; }

work=$(mktemp -d)
tracer=
stats=$(sysctl -n kernel.bpf_stats_enabled) rate=$(sysctl -n kernel.perf_event_max_sample_rate)
percent=$(sysctl -n kernel.perf_cpu_time_max_percent)
# The kernel takes a rate only while the percentage is neither 0 nor 100.
put_back() {
  [ -n "$tracer" ] && kill -KILL "$tracer" 2>/dev/null
  sysctl -q -w kernel.perf_cpu_time_max_percent=50 kernel.perf_event_max_sample_rate="$rate" \
    kernel.perf_cpu_time_max_percent="$percent" kernel.bpf_stats_enabled="$stats"
  rm -rf "$work"
}
trap put_back EXIT
trap 'exit 130' INT TERM
sysctl -q -w kernel.perf_cpu_time_max_percent=50 kernel.perf_event_max_sample_rate=100000000 \
  kernel.perf_cpu_time_max_percent=0 || exit 1

tally=${TALLY:-build/tally} pf=build/prog/pf
trace=("$tally" trace -q -x dcpc_min_overflow=1)
event='cpc:::page_faults-all-1'
soft='software:page-faults:1'
. bench/table.sh

median() { sort -n | awk '{ v[NR] = $1 } END { print NR ? v[int((NR + 1) / 2)] : "nan" }'; }
row() { figure "$1" "$2" "$4" "$3" bpftrace "<= $5 x"; }   # WHAT TALLY BPFTRACE UNIT RATIO
bound() { figure "$1" "$2" "$4" - "" "<= $3"; }           # WHAT VALUE LIMIT UNIT
note() { figure "$1" "$2" "$3" - "" -; }                  # WHAT VALUE UNIT

# ---- start ------------------------------------------------------------------------------------------
start() { # WHAT LIMIT DSCRIPT BSCRIPT
  build/bench/bench "$runs" -- "${trace[@]}" -n "$3" -- bpftrace -e "$4" >"$work/start"
  grep -q failed "$work/start" && { echo "$1: a run failed"; missed=$((missed + 1)); return; }
  row "$1" "$(awk 'NR == 1 { print $1 / 1e6 }' "$work/start")" "$(awk 'NR == 2 { print $1 / 1e6 }' "$work/start")" ms "$2"
}

# ---- firing and wall ----------------------------------------------------------------------------------
# Time and count of the perf event programs that a process holds: "ns count".
program_time() {
  cat /proc/"$1"/fdinfo/* 2>/dev/null | awk '
    $1 == "prog_type:" { perf = $2 == 7 } $1 == "run_time_ns:" && perf { ns += $2 } $1 == "run_cnt:" && perf { n += $2 }
    END { printf "%.0f %.0f\n", ns, n }'
}
# Without random addresses, so that a string of the loop's is where it was.
still=(setarch -R)
loop() { "${still[@]}" taskset -c 1 "$pf" "$faults" | awk '{ print $4 }'; }   # ns per fault; the tracer gets CPU 0
[ "$(nproc)" -gt 1 ] || loop() { "${still[@]}" "$pf" "$faults" | awk '{ print $4 }'; }

# Some tracers wait for their buffers before they listen, now and then for ever.
end_tracer() {
  local i
  kill -TERM "$tracer" 2>/dev/null
  for ((i = 0; i < 200; i++)); do kill -0 "$tracer" 2>/dev/null || break; sleep 0.05; done
  [ $i -lt 200 ] || { echo "$1 did not end in ten seconds: killed"; kill -KILL "$tracer"; }
  wait "$tracer" 2>/dev/null
  tracer=
}

# Starts the tracer, waits until its program fires, runs the loop, ends it.  Appends to $work/NAME.firing and .wall.
traced() { # NAME COMMAND...
  local name=$1 before after i=0
  shift
  taskset -c 0 "$@" >"$work/$name.out" 2>"$work/$name.err" &
  tracer=$!
  until [ "$(program_time $tracer | awk '{ print $2 }')" -gt 0 ]; do
    i=$((i + 1))
    if [ $i -gt 200 ] || ! kill -0 $tracer 2>/dev/null; then
      echo "$name did not start: $(head -n 3 "$work/$name.err")" >&2
      end_tracer "$name"
      return 1
    fi
    "${still[@]}" "$pf" 100 >/dev/null
    sleep 0.05
  done
  before=$(program_time $tracer)
  loop >>"$work/$name.wall"
  after=$(program_time $tracer)
  echo "$before $after" | awk '$4 > $2 { print ($3 - $1) / ($4 - $2) }' >>"$work/$name.firing"
  end_tracer "$name"
}
above() { # NAME: median wall per fault above the untraced loop
  awk -v a="$(median <"$work/$1.wall")" -v b="$(median <"$work/none.wall")" 'BEGIN { print a - b }'
}
# What the aggregation says it counted for pf (pages of the loop and a few of its start), of all rows.
counted() { awk '{ for (i = NF; i > 0; i--) if ($i ~ /^[0-9]+$/) { n += $i; break } } END { print n + 0 }' "$work/$1.out"; }

losses() { awk 'tolower($0) ~ /lost|drop|stack id/ { print substr($0, 1, 160) }' "$work/$1.err"; }    # NAME: what it says itself

# The kernel's statistics cost time themselves, but the same for all three.
compare() { # NAME FIRING-LIMIT D-ACTION B-ACTION
  local r
  rm -f "$work"/*.wall "$work"/*.firing
  for r in $(seq "$rounds"); do
    loop >>"$work/none.wall"
    sysctl -q -w kernel.bpf_stats_enabled=1
    traced tally "${trace[@]}" -n "$event { $3 }" || return 1
    traced bpftrace bpftrace -e "$soft { $4 }" || return 1
    traced bare build/bench/bare || return 1
  done
  row "$1: firing" "$(median <"$work/tally.firing")" "$(median <"$work/bpftrace.firing")" ns "$2"
  note "$1: firing, empty program" "$(median <"$work/bare.firing")" ns
  row "$1: wall above the bare fault" "$(above tally)" "$(above bpftrace)" ns 1
  note "$1: wall, empty program" "$(above bare)" ns
  figure "$1: counted" "$(counted tally)" "" "$(counted bpftrace)" bpftrace -
  losses tally
  losses bpftrace
}

# ---- user addresses -----------------------------------------------------------------------------------------
# With FORMER=DIR (bench/table.sh) that tally's firings and starts are measured in turn, too.
address='@[ufunc(arg1)] = count();' plain='@[arg1, pid] = count();' user_event='cpc:::page_faults-user-1'
minus() { awk -v a="$1" -v b="$2" 'BEGIN { print a - b }'; }
bpf_count() { # D-ACTION: its instructions
  "${trace[@]}" -n "$event { $1 }" --dump=bpf | awk '$1 + 0 > n { n = $1 + 0 } END { print n + 1 }'
}
# A program without user addresses has no instruction more than it had before addresses were kept so.
bpf_row() { figure "$1: BPF instructions" "$(bpf_count "$1")" "" "$2" before "<= 1 x"; } # D-ACTION BEFORE
start_above() { # WHAT LIMIT D-CLAUSE TALLY ITS-CLAUSE: medians of many starts, in turn
  build/bench/bench $((2 * runs)) -- "${trace[@]}" -n "BEGIN { exit(0); } $3" -- "$4" "${trace[@]:1}" -n "BEGIN { exit(0); } $5" \
    >"$work/start"
  grep -q failed "$work/start" && { echo "$1: a run failed"; missed=$((missed + 1)); return; }
  bound "$1" "$(awk '{ v[NR] = $1 / 1e6 } END { print v[1] - v[2] }' "$work/start")" "$2" ms
}
addresses() {
  local r former=${FORMER:-}/build/tally
  bpf_row '@[execname] = count();' 53
  bpf_row '@[pid, arg1] = sum(cpu);' 57
  bpf_row 'printf("%d %s", pid, execname);' 47 # 45, and two that clear what the kernel's helper leaves behind the NUL
  rm -f "$work"/*.wall "$work"/*.firing
  [ -x "$former" ] || former=
  for r in $(seq "$rounds"); do
    sysctl -q -w kernel.bpf_stats_enabled=1
    [ -z "$former" ] || traced former "$former" "${trace[@]:1}" -n "$user_event { $address }" || return 1
    traced address "${trace[@]}" -n "$user_event { $address }" || return 1
    traced plain "${trace[@]}" -n "$user_event { $plain }" || return 1
  done
  sysctl -q -w kernel.bpf_stats_enabled="$stats"
  bound "address: firing above a plain key" "$(minus "$(median <"$work/address.firing")" "$(median <"$work/plain.firing")")" 40 ns
  [ -z "$former" ] ||
    bound "address: firing above the former" "$(minus "$(median <"$work/address.firing")" "$(median <"$work/former.firing")")" 40 ns
  start_above "address: start above a plain key" 10 "$user_event { $address }" "${trace[0]}" "$user_event { $plain }"
  if [ -n "$former" ]; then
    start_above "address: start above the former" 10 "$user_event { $address }" "$former" "$user_event { $address }"
    start_above "start: @[execname] above the former" 1 "$event { @[execname] = count(); }" "$former" "$event { @[execname] = count(); }"
  fi
}

# ---- the language -----------------------------------------------------------------------------------------
# A start in instructions of user space, which no neighbour changes; a translated member beside what it stands for; and what a
# firing takes longer because of a string of the process, beside the kernel's helper alone.
member_row() { figure "$1: BPF instructions" "$(bpf_count "@[$1] = count();")" "" "$(bpf_count "@[$2] = count();")" "$2" "<= 1 x"; }
language() {
  local r empty at mine='/execname == "pf"/'
  empty=$(instructions "${trace[@]}" -n 'BEGIN { exit(0); }')
  bound "start: BEGIN { exit(0); }: instructions" "$empty" 1166490 ""
  figure "start: curthread->pid: instructions" "$(instructions "${trace[@]}" -n 'BEGIN { trace(curthread->pid); exit(0); }')" "" \
    "$empty" "an empty script" "<= 8 x"
  member_row 'curpsinfo->pr_pid' 'curthread->tgid'
  member_row 'curpsinfo->pr_ppid' 'curthread->real_parent->tgid'
  member_row 'curpsinfo->pr_fname' 'curthread->group_leader->comm'
  at=$("${still[@]}" "$pf" address) || return 1
  rm -f "$work"/*.wall "$work"/*.firing
  for r in $(seq "$rounds"); do
    sysctl -q -w kernel.bpf_stats_enabled=1
    traced string "${trace[@]}" -n "$event $mine { this->n = 1; copyinstr($at); }" || return 1
    traced plain "${trace[@]}" -n "$event $mine { this->n = 1; }" || return 1
    traced helper build/bench/bare "$at" || return 1
    traced bare build/bench/bare 0 || return 1
  done
  sysctl -q -w kernel.bpf_stats_enabled="$stats"
  figure "copyinstr() of 40 bytes: firing above one without" "$(minus "$(median <"$work/string.firing")" "$(median <"$work/plain.firing")")" ns \
    "$(minus "$(median <"$work/helper.firing")" "$(median <"$work/bare.firing")")" "the bare helper" "<= 1.2 x"
}

# ---- counters ---------------------------------------------------------------------------------------------
# What counter() and vcounter() add to a firing, beside the kernel's helpers alone; and a switch of threads for what is
# kept of them, which vcounter() alone asks for.
counters() {
  local r what
  rm -f "$work"/*.wall "$work"/*.firing
  for r in $(seq "$rounds"); do
    sysctl -q -w kernel.bpf_stats_enabled=1
    traced empty build/bench/bare || return 1
    traced plain "${trace[@]}" -n "$event { this->n = 1; }" || return 1
    for what in counter thread; do
      traced "helper_$what" build/bench/bare $what || return 1
    done
    traced counter "${trace[@]}" -n "$event { this->n = counter(\"page-faults\"); }" || return 1
    traced thread "${trace[@]}" -n "$event { this->n = vcounter(\"page-faults\"); }" || return 1
  done
  sysctl -q -w kernel.bpf_stats_enabled="$stats"
  for what in counter thread; do
    figure "$([ $what = thread ] && echo v)counter(): firing above one without" \
      "$(minus "$(median <"$work/$what.firing")" "$(median <"$work/plain.firing")")" ns \
      "$(minus "$(median <"$work/helper_$what.firing")" "$(median <"$work/empty.firing")")" "the bare helpers" "<= 1.3 x"
  done
}

# ---- records --------------------------------------------------------------------------------------------
# A whole run with -c, output to a file: what a user waits for.  Prints seconds.
seconds() { local t0=$EPOCHREALTIME; "$@"; local t1=$EPOCHREALTIME; awk -v a="$t0" -v b="$t1" 'BEGIN { print b - a }'; }
printed() { # TRACER FAULTS: a record for each fault
  case $1 in
  none) "$pf" "$2" ;;
  tally) "${trace[@]}" -o "$work/tally.out" -c "$pf $2" -n "$event { printf(\"%d %s\\n\", pid, execname); }" ;;
  bpftrace) bpftrace -o "$work/bpftrace.out" -c "$pf $2" -e "$soft { printf(\"%d %s\\n\", pid, comm); }" ;;
  esac 2>"$work/$1.err"
}
# Median of the seconds that a traced run took longer than the bare one of its round.
beyond() { paste "$work/$1.s" "$work/none.s" | awk 'NF == 2 { print $1 - $2 }' | median; }
round() { local t; for t in "${@:2}"; do seconds printed "$t" "$1" | tail -n 1 >>"$work/$t.s"; done; }

# The machine's own speed wanders within seconds by more than a record costs: for the cost of one, many short runs are
# each held against the bare run just before.  They are not so short that tally's start counts for a tenth of it.
records() {
  local r bare lines short=200000
  rm -f "$work"/*.s
  for r in 1 2 3; do round "$faults" none tally bpftrace; done
  lines=$(grep -c ' pf$' "$work/tally.out")
  bare=$(median <"$work/none.s")
  # Where the faults alone take more than the sixth, no tracer could meet that: then what they add is compared.
  if awk -v a="$bare" -v b="$(median <"$work/bpftrace.s")" 'BEGIN { exit !(6 * a < b) }'; then
    row "records: whole run" "$(median <"$work/tally.s")" "$(median <"$work/bpftrace.s")" s 0.16667
  else
    note "records: whole run, tally" "$(median <"$work/tally.s")" s
    note "records: whole run, bpftrace" "$(median <"$work/bpftrace.s")" s
    note "records: untraced, over a sixth of bpftrace's" "$bare" s
    row "records: what tracing adds" "$(beyond tally)" "$(beyond bpftrace)" s 0.16667
  fi
  bound "records: lost" $((lines < faults ? faults - lines : 0)) 0 ""
  note "records: lines of bpftrace" "$(grep -c ' pf$' "$work/bpftrace.out")" ""
  losses bpftrace
  rm -f "$work"/*.s
  for r in $(seq $((rounds * 5))); do round "$short" none tally; done
  bound "records: ns each above the bare fault" "$(beyond tally | awk -v n="$short" '{ print $1 * 1e9 / n }')" 300 ns
}

# ---- system calls -----------------------------------------------------------------------------------------
# What a call costs above the same call untraced.  bpftrace counts by number: this one has no names there.
calls=build/prog/calls
counts_calls() { # TRACER CALLS
  case $1 in
  none) "$calls" loop "$2" ;;
  tally) "${trace[@]}" -n 'syscall:::entry { @[probefunc] = count(); }' -c "$calls loop $2" ;;
  bpftrace) bpftrace -e 'tracepoint:raw_syscalls:sys_enter { @[args->id] = count(); }' -c "$calls loop $2" ;;
  esac 2>"$work/$1.err" | grep -E '^[0-9]+[.][0-9]$' | head -n 1 >>"$work/$1.calls"
}
calls() {
  local r t
  build/bench/bench "$runs" -- "${trace[@]}" -n 'BEGIN { exit(0); } syscall:::entry { @[probefunc] = count(); }' >"$work/start"
  bound "start: syscall:::entry { @[probefunc] = count(); }" "$(awk 'NR == 1 { print $1 / 1e6 }' "$work/start")" 12 ms
  if ! bpftrace -l 'tracepoint:raw_syscalls:sys_enter' 2>/dev/null | grep -q .; then
    echo "bpftrace finds no tracepoints of system calls: mount -t tracefs none /sys/kernel/tracing"
    return 1
  fi
  for r in $(seq "$rounds"); do for t in none tally bpftrace; do counts_calls $t "$faults"; done; done
  for t in none tally bpftrace; do mv "$work/$t.calls" "$work/$t.wall"; done
  row "syscall:::entry: wall above the bare call" "$(above tally)" "$(above bpftrace)" ns 0.75
}

# ---- switches of threads -----------------------------------------------------------------------------------
# What a switch costs above the same switch untraced, in the best of many short turns: others run meanwhile, and a program's
# own time leaves out what the kernel does to get to it.
tasks=build/prog/tasks
pings() { # TRACER COMMAND...
  local name=$1
  shift
  "$@" 2>"$work/$name.err" | grep -E '^[0-9]+[.][0-9]$' | head -n 1 >>"$work/$name.wall"
}
switches() { # NAME D B
  local r
  rm -f "$work"/*.wall
  for r in $(seq "$rounds"); do
    pings none "$tasks" pings 40000
    pings tally "${trace[@]}" -n "$2" -c "$tasks pings 40000"
    pings bpftrace timeout 60 bpftrace -e "$3" -c "$tasks pings 40000"
  done
  row "$1: a switch above the bare one" "$(above tally)" "$(above bpftrace)" ns 1
}
sched() {
  if ! bpftrace -l 'tracepoint:sched:sched_switch' 2>/dev/null | grep -q .; then
    echo "bpftrace finds no tracepoints of the scheduler: mount -t tracefs none /sys/kernel/tracing"
    return 1
  fi
  switches 'off-cpu { @[stack()] = count() }' 'sched:::off-cpu { @[stack()] = count(); }' 'tracepoint:sched:sched_switch { @[kstack] = count(); }'
  switches 'off-cpu { @[ustack()] = count() }' 'sched:::off-cpu { @[ustack()] = count(); }' 'tracepoint:sched:sched_switch { @[ustack] = count(); }'
  # bpftrace knows no stack of the thread that comes, so it keeps that of the one that goes.
  switches 'off-cpu to on-cpu { @[stack()] = sum(time) }' \
    'sched:::off-cpu { self->ts = timestamp; } sched:::on-cpu /self->ts/ { @[stack()] = sum(timestamp - self->ts); self->ts = 0; }' \
    'tracepoint:sched:sched_switch { @ts[args->prev_pid] = nsecs; @at[args->prev_pid] = kstack; $s = @ts[args->next_pid]; if ($s) { @[@at[args->next_pid]] = sum(nsecs - $s); delete(@ts[args->next_pid]); } }'
}

# ---- user code: time in the BPF programs, per firing, as the kernel counts it -------------------------------------
# The programs of places in processes that a process holds; nothing before they fired often enough.
user_time() { # PID
  cat /proc/"$1"/fdinfo/* 2>/dev/null | awk '
    $1 == "prog_type:" { user = $2 == 2 } $1 == "run_time_ns:" && user { ns += $2 } $1 == "run_cnt:" && user { n += $2 }
    END { if (n >= 100000) print ns / n }'
}
user_firing() { # NAME COMMAND...
  local name=$1 ns= i
  shift
  "$@" >"$work/$name.out" 2>"$work/$name.err" &
  tracer=$!
  for ((i = 0; i < 400 && ${#ns} == 0; i++)); do
    sleep 0.05
    ns=$(user_time $tracer)
  done
  echo "${ns:-nan}" >>"$work/$name.user"
  end_tracer "$name"
}
user_row() { # WHAT COMMAND D B
  local r
  rm -f "$work"/*.user
  for r in $(seq "$rounds"); do
    user_firing tally "${trace[@]}" -c "$2" -n "$3"
    user_firing bpftrace bpftrace -c "$2" -e "$4"
  done
  row "$1: firing" "$(median <"$work/tally.user")" "$(median <"$work/bpftrace.user")" ns 1
}
users() {
  local functions usdt=$work/usdt
  functions=$(realpath build/prog/functions)
  user_row 'pid: @ = count() at entry' "$functions 4000000" 'pid$target:a.out:step:entry { @ = count(); }' "uprobe:$functions:step { @ = count(); }"
  user_row 'pid: time from entry to return' "$functions 4000000" \
    'pid$target:a.out:step:entry { self->t = timestamp; } pid$target:a.out:step:return /self->t/ { @ = quantize(timestamp - self->t); self->t = 0; }' \
    "uprobe:$functions:step { @t[tid] = nsecs; } uretprobe:$functions:step /@t[tid]/ { @ = hist(nsecs - @t[tid]); delete(@t[tid]); }"
  command -v cc >/dev/null || { echo "no C compiler for a program with static probes"; return 1; }
  echo 'provider app { probe req(int); };' >"$usdt.d"
  "$tally" trace -h -s "$usdt.d" -o "$usdt.h"
  printf '#include "usdt.h"\nint main(void)\n{\n\tfor (int i = 0; i < 8000000; i++)\n\t\tAPP_REQ(i);\n}\n' >"$usdt.c"
  cc -O2 -o "$usdt" "$usdt.c" || return 1
  user_row 'usdt: @[arg0 & 3] = count()' "$usdt" 'app$target:::req { @[arg0 & 3] = count(); }' "usdt:$usdt:app:req { @[arg0 & 3] = count(); }"
}

figure_head "medians, taken in turn"
start "start: BEGIN { exit(0); }" 0.02 'BEGIN { exit(0); }' 'BEGIN { exit(); }'
start "start: @[execname] = count() on page faults" 0.028571 \
  "BEGIN { exit(0); } $event { @[execname] = count(); }" "BEGIN { exit(); } $soft { @[comm] = count(); }"
compare "@[execname] = count()" 0.75 '@[execname] = count();' '@[comm] = count();' || missed=$((missed + 1))
compare "@[ustack()] = count()" 1 '@[ustack()] = count();' '@[ustack()] = count();' || missed=$((missed + 1))
addresses || missed=$((missed + 1))
language || missed=$((missed + 1))
counters || missed=$((missed + 1))
rm -f "$work"/*.wall
calls || missed=$((missed + 1))
sched || missed=$((missed + 1))
build/bench/bench "$runs" -- "$tally" trace -l >"$work/start"
bound "start: -l of all providers" "$(awk 'NR == 1 { print $1 / 1e6 }' "$work/start")" 300 ms
build/bench/bench "$runs" -- "$tally" trace -ln 'syscall:::' -- "${trace[@]}" -n 'BEGIN { exit(0); }' >"$work/start"
figure "start: -ln syscall:::" "$(awk 'NR == 1 { print $1 / 1e6 }' "$work/start")" ms "$(awk 'NR == 2 { print $1 / 1e6 }' "$work/start")" \
  "an empty script" "<= 10 x"
sysctl -q -w kernel.bpf_stats_enabled=1
users || missed=$((missed + 1))
sysctl -q -w kernel.bpf_stats_enabled="$stats"
records
figure_end
