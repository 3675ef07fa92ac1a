#!/usr/bin/env bats
# The provider syscall: names and numbers, arguments, results, what it refuses.

load common

trace() { "$TALLY" trace -x quiet "$@"; }
# `on` between the two calls of getppid() of the program `calls`.
between=(-n 'BEGIN { on = 0; }' -n 'syscall::getppid:entry /pid == $target/ { on = !on; }')

@test "system calls are counted by name exactly as often as a program of known calls makes them, and as /proc/PID/io says" {
  needs_bpf
  run trace -c "$PROGS/calls" "${between[@]}" \
    -n 'syscall:::entry /on && pid == $target && probefunc != "getppid"/ { @[probefunc] = count(); }' \
    -n 'syscall:::return /on && pid == $target && errno/ { @e[probefunc, errno] = count(); }' \
    -n 'END { printa("%s %@d\n", @); printa("%s %d %@d\n", @e); }'
  said 0 "1000 reads 700 writes
mmap 1
openat 5
write 700
read 1000
openat 2 5"
}

@test "a command's calls are counted as strace counts them" {
  needs_bpf
  command -v strace >/dev/null || skip "no strace"
  strace -c -o "$BATS_TEST_TMPDIR/strace" ls /usr/include >/dev/null || skip "strace can't trace here"
  awk '$NF ~ /^(read|openat|close|newfstatat|getdents64|statx|statfs|lseek)$/ { print $NF, $4 }' "$BATS_TEST_TMPDIR/strace" | sort >"$BATS_TEST_TMPDIR/theirs"
  [ "$(wc -l <"$BATS_TEST_TMPDIR/theirs")" -ge 3 ]
  trace -o "$BATS_TEST_TMPDIR/ours" -c 'ls /usr/include' \
    -n 'syscall:::entry /pid == $target && execname == "ls"/ { @[probefunc] = count(); } END { printa("%s %@d\n", @); }' >/dev/null
  grep -E '^(read|openat|close|newfstatat|getdents64|statx|statfs|lseek) ' "$BATS_TEST_TMPDIR/ours" | sort | diff "$BATS_TEST_TMPDIR/theirs" -
}

@test "of a storm of calls each is counted, and each is handed over or told as dropped" {
  needs_bpf
  # A call is a few hundred nanoseconds; the buffer has no room for what a reader is late for.
  run trace -c "$PROGS/calls loop 1000000" -x bufsize=64k -o "$BATS_TEST_TMPDIR/lines" \
    -n 'BEGIN { n = 0; } syscall::getppid:entry /pid == $target/ { n++; @ = count(); printf("call\n"); } END { printf("%d\n", n); printa("%@d\n", @); }'
  [ "$status" -eq 0 ]
  [ "$(grep -E '^[0-9]+$' "$BATS_TEST_TMPDIR/lines" | paste -sd ' ')" = "1000000 1000000" ]
  calls_are_told 1000000 "$BATS_TEST_TMPDIR/lines"
}

@test "what BEGIN prints comes before what any probe prints that it enabled" {
  needs_bpf
  run "$TALLY" trace -q -c true -n 'BEGIN { printf("first\n"); } syscall:::entry { printf("call\n"); }'
  [ "$status" -eq 0 ]
  [ "${lines[0]}" = first ]
  has call
}

@test "arg0 to arg5 of a system call that begins are its arguments; of one that ends arg0 and arg1 are the result" {
  needs_bpf
  run trace -c "$PROGS/calls" "${between[@]}" \
    -n 'syscall::mmap:entry /on && pid == $target/ { printf("%d %d %d %d %d %d\n", arg0, arg1, arg2, arg3, arg4, arg5); }' \
    -n 'syscall::write:return /on && pid == $target/ { @[arg0, arg1, arg2, errno] = count(); }' \
    -n 'syscall::openat:return /on && pid == $target/ { @[arg0, arg1, arg2, errno] = count(); }' \
    -n 'END { printa("%d %d %d %d %@d\n", @); }'
  said 0 "1000 reads 700 writes
0 12288 0 34 -1 20480
-2 -2 0 2 5
10 10 0 0 700"
}

@test "the first call that is seen to begin is seen to end, though its process makes calls all the time" {
  needs_bpf
  sh -c 'while :; do kill -0 $$; done' &
  local busy=$!
  for _ in 1 2 3 4 5 6 7 8; do
    trace -n 'BEGIN { ended = 0; }' -n 'syscall::kill:entry /pid == $1 && n++ == 1/ { printf("%d", ended); exit(0); }' \
      -n 'syscall::kill:return /pid == $1 && n/ { ended++; }' "$busy" || break
  done >"$BATS_TEST_TMPDIR/ended"
  kill "$busy"
  [ "$(uniq -c "$BATS_TEST_TMPDIR/ended" | tr -s ' ')" = " 8 1" ]
}

@test "clauses of one program fire for their own calls only, each with its own probe, id and epid" {
  needs_bpf
  run trace -c "$PROGS/calls" "${between[@]}" \
    -n 'syscall::read:entry, syscall::write:entry /on && pid == $target/ { @[1, probeprov, probemod, probefunc, probename] = count(); @i[id] = count(); @p[epid] = count(); }' \
    -n 'syscall::*rit?:entry /on && pid == $target/ { @[2, probeprov, probemod, probefunc, probename] = count(); @i[id] = count(); @p[epid] = count(); }' \
    -n 'syscall:vmlinux:read:return /on && pid == $target/ { @[3, probeprov, probemod, probefunc, probename] = count(); @i[id] = count(); @p[epid] = count(); }' \
    -n 'END { printa("%d %s:%s:%s:%s %@d\n", @); printa("id %@d\n", @i); printa("epid %@d\n", @p); }'
  said 0 "1000 reads 700 writes
1 syscall:vmlinux:write:entry 700
2 syscall:vmlinux:write:entry 700
1 syscall:vmlinux:read:entry 1000
3 syscall:vmlinux:read:return 1000
id 1000
id 1000
id 1400
epid 700
epid 700
epid 1000
epid 1000"
}

@test "self-> variables carry from a call's entry to its return, and a fault in one of many probes names that one" {
  needs_bpf
  run trace -c "$PROGS/calls" "${between[@]}" \
    -n 'syscall::read:entry /on && pid == $target/ { self->n = arg2; }' \
    -n 'syscall::read:return /self->n/ { @[self->n == arg0] = count(); self->n = 0; }' \
    -n 'syscall::mmap:entry, syscall::munmap:entry /on && pid == $target/ { trace(*(int *)8); }' \
    -n 'ERROR { printf("%d\n", arg4); }' -n 'END { printa("%d %@d\n", @); }'
  [ "$status" -eq 0 ]
  has "1 1000"
  has "syscall:vmlinux:mmap:entry): invalid address (0x8)"
}

@test "a call by the numbers of 32-bit programs fires the probe of its name, with its arguments" {
  needs_bpf
  run "$PROGS/calls" compat
  [ "$status" -ne 3 ] || skip "this kernel takes no 32-bit calls"
  run trace -c "$PROGS/calls compat" -n 'syscall::close:entry /pid == $target && arg0 == 77/ { printf("%s %d", probefunc, arg0); }' \
    -n 'syscall::close:return /pid == $target && errno == 9/ { printf(" errno %d\n", errno); }' \
    -n 'syscall::*lstat*:entry /pid == $target/ { printf("%s\n", probefunc); }'
  said 0 "close 77 errno 9"
}

@test "descriptions with module, function and wildcards list what they name" {
  needs_bpf
  run "$TALLY" trace -l -n 'syscall::read:' -n 'syscall:vmlinux:writ?:entry' -f syscall::getppid
  [ "$status" -eq 0 ]
  [ "$(sed 1d <<<"$output" | awk '{ print $2, $3, $4, $5 }')" = "syscall vmlinux read entry
syscall vmlinux read return
syscall vmlinux write entry
syscall vmlinux getppid entry
syscall vmlinux getppid return" ]
  [ "$("$TALLY" trace -l -P syscall | grep -c ' entry$')" -gt 300 ]
  if [ "$(uname -m)" = x86_64 ]; then # a call that only programs of 32 bits have
    [ "$("$TALLY" trace -l -n 'syscall::*readdir*:entry' | grep -c ' readdir ')" -eq 0 ]
    [ "$("$TALLY" trace -l -n 'syscall::readdir:entry' | grep -c ' readdir ')" -eq 1 ]
  fi
  [ "$("$TALLY" trace -l -m syscall:vmlinux | grep -c ' entry$')" -gt 300 ]
  run "$TALLY" list probes 'syscall:vmlinux:openat:*'
  [ "$status" -eq 0 ]
  has "raw tracepoint sys_enter"
  has "raw tracepoint sys_exit"
  ! "$TALLY" list openat || return 1
}

@test "a system call that is misspelt, or asked of a machine that is not this one, is refused with the way out" {
  run trace -n 'syscall::opne:entry { exit(0); }'
  [ "$status" -eq 1 ]
  has 'no system call "opne"; did you mean open?'
  run trace -n 'syscall::open:entri { exit(0); }'
  has 'no probe "entri"; did you mean entry?'
  run trace -n 'syscall:ext4:open:entry { exit(0); }'
  has 'the module of all its probes is vmlinux, not "ext4"'
  for on in vm power niagara; do
    run trace --on=$on -n 'syscall::open:entry { exit(0); }'
    [ "$status" -ne 0 ]
    has "system calls of this machine"
  done
}

@test "what a system call has no value for is zero: errno in BEGIN, arg5 of a return" {
  run vm -q -n 'BEGIN { printf("%d %d\n", errno, arg5); exit(0); }'
  said 0 "0 0"
}

@test "args[] of a system call have the types that the kernel's calls have, and pointers lead into the process" {
  needs_bpf
  run "$TALLY" trace -qn 'syscall::openat:entry /pid == $target && stringof(args[1]) == "/etc/hostname"/ {
    printf("%d %d", args[0] == -100, sizeof(args[0])); self->path = args[1]; }
    syscall::openat:return /self->path/ { printf(" %s %d %d\n", copyinstr((uintptr_t)self->path), args[0] >= 0, args[1] == args[0]); exit(0); }' \
    -c "cat /etc/hostname"
  [ "$status" -eq 0 ]
  has "1 4 /etc/hostname 1 1"
  run "$TALLY" trace -qn 'syscall::clock_nanosleep:entry,syscall::nanosleep:entry /pid == $target/ { self->n = 1; }
    syscall::clock_nanosleep:entry /pid == $target/ { printf("%d %d", args[2]->tv_sec, args[2]->tv_nsec); exit(0); }' -c "sleep 0.25"
  has "0 250000000"
}

@test "a description of calls names what is the same in all, and no other; each description of a clause has its own" {
  needs_bpf
  run "$TALLY" trace -en 'syscall::read:entry, syscall::write:entry { trace(args[2]); }'
  said 0 ""
  run "$TALLY" trace -en 'syscall::[ro]*e*:entry { trace(args[0]); }'
  [ "$status" -eq 1 ]
  has "matches an unstable set of probes"
  run "$TALLY" trace -qn 'syscall::read:entry, syscall::openat:entry, syscall::write:entry /pid == $target/ { @[probefunc, sizeof(args[0])] = count(); }' \
    -n 'END { printa("%s %d\n", @); }' -c 'cat /etc/hostname'
  [ "$status" -eq 0 ]
  has "openat 4"
  has "read 4"
  run "$TALLY" trace -en 'syscall::sync:entry { trace(args[0]); }'
  [ "$status" -eq 1 ]
  has "index 0 is out of range for syscall::sync:entry args[ ]"
}

@test "-lv lists the types of a call's arguments" {
  needs_bpf
  run "$TALLY" trace -lvn syscall::openat:entry
  has "args[0]: int"
  has "args[1]: char *"
}

@test "records of a thread that moves from CPU to CPU come in the order of time" {
  needs_bpf
  [ "$(nproc)" -ge 2 ] || skip "one CPU"
  run "$TALLY" trace -qn 'syscall::write:entry /pid == $target/ { printf("%d %d\n", timestamp, cpu); }' -c \
    'sh -c "for i in \$(seq 100); do for c in '"$(taskset -pc $$ | sed 's/.*: //; s/[,-]/ /g' | cut -d' ' -f1,2)"'; do taskset -pc \$c \$\$ >/dev/null; echo x >/dev/null; done; done"'
  [ "$status" -eq 0 ]
  [ "$(cut -d' ' -f2 <<<"$output" | sort -u | grep -c .)" -ge 2 ]
  [ "$(grep -c . <<<"$output")" -eq 200 ]
  [ "$output" = "$(sort -n <<<"$output")" ]
}

@test "a clause runs once for each of its descriptions that a call has" {
  needs_bpf
  run trace -c "$PROGS/calls" -n 'syscall::getppid:entry /pid == $target/ { @["once"] = count(); }' \
    -n 'syscall::getppid:entry, syscall::getp*:entry /pid == $target && probefunc == "getppid"/ { @["twice"] = count(); }'
  [ "$status" -eq 0 ]
  once=$(awk '$1 == "once" { print $2 }' <<<"$output")
  [ "$once" -gt 0 ]
  [ "$(awk '$1 == "twice" { print $2 }' <<<"$output")" -eq $((2 * once)) ]
}
