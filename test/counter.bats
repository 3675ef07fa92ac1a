#!/usr/bin/env bats
# counter() and vcounter(): what performance counters have counted, at any probe.

bats_require_minimum_version 1.5.0
load common

# refused STATUS PATTERN
refused() { [ "$status" -eq "$1" ] && [[ $output == $2 ]] || { echo "status $status: $output"; return 1; }; }
trace() { "$TALLY" trace -x quiet "$@"; }

# Of each round of the program `threads`: how far vcounter() is from what the kernel has counted of the thread itself.
rounds='
syscall::getppid:entry /pid == $target/ {
	self->faults = vcounter("page-faults") - (curthread->min_flt + curthread->maj_flt);
	self->switches = vcounter("context-switches") - (curthread->nvcsw + curthread->nivcsw);
	self->on = 1;
}
syscall::gettid:entry /self->on/ {
	self->on = 0;
	@["faults", (int64_t)(vcounter("page-faults") - (curthread->min_flt + curthread->maj_flt) - self->faults)] = count();
	@["switches", (int64_t)(vcounter("context-switches") - (curthread->nvcsw + curthread->nivcsw) - self->switches)] = count();
}
END { printa("%s %d %@d\n", @); }'

@test "vcounter() of 16 threads that are preempted and migrate is what the kernel counts of each thread, less what is told as lost" {
  needs_bpf
  run --separate-stderr trace -n "$rounds" -c "$PROGS/threads 16 50 200"
  [ "$status" -eq 0 ]
  grep -q '^160000 faults in 800 rounds$' <<<"$output"
  local lost=0
  [ -z "$stderr" ] || lost=$(sed -nE 's/^tally: ([0-9]+) time slices? of threads lost to vcounter\(\): not every switch was seen$/\1/p' <<<"$stderr" | paste -sd+ | bc)
  awk -v lost="$lost" '$1 == "faults" || $1 == "switches" { n[$1] += $3; off += $2 != 0 ? $3 : 0; above += $2 > 0 }
    END { if (n["faults"] != 800 || n["switches"] != 800 || above || off > lost || off > 80) { print "rounds " n["faults"] ", " off " off, " lost " told"; exit 1 } }' <<<"$output"
}

# A thread's read of its own counters lies between two of vcounter(); where those are equal, all three are of one moment.  From one
# such moment to the next both grow by the same, but for what was lost between them.
beside_perf='
self int64_t p; self int64_t v; self int64_t s;
syscall::read:entry /pid == $target && arg2 == 40/ { self->buf = arg1; self->s = vcounter("EVENT"); }
syscall::read:return /self->buf && vcounter("EVENT") == self->s/ {
	this->p = (int64_t)((uint64_t *)copyin(self->buf, 40))[SLOT];
	this->by = self->v ? this->p - self->p - (self->s - self->v) : 0;
	@moments = count(); @unequal = sum(this->by != 0); @above = sum(this->by < 0); self->p = this->p; self->v = self->s;
}
END { printa("%@d %@d %@d\n", @moments, @unequal, @above); }'

@test "vcounter() of 16 threads that are preempted and migrate is what perf counts of each, in a storm of calls, less what is told as lost" {
  needs_bpf
  local slot=1 event storm lost d
  "$PROGS/calls" loop 1000000000 >/dev/null 3>&- &
  storm=$!
  for event in page-faults context-switches; do
    d=${beside_perf//EVENT/$event}
    run --separate-stderr trace -n "${d/SLOT/$slot}" -c "$PROGS/threads -p 16 50 200"
    slot=2 lost=$(sed -nE 's/^tally: ([0-9]+) time slices? of threads lost to vcounter.*/\1/p' <<<"$stderr" | awk '{ n += $1 } END { print n + 0 }')
    [ "$status" -eq 0 ] && tail -n 1 <<<"$output" | awk -v lost="$lost" '{ exit !($1 > 1200 && $2 <= lost && $3 == 0) }' ||
      { kill $storm; echo "$event: $output, lost $lost"; return 1; }
  done
  kill $storm
}

@test "vcounter() of a new thread is all that the thread has counted, also where nobody asked for it before" {
  needs_bpf
  run --separate-stderr trace -c "$PROGS/threads 8 20 100" \
    -n 'syscall::exit:entry /pid == $target/ { @ = count(); @far = max((int64_t)(curthread->min_flt + curthread->maj_flt - vcounter("page-faults"))); }' \
    -n 'syscall::exit:entry /pid == $target && vcounter("page-faults") > curthread->min_flt + curthread->maj_flt/ { @above = count(); }' \
    -n 'END { printa("threads %@d\n", @); printa("above %@d\n", @above); printa("far %@d\n", @far); }'
  [ "$status" -eq 0 ]
  grep -qx 'threads 8' <<<"$output"
  ! grep -q '^above' <<<"$output" || return 1
  [[ $stderr == *"time slice"*"lost to vcounter()"* ]] || grep -qE '^far [01]$' <<<"$output"
}

@test "vcounter() at the tracepoint of a switch is what the thread that leaves has counted, and loses nothing" {
  needs_bpf
  run --separate-stderr trace -c "$PROGS/threads 8 20 100" \
    -n 'syscall::getppid:entry /pid == $target/ { self->seen = vcounter("page-faults") - (curthread->min_flt + curthread->maj_flt) + 1; }' \
    -n 'rawtp:::sched_switch /pid == $target && self->seen/ { @off[(int64_t)(vcounter("page-faults") - (curthread->min_flt + curthread->maj_flt) - self->seen + 1)] = count(); }' \
    -n 'END { printa("off %d %@d\n", @off); }'
  [ "$status" -eq 0 ]
  grep -qE '^off 0 [1-9][0-9]+$' <<<"$output"
  # A thread that leaves in the middle of a fault has it in the event, and not yet in its own count.
  [[ $stderr == *"time slice"*"lost to vcounter()"* ]] || ! grep -E '^off ' <<<"$output" | grep -vE '^off [01] '
}

# What the program cputime's threads do, see there: off, by how much vtimestamp is below what the kernel says a moment later.
computes='
syscall::getppid:entry /pid == $target/ { self->from = vtimestamp; }
syscall::getuid:entry /self->from/ { self->v = vtimestamp; }
syscall::gettid:entry /self->v/ {
	@off[(int64_t)arg0 - (int64_t)self->v < 100000 && (int64_t)self->v - (int64_t)arg0 < 100000 ? "near" : "far"] = count();
	self->v = self->from = 0;
}
syscall::getsid:entry /pid == $target/ { self->wait = vtimestamp; self->t = timestamp; }
syscall::getpgid:entry /self->wait/ { @cpu = sum(vtimestamp - self->wait); @wall = sum(timestamp - self->t); @waits = count(); }
END { printa("%s %@d\n", @off); printa("cpu %@d\n", @cpu); printa("wall %@d\n", @wall); printa("waits %@d\n", @waits); }'

@test "vtimestamp counts what a thread computed since the last tick, and nothing while it waits" {
  needs_bpf
  run trace -n "$computes" -c "$PROGS/cputime 200 500"
  [ "$status" -eq 0 ]
  awk '{ n[$1] = $2 } END { if (n["near"] + n["far"] != 200 || n["near"] < 150 || n["waits"] < 150 || n["wall"] < n["waits"] * 500000 || n["cpu"] > n["wall"] / 4)
    { print "near " n["near"] ", far " n["far"] ", waiting: " n["cpu"] " of " n["wall"]; exit 1 } }' <<<"$output"
}

@test "vtimestamp never goes back within a thread, whatever fires" {
  needs_bpf
  local all='syscall:::entry,syscall:::return,rawtp:::sched_switch,profile-997'
  run trace -n "self uint64_t last; $all /execname == \"threads\" && self->last > vtimestamp/ { @back = count(); }" \
    -n "$all /execname == \"threads\"/ { self->last = vtimestamp; @[probename] = count(); } END { printa(\"back %@d\n\", @back); printa(\"%s %@d\n\", @); }" \
    -c "$PROGS/threads 8 20 100"
  [ "$status" -eq 0 ]
  grep -qE '^entry [0-9]{3}' <<<"$output"
  grep -qE '^sched_switch [0-9]{3}' <<<"$output"
  ! grep '^back' <<<"$output"
}

@test "vtimestamp at on-cpu and off-cpu tells how long the thread was on its CPU" {
  needs_bpf
  # A thread that nobody preempts has come to its CPU under the name that it had before it became the program.
  run trace -n 'sched:::on-cpu { self->v = vtimestamp; self->t = timestamp; }' \
    -n 'sched:::off-cpu /execname == "cputime" && tid == pid && self->t/ { @v = sum(vtimestamp - self->v); @t = sum(timestamp - self->t); self->t = 0; }' \
    -n 'syscall::gettid:entry /execname == "cputime"/ { @told = max(arg0); }' \
    -n 'END { printa("v %@d\n", @v); printa("t %@d\n", @t); printa("told %@d\n", @told); }' -c "$PROGS/cputime 200 500"
  [ "$status" -eq 0 ]
  awk '{ n[$1] = $2 } END { if (n["told"] < 1 || n["v"] < 0.8 * n["told"] || n["v"] > 1.2 * n["told"] || n["v"] < 0.7 * n["t"] || n["v"] > 1.3 * n["t"])
    { print "v " n["v"] ", t " n["t"] ", told " n["told"]; exit 1 } }' <<<"$output"
}

@test "switches of threads are watched only where a program names vtimestamp or vcounter()" {
  needs_bpf
  links() { trace -w -n "BEGIN { n = $1; system(\"cat /proc/%d/fdinfo/* | grep -c link_id\", pid); exit(0); }"; }
  [ "$(links timestamp)" -eq 0 ]
  [ "$(links vtimestamp)" -eq 1 ]
}

@test "counter() is what this CPU counts, also of others: never less than the thread's own" {
  needs_bpf
  run trace -c "taskset 1 $PROGS/threads 1 20 500" \
    -n 'syscall::getppid:entry /execname == "threads" && progenyof($target)/ { self->c = counter("page-faults"); self->k = curthread->min_flt; self->cpu = cpu; }' \
    -n 'syscall::gettid:entry /self->k && self->cpu == cpu/ { @[counter("page-faults") - self->c >= curthread->min_flt - self->k ? "enough" : "too few"] = count(); self->k = 0; }' \
    -n 'END { printa("%s %@d\n", @); }'
  [ "$status" -eq 0 ]
  grep -q '^enough [0-9]' <<<"$output"
  ! grep -q '^too few' <<<"$output"
}

@test "counter() counts in BEGIN and END, and a predicate can ask it" {
  needs_bpf
  run trace -n 'BEGIN { started = counter("cpu-clock"); exit(0); }' -n 'END /counter("cpu-clock") > started && started > 0/ { printf("it goes on"); }'
  said 0 "it goes on"
}

@test "an event that counter() can't count is refused with the nearest name, before anything runs" {
  run trace -x errtags -n 'BEGIN { printf("%d", counter("page-falts")); }'
  said 1 'tally: invalid probe specifier BEGIN { printf("%d", counter("page-falts")); }: [D_COUNTER_EVENT] in action list: counter( ): no event "page-falts"; did you mean page_faults?'
  run trace -x errtags -n 'BEGIN { trace(vcounter(execname)); }'
  refused 1 '*D_PROTO_ARG*vcounter( ) argument #1 is incompatible with prototype:*prototype: string constant*'
  run trace -x errtags -n 'BEGIN { trace(vcounter("page-faults", 1)); }'
  refused 1 '*D_PROTO_LEN*'
}

@test "a program that reads more than 16 counters is refused" {
  local d=
  for e in page-faults page_faults page-faults:u page-faults:k page_faults-user page_faults-kernel page_faults-all context-switches cpu-clock \
    context_switches cpu_clock minor-faults major-faults minor_faults major_faults cpu-migrations cpu_migrations; do d+="trace(counter(\"$e\"));"; done
  run trace -n "BEGIN { $d }"
  refused 1 '*counter( ): the program reads more than 16 counters'
}

@test "without CPUs of this machine counter() is refused when the script is compiled" {
  run trace -x errtags --on vm -n 'BEGIN { trace(counter("page-faults")); }'
  refused 1 '*D_UNSUPPORTED*counter( ) reads counters of this machine*'
  run trace -x errtags --on power -n 'BEGIN { trace(vcounter("page-faults")); }'
  refused 1 '*D_UNSUPPORTED*vcounter( ) reads counters of this machine*'
}

@test "a hardware event that this machine can't count is refused with the reason" {
  needs_bpf
  ls /sys/bus/event_source/devices/cpu/type >/dev/null 2>&1 && skip "this machine has a PMU"
  run trace -n 'BEGIN { trace(counter("cycles")); }'
  said 3 'tally: failed to count "cycles"
tally: not supported on this machine (no hardware PMU)'
}
