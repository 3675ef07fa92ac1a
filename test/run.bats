#!/usr/bin/env bats
# Runs on this kernel: commands, processes, signals, exit statuses, formats of answers.
bats_require_minimum_version 1.5.0
load common

SLOW=cpc:::cpu_clock-all-1000000000

@test "page faults are counted by program" {
  needs_bpf
  run "$TALLY" trace -qn 'cpc:::page_faults-all-5000 /execname == "pf"/ { @[execname] = count(); }' -c "$PROGS/pf 100000"
  [ "$status" -eq 0 ]
  [[ "$output" =~ "  pf "\ *([0-9]+) ]]
  [ "${BASH_REMATCH[1]}" -ge 12 ] && [ "${BASH_REMATCH[1]}" -le 28 ]
}

@test "the matched line counts probes over all clauses" {
  needs_bpf
  run as_dtrace -n "$SLOW { @ = count(); } END { trunc(@); }" -c true
  [ "${lines[0]}" = "dtrace: description '$SLOW ' matched 2 probes" ]
}

@test "the command's status is ours" {
  needs_bpf
  for n in 0 1 7 255; do
    run "$TALLY" trace -qn "$SLOW" -c "sh -c 'exit $n'"
    [ "$status" -eq $n ]
  done
  run "$TALLY" trace -qn "$SLOW" -c 'sh -c "kill -9 \$\$"'
  [ "$status" -eq 137 ]
}

@test "-x evaltime says where in the command of -c tracing begins; as dtrace it is main(), else the exec" {
  needs_bpf
  mkdir -p "$BATS_TEST_TMPDIR/p"
  cp "$PROGS/early" "$BATS_TEST_TMPDIR/p/stripped"
  strip "$BATS_TEST_TMPDIR/p/stripped"
  counted='syscall::openat:entry /pid == $target/ { opened = 1; } syscall::write:entry /pid == $target/ { writes++; }
    END { printf("%d %d", opened, writes); }'
  for prog in "$PROGS/early" "$BATS_TEST_TMPDIR/p/stripped" "$PROGS/early 10"; do
    for row in "exec 1 2" "preinit 0 2" "postinit 0 1" "main 0 1"; do
      run as_dtrace -x evaltime="${row%% *}" -qn "$counted" -c "$prog"
      [ "$status" -eq 0 ]
      [ "${lines[-1]}" = "${row#* }" ] || { echo "$prog $row: $output"; return 1; }
    done
    run as_dtrace -qn "$counted" -c "$prog"
    [ "${lines[-1]}" = "0 1" ]
    run "$TALLY" trace -qn "$counted" -c "$prog"
    [ "${lines[-1]}" = "1 2" ]
  done
  run "$TALLY" trace -x evaltime=later -qn "$counted" -c true
  [ "$status" -eq 2 ]
  has "option evaltime takes exec, preinit, postinit or main"
}

@test "a command that cannot run gives 127 or 126" {
  needs_bpf
  run -127 "$TALLY" trace -qn "$SLOW" -c nosuchcommand
  has "tally: failed to start 'nosuchcommand': "
  run -126 "$TALLY" trace -qn "$SLOW" -c /etc/passwd
  run -1 as_dtrace -qn "$SLOW" -c nosuchcommand # dtrace(1) has 1 for it
  run -1 as_dtrace -x evaltime=exec -qn "$SLOW" -c /etc/passwd
  run "$TALLY" trace -qn "$SLOW" -c "'unfinished"
  [ "$status" -eq 1 ]
}

@test "of several exit(n) the first gives the status, END's after it" {
  run "$TALLY" trace --on=vm -qn 'BEGIN { exit(3); } BEGIN { exit(4); }'
  [ "$status" -eq 3 ]
  run "$TALLY" trace --on=vm -qn 'BEGIN { exit(3); } END { exit(5); }'
  [ "$status" -eq 5 ]
}

@test "a fault is told by line, and under the name dtrace by instruction" {
  run "$TALLY" trace --on=vm -qn 'BEGIN { trace(*(int *)8); }'
  [[ $output == *"invalid address (0x8) in action at line 1" ]]
  run as_dtrace --on=vm -qn 'BEGIN { trace(*(int *)8); }'
  [[ $output =~ "invalid address (0x8) at BPF pc "[1-9][0-9]*$ ]]
}

@test "exit(n) counts before the command's status" {
  needs_bpf
  run "$TALLY" trace -qn 'END { exit(5); }' -c 'sh -c "exit 7"'
  [ "$status" -eq 5 ]
  run "$TALLY" trace -qn 'BEGIN { exit(4); }' -c 'sleep 60'
  [ "$status" -eq 4 ]
}

@test "\$target is the command, and it starts after BEGIN" {
  needs_bpf
  run "$TALLY" trace -qn 'BEGIN { printf("%d\n", $target); }' -c 'sh -c "echo $$"'
  [ "$status" -eq 0 ]
  [ "${#lines[@]}" -eq 2 ] && [ "${lines[0]}" = "${lines[1]}" ]
}

@test "the run ends with the process of -p" {
  needs_bpf
  sleep 60 & pid=$!
  (sleep 1; kill $pid) &
  run timeout 20 "$TALLY" trace -qp $pid -n 'BEGIN { printf("%d\n", $target); }'
  [ "$status" -eq 0 ]
  [ "${lines[0]}" = "$pid" ]
  run "$TALLY" trace -qp $pid -n BEGIN
  [ "$status" -eq 1 ]
  has "tally: failed to grab pid $pid"
}

# interrupts SIGNAL: starts a trace that never ends by itself, sends the signal once it is up.
interrupts() {
  : >"$BATS_TEST_TMPDIR/out"
  "$TALLY" trace -qn 'BEGIN { printf("up\n"); } END { printf("end\n"); }' \
    >"$BATS_TEST_TMPDIR/out" 2>&1 3>&- & pid=$!
  until grep -q up "$BATS_TEST_TMPDIR/out"; do
    kill -0 $pid || return 1
    sleep 0.05
  done
  kill -"$1" $pid
  status=0
  wait $pid || status=$?
}

@test "SIGTERM ends the run: END fires, status 0" {
  needs_bpf
  interrupts TERM
  [ "$status" -eq 0 ]
  [ "$(grep . "$BATS_TEST_TMPDIR/out")" = "up
end" ]
}

@test "probes of several timers that end at once put new keys into an aggregation, and none is dropped" {
  needs_bpf
  probes=$(seq -s , -f 'profile-%g00' 1 12)
  for n in 1 2 3; do
    run "$TALLY" trace -q -n "$probes { @[probename] = count(); } tick-200ms { exit(0); }"
    [ "$status" -eq 0 ]
    [[ "$output" != *"aggregation drop"* ]] || { echo "$output"; return 1; }
    [ "$(grep -c '^ *profile-' <<<"$output")" -eq 12 ]
  done
}

@test "SIGINT ends the run: END fires, aggregations are printed, status 0" {
  needs_bpf
  # A background job of a shell ignores SIGINT, so a process of its own sends it.
  run timeout -s INT --preserve-status 2 "$TALLY" trace -qn 'BEGIN { @["k"] = count(); } END { printf("end\n"); }'
  [ "$status" -eq 0 ]
  [ "$(grep . <<<"$output")" = "end
  k                                                                 1" ]
}

@test "tick and profile fire" {
  needs_bpf
  run "$TALLY" trace -qn 'tick-10ms { n++; } tick-10ms /n == 5/ { printf("%d\n", n); exit(0); }'
  said 0 "5"
  run "$TALLY" trace -qn 'profile-997 { @ = count(); } tick-300ms { exit(0); }'
  [ "$status" -eq 0 ]
}

@test "stacks become folded stacks" {
  needs_bpf
  run "$TALLY" trace -qo "$BATS_TEST_TMPDIR/cpu.folded" -n 'profile-997 { @[execname, stack()] = count(); }' \
    -c "$PROGS/spin -k 10 3000000"
  [ "$status" -eq 0 ]
  [ -s "$BATS_TEST_TMPDIR/cpu.folded" ]
  ! grep -vE '^[^ ].* [0-9]+$' "$BATS_TEST_TMPDIR/cpu.folded" || return 1
}

@test "folded stacks: what the program prints goes to standard output, with one word about it" {
  folded=$BATS_TEST_TMPDIR/x.folded
  run --separate-stderr "$TALLY" trace --on vm -qo "$folded" \
    -n 'BEGIN { printf("one\n"); @a["k"] = sum(2); @a["k"] = sum(3); @b = count(); @c = max(4); printf("two\n"); exit(0); } END { printa(@a); }'
  [ "$status" -eq 0 ]
  [ "$output" = "one
two" ]
  [ "$stderr" = "tally: $folded holds the aggregations; what the program prints goes to standard output
tally: @c is left out: max() of a caller is not the sum of that of its callees" ]
  [ "$(cat "$folded")" = "@a;k 5
@b 1" ]
  run "$TALLY" trace --on vm -lo "$folded" -n BEGIN
  said 2 "tally: -o $folded holds aggregations: -l needs a file of another suffix, such as .txt"
}

@test "an image that is not permitted ends with status 4 and names the capability" {
  needs_bpf
  command -v setpriv >/dev/null || skip "no setpriv"
  cp "$TALLY" "$BATS_TEST_TMPDIR/tally"
  chmod 755 "$BATS_TEST_TMPDIR" "$BATS_TEST_TMPDIR/tally"
  run setpriv --reuid=65534 --clear-groups --inh-caps=-all "$BATS_TEST_TMPDIR/tally" trace -qn 'BEGIN { exit(0); }'
  [ "$status" -eq 4 ]
  has "cap_bpf"
}

@test "the kernel and the vm give the same answers" {
  needs_bpf
  program='BEGIN { a[1, "x"] = 7; a[2, "y"] = a[1, "x"] * 3; this->s = strjoin("ab", "cd");
    @q = quantize(a[2, "y"]); @l = lquantize(33, 0, 100, 10); @avg = avg(4); @avg = avg(9);
    printf("%d %s %d %s %s\n", a[2, "y"], this->s, strlen(this->s), substr("hello", 1, 3), basename("/a/b/c"));
    trace(7 / 2); trace(-7 % 3); exit(0); }'
  [ "$("$TALLY" trace -qn "$program")" = "$(vm -qn "$program")" ]
}

@test "a division by zero ends its clause, and ERROR fires" {
  needs_bpf
  program='BEGIN { x = 0; printf("%d\n", 1 / x); printf("not reached\n"); } ERROR { printf("error %d\n", arg4); exit(6); }'
  run "$TALLY" trace -qn "$program"
  [ "$status" -eq 6 ]
  has "error 4"
  [[ "$output" != *reached* ]]
  run vm -qn "$program"
  [ "$status" -eq 6 ]
  has "error 4"
}

@test "arg2 of ERROR is the number of the clause that faulted, as its message has it" {
  needs_bpf
  program='ERROR { printf("%d", arg2); } BEGIN { x = 0; } BEGIN { trace(1 / x); } BEGIN { exit(0); }'
  run --separate-stderr "$TALLY" trace -qn "$program"
  [ "$status" -eq 0 ]
  [ "${lines[0]}" = 2 ]
  [[ "$stderr" == *"dt_clause_2 "* ]]
  run --separate-stderr vm -qn "$program"
  [ "${lines[0]}" = 2 ]
}

@test "vtimestamp and ppid are read from the kernel" {
  needs_bpf
  run "$TALLY" trace -qn 'BEGIN { printf("%d %d\n", vtimestamp > 0, ppid > 0); exit(0); }'
  [ "$status" -eq 0 ]
  [ "${lines[0]}" = "1 1" ]
}

@test "-Z runs a script whose aggregation no probe feeds" {
  needs_bpf
  run "$TALLY" trace -qZn 'syscall:::entry { @ = count(); } BEGIN { printa(@); clear(@); trunc(@); exit(0); }'
  [ "$status" -eq 0 ]
}

# The kernel may take a page away at any time, so one run may see a fault; five in a row may not.
@test "a command's faults before its exec are not counted as its own" {
  needs_bpf
  for try in 1 2 3 4 5; do
    run "$TALLY" trace -qx dcpc_min_overflow=1 -n 'cpc:::page_faults-user-1 /pid == $target/ { @[execname] = count(); }' -c true
    [ "$status" -eq 0 ]
    has true
    [[ "$output" != *tally* ]] && return 0
  done
  echo "$output"
  return 1
}

@test "an interrupt that comes twice at once ends the run with its answers" {
  needs_bpf
  "$TALLY" trace -qn 'BEGIN { @ = sum(42); } BEGIN { printf("began\n"); }' >"$BATS_TEST_TMPDIR/out" 2>&1 &
  pid=$!
  until grep -q began "$BATS_TEST_TMPDIR/out"; do kill -0 $pid; done
  kill -TERM $pid
  kill -TERM $pid 2>/dev/null || ! kill -0 $pid 2>/dev/null # it may have ended by the first
  wait $pid
  grep -q 42 "$BATS_TEST_TMPDIR/out"
}

@test "too few files: every failure names the limit, none says refused or out of memory" {
  needs_bpf
  script='BEGIN { @a = count(); @b["x"] = count(); x[1] = 2; } tick-1ms { exit(0); } profile-99hz /self->x++/ { @[ustack()] = count(); }'
  failed=0
  for n in $(seq 10 40); do
    run prlimit --nofile="$n:$n" "$TALLY" trace -q -n "$script"
    [ "$status" -eq 0 ] && continue
    failed=$((failed + 1))
    has "ulimit -n" || { echo "limit $n"; return 1; }
    [[ "$output" != *refused* && "$output" != *"out of memory"* ]] || { echo "limit $n: $output"; return 1; }
  done
  [ "$failed" -gt 10 ]
}

@test "a thread does not begin with the self-> variables of a dead one that had its id" {
  needs_bpf
  id=$("$PROGS/again" 1) || skip "a process's id can't be chosen here"
  run "$TALLY" trace -qn 'cpc:::page_faults-user-5000 /execname == "again"/ { self->n++; printf("%d is %d\n", tid, self->n); }' \
    -c "$PROGS/again 25000"
  [ "$status" -eq 0 ]
  # Each of the two, which have one id, counts from 1 on.
  [ "$(grep -c ' is 1$' <<<"$output")" -eq 2 ] || { echo "$output"; false; }
  [ "$(grep ' is ' <<<"$output" | cut -d' ' -f1 | sort -u | wc -l)" -eq 1 ]
}

@test "a stack as key has the frames that it asks for, though the options say fewer" {
  needs_bpf
  run "$TALLY" trace -qn 'cpc:::page_faults-user-5000 /execname == "deep"/ { @[ustack(120)] = count(); }' -c "$PROGS/deep 150 16000"
  [ "$status" -eq 0 ]
  [ "$(grep -c 'deep`' <<<"$output")" -ge 115 ] || { grep -c 'deep`' <<<"$output"; false; }
}

@test "an interrupt ends a run whose ticks print for longer than they last" {
  needs_bpf
  env --default-signal=INT "$TALLY" trace -q -x dcpc_min_overflow=1 -x aggsize=16m -c "$PROGS/pf 100000000 200000" \
    -n 'cpc:::page_faults-user-1 { @[arg1] = count(); } tick-1ms { printa(@); }' >"$BATS_TEST_TMPDIR/out" 2>/dev/null 3>&- &
  tracer=$!
  # A tick that prints this much is late for many others.
  for _ in $(seq 1000); do [ "$(stat -c %s "$BATS_TEST_TMPDIR/out")" -gt 4000000 ] && break; sleep 0.02; done
  kill -INT $tracer
  timeout 20 tail --pid=$tracer -f /dev/null || { kill -9 $tracer; echo "still printing"; return 1; }
  wait $tracer
}
