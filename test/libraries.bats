#!/usr/bin/env bats
# D libraries: inline definitions and translators of files that are read when a name of theirs is used.
load common

setup() {
  mkdir -p "$BATS_TEST_TMPDIR/lib"
  printf 'inline int answer = 42;\ninline int twice[int x] = 2 * x;\ntypedef int meters_t;\n' >"$BATS_TEST_TMPDIR/lib/mine.d"
}

@test "a library of -L gives a program its names" {
  run vm -qL "$BATS_TEST_TMPDIR/lib" -n 'meters_t m; BEGIN { m = twice[answer]; printf("%d\n", m); exit(0); }'
  said 0 84
}

@test "what is wrong with a library of -L is told though no name of it is used" {
  printf 'this is no D\n' >"$BATS_TEST_TMPDIR/lib/other.d"
  run vm -qx libdir="$BATS_TEST_TMPDIR/lib" -n 'BEGIN { exit(0); }'
  said 1 "tally: invalid probe specifier BEGIN { exit(0); }: \"$BATS_TEST_TMPDIR/lib/other.d\", line 1: syntax error near \"no D\""
  printf 'BEGIN { no_such_action(); }\n' >"$BATS_TEST_TMPDIR/lib/other.d"
  run vm -qL "$BATS_TEST_TMPDIR/lib" -n 'BEGIN { exit(0); }'
  [ "$status" -eq 1 ]
  has 'line 1: undefined function name: no_such_action'
}

@test "a clause in a library is looked at and fires nothing" {
  printf 'BEGIN { printf("library "); }\n' >"$BATS_TEST_TMPDIR/lib/other.d"
  run vm -qL "$BATS_TEST_TMPDIR/lib" -n 'BEGIN { printf("program"); exit(0); }'
  said 0 program
}

@test "a slip in a library that is used names its file and line" {
  printf '\ninline int broken = ;\n' >"$BATS_TEST_TMPDIR/lib/other.d"
  run vm -qL "$BATS_TEST_TMPDIR/lib" -n 'BEGIN { printf("%d\n", broken); exit(0); }'
  [ "$status" -eq 1 ]
  has "\"$BATS_TEST_TMPDIR/lib/other.d\", line 2: syntax error near \";\""
}

@test "libraries whose definitions use each other are named with their files" {
  local lib=$BATS_TEST_TMPDIR/lib
  printf '#pragma D depends_on library b.d\ninline int one = two + 1;\n' >"$lib/a.d"
  printf '#pragma D depends_on library c.d\ninline int two = three + 1;\n' >"$lib/b.d"
  printf '#pragma D depends_on library a.d\ninline int three = one + 1;\n' >"$lib/c.d"
  cd "$lib"
  run vm -qL . -n 'BEGIN { trace(one); exit(0); }'
  [ "$status" -eq 1 ]
  has 'definitions use each other: '
  has 'two (line 2 of ./b.d)'
  has 'three (line 2 of ./c.d)'
  has 'one (line 2 of ./a.d)'
  # A library may require one that requires it, and an inline may be its own argument.
  printf '#pragma D depends_on library a.d\ninline int three = twice[twice[4]];\n' >"$lib/c.d"
  run vm -qL . -n 'BEGIN { trace(one); exit(0); }'
  said 0 18
}

@test "a program that depends on a library which is not there is refused" {
  run vm -qn '#pragma D depends_on library nosuch.d
BEGIN { exit(0); }'
  [ "$status" -eq 1 ]
  has 'program requires library nosuch.d'
  run vm -qL "$BATS_TEST_TMPDIR/lib" -n '#pragma D depends_on library mine.d
BEGIN { printf("%d\n", answer); exit(0); }'
  said 0 42
}

@test "nolibs leaves out what tally brings" {
  run vm -qn 'BEGIN { printf("%d %d\n", ENOENT, SIGKILL); exit(0); }'
  said 0 '2 9'
  run vm -qx nolibs -n 'BEGIN { printf("%d\n", ENOENT); exit(0); }'
  [ "$status" -eq 1 ]
  has 'failed to resolve ENOENT: Unknown variable name'
}

@test "every name of an error that the C library knows has its number in D" {
  cd "$BATS_TEST_TMPDIR"
  command -v cpp >/dev/null || skip "no cpp"
  cpp -dM -include errno.h /dev/null | awk '$2 ~ /^E[A-Z0-9]+$/ { print $2 }' | sort >names
  [ "$(wc -l <names)" -gt 100 ]
  { echo '#include <errno.h>'; sed 's/.*/[&] &/' names; } | cpp -P | sed -n 's/^\[[0-9]*\] //p' >want
  { echo 'BEGIN {'; sed 's/.*/printf("%d\\n", &);/' names; echo 'exit(0); }'; } >e.d
  vm -qs e.d | sed '/^$/d' >got
  cmp want got
}

@test "each library that tally brings parses whole" {
  for f in "$BATS_TEST_DIRNAME"/../lib/tally/d/*.d; do
    run vm -qx syslibdir="$BATS_TEST_DIRNAME/../lib/tally/d" -n "#pragma D depends_on library ${f##*/}
BEGIN { exit(0); }"
    said 0 ''
  done
}

@test "curpsinfo, curlwpsinfo, fds and uregs tell of the thread that fires" {
  needs_types
  run "$TALLY" trace -qn 'BEGIN { printf("%d %d %s %d\n", curpsinfo->pr_pid == pid, curpsinfo->pr_ppid == ppid,
    curpsinfo->pr_fname, curpsinfo->pr_uid == uid); printf("%d %s %c\n", curlwpsinfo->pr_lwpid == tid, curlwpsinfo->pr_name,
    curlwpsinfo->pr_sname); exit(curcpu->cpu_id == cpu ? 0 : 1); }'
  said 0 $'1 1 tally 1\n1 tally R'
  run "$TALLY" trace -qn 'BEGIN { printf("%s %d %s\n", fds[0].fi_name, fds[0].fi_oflags & O_ACCMODE, fds[1000000].fi_name);
    exit(uregs[R_SP] != 0 ? 0 : 1); }' </dev/null
  said 0 'null 0 <none>'
}

@test "uregs takes a constant, and nothing else" {
  needs_types
  run "$TALLY" trace -qxerrtags -n 'BEGIN { i = R_SP; trace(uregs[i]); }'
  [ "$status" -eq 1 ]
  has '[D_PROTO_ARG] in action list: uregs[ ] argument #1 is incompatible with prototype:'
  has 'prototype: integer constant'
  run "$TALLY" trace -qn 'BEGIN { exit(uregs[R_SP + 0] == uregs[R_UESP] ? 0 : 1); }'
  [ "$status" -eq 0 ]
  run "$TALLY" trace -qn 'BEGIN { trace(uregs[R_R15] + uregs[R_TRAPNO]); exit(0); }'
  [ "$status" -eq 0 ]
  for i in -1:-1 R_TRAPNO+1:26 100:100; do
    run "$TALLY" trace -qxerrtags -n "BEGIN { trace(uregs[${i%:*}]); exit(0); }"
    [ "$status" -eq 1 ]
    has "[D_REGS_IDX] in action list: index ${i#*:} is out of range for array uregs"
  done
}

@test "zonename is the path of the thread's cgroup" {
  needs_types
  want=$(sed -n 's/^0:://p' /proc/self/cgroup)
  [[ -n $want && $want != *..* && ${want//[^\/]/} != ??????* ]] || skip "the path of this process's cgroup can't be seen whole: '$want'"
  run "$TALLY" trace -qn 'BEGIN { printf("%s", zonename); exit(0); }'
  said 0 "$want"
}

@test "the translators of headers take them apart" {
  needs_types
  for m in tcpinfo_t:tcphdr:tcp_flags tcpsinfo_t:tcp_sock:tcps_cwnd udpinfo_t:udphdr:udp_sport ipv4info_t:iphdr:ipv4_protostr \
    ipv6info_t:ipv6hdr:ipv6_flow ipinfo_t:iphdr:ip_plength conninfo_t:sock:ci_protocol csinfo_t:sock:cs_pid pktinfo_t:sk_buff:pkt_addr \
    bufinfo_t:bio:b_{resid,iosize,iodone} bufinfo_t:request:b_iodone devinfo_t:block_device:dev_{name,pathname}; do
    IFS=: read -r to from member <<<"$m"
    run "$TALLY" trace -en "BEGIN { trace(xlate < $to > ((struct $from *)0).$member); }"
    said 0 ""
  done
  # A header in the memory of tally itself: source port 258, flags SYN and ACK, window 772.
  run "$TALLY" trace -qn 'char h[20]; BEGIN { h[0] = 1; h[1] = 2; h[12] = 0x50; h[13] = 0x12; h[14] = 3; h[15] = 4;
    t = (struct tcphdr *)&h[0]; printf("%d %d %x %d", xlate < tcpinfo_t > (t).tcp_sport, xlate < tcpinfo_t > (t).tcp_offset,
    xlate < tcpinfo_t > (t).tcp_flags, xlate < tcpinfo_t > (t).tcp_window); exit(0); }'
  said 0 "258 20 12 772"
}

@test "a member that the translator leaves out is refused by name" {
  needs_types
  run "$TALLY" trace -qxerrtags -n 'BEGIN { trace(curlwpsinfo->pr_nice); }'
  [ "$status" -eq 1 ]
  has '[D_XLATE_NOCONV] in action list: translator does not define conversion for member: pr_nice'
}

@test "a translated struct is copied whole, and what has no conversion is 0" {
  needs_types
  run "$TALLY" trace -qn 'BEGIN { self->p = *curpsinfo; printf("%d %d %s %d\n", self->p.pr_pid == pid, self->p.pr_ppid == ppid,
    stringof(self->p.pr_fname), self->p.pr_poolid); f = fds[0]; l = *curlwpsinfo;
    printf("%s %s %d\n", f.fi_pathname, f.fi_name, l.pr_lwpid == tid); exit(0); }' </dev/null
  said 0 "1 1 ${TALLY##*/} 0
/dev/null null 1"
  run sh -c 'echo "process $$"; exec "$0" trace -qn "BEGIN { print(curpsinfo); exit(0); }"' "$TALLY"
  [ "$status" -eq 0 ]
  has ".pr_pid = (pid_t)${lines[0]#process },"
  run "$TALLY" trace -qxerrtags -n 'BEGIN { p = curpsinfo; trace(p->pr_pid); }'
  [ "$status" -eq 1 ]
  has '[D_UNSUPPORTED]' 'keep the struct (x = *pointer)'
}

@test "a directory of D libraries that cannot be opened is told once, with the reason, and not under dtrace's name" {
  run vm -qL "$BATS_TEST_TMPDIR/none" -x syslibdir="$BATS_TEST_TMPDIR/nor-this" -n 'BEGIN { trace(nosuch1); trace(nosuch2); exit(0); }'
  [ "$status" -eq 1 ]
  [ "$(grep -c "tally: the D libraries of $BATS_TEST_TMPDIR/none are not read: No such file or directory" <<<"$output")" -eq 1 ]
  [ "$(grep -c "tally: the D libraries of $BATS_TEST_TMPDIR/nor-this are not read: No such file or directory" <<<"$output")" -eq 1 ]
  ln -s "$(realpath "$TALLY")" "$BATS_TEST_TMPDIR/dtrace"
  run "$BATS_TEST_TMPDIR/dtrace" -qL "$BATS_TEST_TMPDIR/none" -n 'BEGIN { trace(nosuch1); exit(0); }'
  [[ $output != *"are not read"* ]]
}
