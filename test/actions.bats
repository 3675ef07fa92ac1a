#!/usr/bin/env bats
# Actions of D that need the kernel.
load common
bats_require_minimum_version 1.5.0

setup() {
  needs_types
}

@test "what system calls speculate is told when one of them commits, whole and once" {
  run "$TALLY" trace -q -x nspec=4 -c 'sh -c "cd /; cd /nowhere 2>/dev/null; cd /tmp; cd /nowhere 2>/dev/null; :"' -n '
    syscall::chdir:entry /pid == $target/ { self->id = speculation(); }
    syscall::chdir:entry /self->id/ { speculate(self->id); printf("enter %d\n", ++n); }
    syscall::chdir:return /self->id/ { speculate(self->id); printf("leave %d\n", arg0 < 0); }
    syscall::chdir:return /self->id && (int)arg0 < 0/ { commit(self->id); self->id = 0; }
    syscall::chdir:return /self->id/ { discard(self->id); self->id = 0; }'
  [ "$status" -eq 0 ]
  [ "$output" = "enter 2
leave 1
enter 4
leave 1" ]
}

@test "destructive actions need -w" {
  run --separate-stderr "$TALLY" trace -qn 'BEGIN { chill(1); exit(0); }'
  [ "$status" -eq 1 ]
  [[ "$stderr" == *"could not enable tracing: Destructive actions not allowed"*"'#pragma D option destructive' in it allows them, or -w of 'tally trace'"* ]]
  run --separate-stderr "$TALLY" trace -xerrtags -qn 'BEGIN { chill(1); exit(0); }'
  [ "$status" -eq 1 ]
  [[ "$stderr" == *"could not enable tracing: [D_DESTRUCTIVE] Destructive actions not allowed"* ]]
  run --separate-stderr "$TALLY" trace -wn 'BEGIN { chill(1); exit(0); }'
  [ "$status" -eq 0 ]
  [[ "$stderr" == *"allowing destructive actions"* ]]
}

@test "timestamp is the same throughout a clause, and goes on with the next one" {
  run "$TALLY" trace -qn 'BEGIN { t = timestamp; d = timestamp - t; printf("%d", d + (timestamp - t)); } BEGIN { printf(" %d", timestamp > t); exit(0); }'
  [ "$status" -eq 0 ]
  [ "$output" = "0 1" ]
}

@test "chill lasts as long as it is told to, and no longer than half a second" {
  run --separate-stderr "$TALLY" trace -wqn 'BEGIN { t = timestamp; chill(10000000); exit(timestamp - t >= 10000000 ? 0 : 1); }'
  [ "$status" -eq 0 ]
  run --separate-stderr "$TALLY" trace -wqn 'BEGIN { chill(500000001); } ERROR { exit(arg4 == DTRACEFLT_ILLOP ? 3 : 4); }'
  [ "$status" -eq 3 ]
}

@test "raise sends a signal to the process that fires" {
  run "$TALLY" trace -wqn 'syscall::chdir:entry /pid == $target/ { raise(SIGTERM); }' -c 'sh -c "cd /; while :; do :; done"'
  [ "$status" -eq 143 ]
}

@test "stop stops the process that fires, until it is continued" {
  run "$TALLY" trace -wqn 'syscall::chdir:entry /pid == $target/ { stop(); }
    syscall::kill:entry /pid == $target/ { printf("goes on\n"); }' \
    -c 'sh -c "(while ! grep -q \"^State:.T\" /proc/$$/status; do :; done; kill -CONT $$) & cd /; kill -0 $$; wait"'
  [ "$status" -eq 0 ]
  [[ "$output" == *"goes on"* ]]
}

@test "trace shows the bytes of the kernel's arrays, whatever they say" {
  run "$TALLY" trace -qn 'BEGIN { trace(curthread->comm); exit(0); }'
  [ "$status" -eq 0 ]
  [[ "$output" == *"         0: 74 61 6c 6c 79 00 "*"  tally..........."* ]]
}

@test "tracemem of what can't be read fires ERROR" {
  run "$TALLY" trace -qn 'BEGIN { tracemem(8, 16); } ERROR { printf("%d %d\n", arg4 == DTRACEFLT_BADADDR, arg5); exit(0); }'
  [ "$status" -eq 0 ]
  [[ "$output" == *"1 8"* ]]
}

@test "a clause that only raises a signal prints a line, as one that prints does" {
  run --separate-stderr "$TALLY" trace -wn 'syscall::chdir:entry /pid == $target/ { raise(SIGCONT); }' -c 'sh -c "cd /"'
  [ "$status" -eq 0 ]
  [[ "$output" == *"chdir:entry"* ]]
}

@test "print follows a pointer of the kernel's and shows no more than printsize" {
  run "$TALLY" trace -qn 'BEGIN { print(&curthread->se.load); setopt("printsize", "8"); print(&curthread->se.load); exit(0); }'
  [ "$status" -eq 0 ]
  [ "$(grep -c '(struct load_weight) {' <<<"$output")" -eq 2 ]
  [ "$(grep -c '.inv_weight = (u32)' <<<"$output")" -eq 1 ]
  [ "$(grep -c '^ *\.\.\.$' <<<"$output")" -eq 1 ]
}

@test "what a kernel in lockdown mode refuses has its tag" {
  needs_bpf
  run "$TALLY" trace -wxerrtags -qn 'BEGIN { copyoutstr("a", 0, 1); exit(0); }'
  [ "$status" -ne 0 ] || skip "this kernel is not locked down"
  has "[D_VERIFIER] line 1: this kernel lets no program write the memory of a process"
}

@test "in the vm there is nobody to signal and no time to waste" {
  run --separate-stderr "$TALLY" trace --on=vm -wqn 'BEGIN { raise(SIGTERM); exit(0); }'
  [ "$status" -eq 1 ]
  [[ "$stderr" == *"raise( ) needs the kernel: here is no process"* ]]
  for action in 'chill(1)' 'raise(9)' 'stop()'; do
    run --separate-stderr "$TALLY" trace --on=vm -xerrtags -wqn "BEGIN { $action; exit(0); }"
    [ "$status" -eq 1 ]
    [[ "$stderr" == *"[D_UNSUPPORTED] in action list: ${action%(*}( ) needs the kernel: here is no process and no time that passes"* ]]
  done
}

@test "pcap() writes packets to the file of freopen(), as pcap(3) reads them, and shows them elsewhere" {
  # a packet of 30 bytes, of which 14 lie in one piece: the name of the program stands for them
  made='s = (struct sk_buff *)alloca(sizeof (struct sk_buff)); s->len = 30; s->data_len = 16;
    s->data = (unsigned char *)&curthread->comm[0];'
  run "$TALLY" trace -x scratchsize=1k -wqn "BEGIN { $made freopen(\"$BATS_TEST_TMPDIR/p\"); pcap(s, PCAP_IP); pcap(s, PCAP_IP); pcap(s, PCAP_ETHER); exit(0); }"
  [ "$status" -eq 0 ]
  has "a packet of link type 1 is left out: the file has those of 101"
  bytes() { od -An -v -tu4 -w4 -j "$1" -N "$2" "$BATS_TEST_TMPDIR/p" | tr -d ' ' | paste -sd' '; }
  [ "$(bytes 0 24)" = "$((0xa1b23c4d)) $((4 << 16 | 2)) 0 0 1514 101" ]
  [ "$(bytes 32 8)" = "14 30" ]
  [ "$(bytes 62 8)" = "14 30" ]
  [ "$(stat -c %s "$BATS_TEST_TMPDIR/p")" -eq $((24 + 2 * (16 + 14))) ]
  [ "$(od -An -c -j 40 -N 6 "$BATS_TEST_TMPDIR/p" | tr -d ' ')" = 'tally\0' ]
  now=$(date +%s) then=$(bytes 24 4)
  [ $((now - then)) -ge 0 ] && [ $((now - then)) -lt 100 ] && [ "$(bytes 28 4)" -lt 1000000000 ]
  run "$TALLY" trace -x scratchsize=1k -x pcapsize=5 -qn "BEGIN { $made pcap(s, PCAP_IP); exit(0); }"
  has "0: 74 61 6c 6c 79  "
  run vm -qn 'BEGIN { pcap(0, PCAP_IP); }'
  [ "$status" -eq 1 ]
  has "pcap( ) takes a packet of a kernel: there is none where this runs"
}

@test "a clause that faults in a speculation gives its record back: the buffer is free again once the others have come" {
  cat >"$BATS_TEST_TMPDIR/s.d" <<'D'
BEGIN { i = speculation(); }
BEGIN { speculate(i); printf("one\n"); }
BEGIN { speculate(i); printf("two %d\n", *(int *)8); }
BEGIN { speculate(i); printf("three\n"); }
BEGIN { commit(i); }
BEGIN { printf("busy %d\n", speculation()); }
tick-100ms { printf("free %d\n", speculation()); exit(0); }
D
  run --separate-stderr "$TALLY" trace --on=vm -q -x nspec=1 -s "$BATS_TEST_TMPDIR/s.d"
  said 0 "one
three
busy 0
free 1"
}
