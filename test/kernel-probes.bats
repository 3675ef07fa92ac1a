#!/usr/bin/env bats
# The providers proc, sched, io and vminfo: what they count, what they hand over, what they refuse.
# What is counted is in variables, since a new key of an aggregation may find no memory, and is then told as dropped.

load common

teardown() { drop_disk; }

trace() { "$TALLY" trace -x quiet "$@"; }
# tell NAME...: an END clause that prints the variables.
tell() { local v; printf 'END { '; for v; do printf 'printf("%s %%d\\n", %s); ' "$v" "$v"; done; printf '}'; }

# Some machines do not deliver each switch of threads (see below): what depends on that is exact in one of three runs.
three_times() { "$@" || "$@" || "$@"; }

count_tasks() {
  run trace -c "$PROGS/tasks" -n 'BEGIN { creates = threads = starts = begins = ends = leaves = exited = killed = 0; }' \
    -n 'proc:::create /pid == $target/ { creates++; }' \
    -n 'proc:::lwp-create /pid == $target/ { threads++; }' \
    -n 'proc:::start /ppid == $target/ { starts++; }' \
    -n 'proc:::lwp-start /pid == $target/ { begins++; }' \
    -n 'proc:::exit /ppid == $target/ { ends++; exited += args[0] == CLD_EXITED; killed += arg0 == CLD_KILLED || arg0 == CLD_DUMPED; }' \
    -n 'proc:::lwp-exit /pid == $target/ { leaves++; }' \
    -n "$(tell creates threads starts begins ends exited killed leaves)"
  said 0 "creates 20
threads 27
starts 20
begins 7
ends 20
exited 13
killed 7
leaves 8"
}

@test "proc counts exactly the processes and threads of a program that makes known numbers of them" {
  needs_types
  three_times count_tasks
}

@test "proc counts exactly the signals of a program that sends itself known numbers of them" {
  needs_types
  run trace -c "$PROGS/tasks" -n 'BEGIN { sent = discarded = handled = cleared = users = 0; }' \
    -n 'proc:::signal-send /pid == $target && args[1]->pr_pid == pid && args[0]->pr_lwpid == tid/ { sent++; }' \
    -n 'proc:::signal-discard /pid == $target && args[2] == SIGURG/ { discarded++; }' \
    -n 'proc:::signal-handle /pid == $target && args[0] == SIGUSR1/ { handled++; users += args[1]->si_signo == SIGUSR1 && args[1]->si_pid == pid && args[2] != NULL; }' \
    -n 'proc:::signal-clear /pid == $target && args[0] == SIGUSR2/ { cleared++; }' \
    -n "$(tell sent discarded handled users cleared)"
  said 0 "sent 37
discarded 4
handled 30
users 30
cleared 3"
}

@test "proc tells programs that were not found, and faults with their address" {
  needs_types
  run trace -c "$PROGS/tasks" -n 'BEGIN { tried = failed = faults = killed = 0; }' \
    -n 'proc:::exec /ppid == $target && stringof(args[0]) == "/nonexistent/program"/ { tried++; }' \
    -n 'proc:::exec-failure /ppid == $target && args[0] == ENOENT && arg0 == 2/ { failed++; }' \
    -n 'proc:::fault /ppid == $target && args[0] == FLTBOUNDS && args[1]->si_addr == 16/ { faults++; }' \
    -n 'proc:::signal-handle /ppid == $target && args[0] == SIGKILL/ { killed++; }' \
    -n "$(tell tried failed faults killed)"
  said 0 "tried 3
failed 3
faults 2
killed 5"
}

@test "a signal that ends its process is handled as that signal, not as the SIGKILL that the kernel makes of it" {
  needs_types
  run trace -c 'sh -c "sh -c \"kill -USR2 \\\$\\\$\""' -n 'proc:::signal-handle /ppid == $target/ { printf("%d\n", args[0]); }'
  has 12
  ! grep -qx 9 <<<"$output"
}

@test "proc:::exec-success is of the new program, with its arguments and its parent" {
  needs_types
  run trace -c 'sh -c "/bin/echo said; true"' -n 'proc:::exec-success /ppid == $target/ { printf("%s %s %d\n", execname, curpsinfo->pr_psargs, curpsinfo->pr_ppid == $target); }'
  has "echo /bin/echo said 1"
}

@test "sched:::sleep and sched:::preempt count what /proc/PID/status does" {
  needs_types
  run trace -x verbose -c "$PROGS/tasks switch" -n 'BEGIN { sleeps = preempts = 0; on = 0; }' \
    -n 'proc:::exec-success /pid == $target/ { before_v = curthread->nvcsw; before_i = curthread->nivcsw; on = 1; }' \
    -n 'sched:::sleep /on && tid == $target/ { sleeps++; } sched:::preempt /on && tid == $target/ { preempts++; }' \
    -n 'syscall::write:entry /on && pid == $target && arg0 == 1/ { printf("slept %d %d preempted %d %d\n", sleeps, curthread->nvcsw - before_v, preempts, curthread->nivcsw - before_i); }'
  [ "$status" -eq 0 ] || return 1
  # The moment of reading lies between two switches, so both sides are of one moment.
  awk '$1 == "slept" { n = 1; if ($2 != $3 || $5 != $6 || $2 < 500) bad = 1 } END { exit !n || bad }' <<<"$output" || { echo "$output"; return 1; }
}

# Some machines tell nobody, perf neither, when a thread of process 1 leaves a CPU (a virtual machine's agent).  Who follows it there comes unseen: the last
# one that came to that CPU is still that thread when the other leaves.  So what comes unseen is known one by one, and the rest is exact.
@test "a thread that is switched to has its own pid, name and variables in on-cpu, each time that the kernel tells" {
  needs_types
  run trace -c "$PROGS/tasks switch" -n 'int here[int]; int of[int]; BEGIN { on = off = back = other = unseen = unexplained = 0; }' \
    -n 'rawtp:::sched_switch /args[1]->tgid == $target && here[cpu] && here[cpu] != args[1]->pid + 1/ { unseen++; unexplained += of[cpu] != 1; }' \
    -n 'rawtp:::sched_switch { here[cpu] = args[2]->pid + 1; of[cpu] = args[2]->tgid; }' \
    -n 'sched:::off-cpu /pid == $target/ { off++; self->gone = tid; }' \
    -n 'sched:::on-cpu /pid == $target/ { on++; back += self->gone == tid; other += execname != "tasks" && execname != "tally"; self->gone = 0; }' \
    -n 'END { printf("%d of %d, unseen %d, unexplained %d, back %d, other %d\n", on, off, unseen, unexplained, back, other); }'
  awk '/ of / { gsub(",", ""); n = 1; came = $1 + $5; bad = $3 < 500 || came > $3 || came < $3 - 1 || $7 || $9 < $1 - 1 || $11 } END { exit !n || bad }' <<<"$output" ||
    { echo "$output"; return 1; }
}

@test "stack() in on-cpu is where the thread that comes has slept" {
  needs_types
  run trace -c "$PROGS/tasks switch" -n 'sched:::on-cpu /pid == $target/ { @[stack()] = count(); }'
  [ "$status" -eq 0 ]
  has pipe_read
}

@test "the user stack of a thread that is switched to is refused, with where to take it" {
  needs_types
  run trace -n 'sched:::on-cpu { @[ustack()] = count(); }'
  [ "$status" -ne 0 ]
  has "line 1: sched:::on-cpu is about a thread whose memory the kernel has not switched to yet"
}

@test "sched:::wakeup tells who wakes whom" {
  needs_types
  run trace -c "$PROGS/tasks switch" -n 'BEGIN { n = 0; }' \
    -n 'sched:::wakeup /pid == $target && args[1]->pr_ppid == $target && args[0]->pr_lwpid == args[1]->pr_pid/ { n++; } END { printf("%d\n", n); }'
  [ "$(tail -n 1 <<<"$output")" -gt 500 ] || { echo "$output"; return 1; }
}

@test "io:::start and io:::done count the requests and bytes of /sys/block" {
  needs_types
  local dev
  dev=$(lsblk -ndo KNAME "$(df --output=source "$BATS_TEST_TMPDIR" | tail -n 1)" 2>/dev/null) && [ -r "/sys/block/$dev/stat" ] || skip "no block device below $BATS_TEST_TMPDIR"
  # Others write, too: what ours wrote is among what was traced, and what was seen to end is among what the device says it wrote meanwhile.  What was
  # started may end later.
  written() { awk '{ print $5 + $12, $7 + $14 }' "/sys/block/$dev/stat"; } # what is discarded is written, too
  read -r before sectors < <(written)
  run trace -c "dd if=/dev/zero of=$BATS_TEST_TMPDIR/file bs=64k count=16 conv=fsync" \
    -n 'BEGIN { started = ended = bytes = done = 0; }' \
    -n 'io:::start /args[0]->b_flags & B_WRITE && args[0]->b_bcount && args[1]->dev_statname == "'"$dev"'"/ { started++; bytes += args[0]->b_bcount; }' \
    -n 'io:::done /args[0]->b_flags & B_WRITE && args[0]->b_bcount && args[1]->dev_statname == "'"$dev"'"/ { ended++; done += args[0]->b_bcount; }' \
    -n "$(tell started ended bytes done)"
  read -r after now < <(written)
  awk -v n=$((after - before)) -v b=$(((now - sectors) * 512)) '{ v[$1] = $2 } END { exit !(v["started"] >= 1 && v["ended"] <= n && v["bytes"] >= 1048576 && v["done"] >= 1048576 && v["done"] <= b) }' <<<"$output" ||
    { echo "$output; the device: $((after - before)) $(((now - sectors) * 512))"; return 1; }
}

# A device that nobody else uses: what /sys/block says of it is what the probes say, to the request and the byte.
count_blocks() { # DEVICE
  local dev=${1#/dev/} r s w v r2 s2 w2 v2
  read -r r _ s _ w _ v _ <"/sys/block/$dev/stat"
  run trace -c "sh -c 'dd if=/dev/zero of=$1 bs=64k count=100 oflag=direct && dd if=$1 of=/dev/null bs=16k count=200 iflag=direct'" \
    -n 'BEGIN { reads = writes = got = put = ended = done = 0; }' \
    -n 'io:::start /args[1]->dev_statname == "'"$dev"'" && args[0]->b_bcount && args[0]->b_flags & B_READ/ { reads++; got += args[0]->b_bcount; }' \
    -n 'io:::start /args[1]->dev_statname == "'"$dev"'" && args[0]->b_bcount && args[0]->b_flags & B_WRITE/ { writes++; put += args[0]->b_bcount; }' \
    -n 'io:::done /args[1]->dev_statname == "'"$dev"'" && args[0]->b_bcount/ { ended++; done += args[0]->b_bcount; }' \
    -n "$(tell reads got writes put ended done)"
  read -r r2 _ s2 _ w2 _ v2 _ <"/sys/block/$dev/stat"
  [ "$status" -eq 0 ] && [ $((r2 - r)) -ge 200 ] && [ $((w2 - w)) -ge 100 ] || return 1
  [ "$(grep -E '^(reads|got|writes|put|ended|done) ' <<<"$output")" = "reads $((r2 - r))
got $(((s2 - s) * 512))
writes $((w2 - w))
put $(((v2 - v) * 512))
ended $((r2 - r + w2 - w))
done $(((s2 - s + v2 - v) * 512))" ] || { echo "$output; the device: $r $s $w $v, then $r2 $s2 $w2 $v2"; return 1; }
}

@test "io:::start and io:::done of a device that only the test uses are as many, and as many bytes, as /sys/block says" {
  needs_types
  make_disk
  three_times count_blocks "$loop" # who looks at new devices (udev) reads them once
}

@test "vminfo:::as_fault counts the page faults of a program" {
  needs_types
  "$TALLY" trace -l -n vminfo:::as_fault >/dev/null 2>&1 || skip "this kernel has no tracepoint of page faults"
  run trace -c "$PROGS/pf 1000" -n 'BEGIN { n = 0; } vminfo:::as_fault /pid == $target/ { n += arg0; } END { printf("%d\n", n >= 1000 && n < 3000); }'
  [ "$(tail -n 1 <<<"$output")" = 1 ]
}

@test "what Linux has no tracepoint for is not listed, and asking for it says what is missing" {
  needs_types
  run "$TALLY" trace -l -P sched
  if ! "$TALLY" trace -l -n 'fbt::vfs_write:' >/dev/null 2>&1; then
    ! [[ "$output" == *tick* ]]
    run trace -n 'sched:::tick { }'
    [ "$status" -eq 1 ]
    has "sched: tick requires a probe at a function of the kernel (CONFIG_FUNCTION_TRACER), which this kernel has not"
    run trace -n 'lockstat:::adaptive-acquire { }'
    has "lockstat: adaptive-acquire requires a probe at the return of a function of the kernel (fexit: CONFIG_FUNCTION_TRACER), which this kernel has not"
  fi
  run trace -n 'vminfo:::zfod { }'
  has "vminfo: zfod requires"
  run trace -n 'proc:::exti { }'
  has 'proc: no probe "exti"; did you mean exit?'
}

# What the kernel has tracepoints of: those of functions are more where those can be probed.
needs_contention() {
  needs_types
  "$TALLY" trace -l -n rawtp:::contention_begin >/dev/null 2>&1 || skip "this kernel does not tell of waits for locks"
}

@test "the probes of waits for locks are listed with a lock's type, and nanoseconds; without the tracepoints they are refused" {
  needs_types
  if ! "$TALLY" trace -l -n rawtp:::contention_begin >/dev/null 2>&1; then
    run trace -n 'lockstat:::adaptive-block { }'
    [ "$status" -eq 1 ]
    has "lockstat: adaptive-block requires the tracepoints contention_begin and contention_end (Linux 5.19), which this kernel has not"
    return
  fi
  run bash -c '"$1" trace -lv -n "lockstat:::*-block" -n "lockstat:::*-spin" | awk "\$2 == \"lockstat\" { print \$NF } /args\[/ { \$1 = \$1; print }"' - "$TALLY"
  said 0 "adaptive-block
args[0]: struct mutex *
args[1]: uint64_t
rw-block
args[0]: struct rw_semaphore *
args[1]: uint64_t
args[2]: int
adaptive-spin
args[0]: struct mutex *
args[1]: uint64_t
spin-spin
args[0]: spinlock_t *
args[1]: uint64_t
rw-spin
args[0]: rwlock_t *
args[1]: uint64_t
args[2]: int"
}

# The program knows how often a thread waits, for how long the lock is held meanwhile at least, and how long its call takes in all.
waits_for() { # KIND PROBE
  run trace -c "$PROGS/locks $1 $BATS_TEST_TMPDIR/file 20" -n 'BEGIN { n = reads = 0; sum = 0; }' \
    -n "lockstat:::$2"' /execname == "waiter" && arg1 > 1000000 && args[0] != NULL/ { n++; reads += arg2; sum += arg1; }' \
    -n 'END { printf("probe %d %d %d\n", n, sum, reads); }'
  [ "$status" -ne 77 ] || skip "this kernel has no userfaultfd()"
  [ "$status" -eq 0 ] && awk '$1 == "waits" { n = $2; held = $4; called = $6 } $1 == "probe" { probe = $2; sum = $3; reads = $4 }
    END { exit !(n == 20 && probe == n && held > 0 && sum >= held && sum <= called && !reads) }' <<<"$output" || { echo "$output"; return 1; }
}

@test "adaptive-block of a mutex and rw-block of an inode: as often as a thread waited, no shorter than the lock was held, no longer than its calls" {
  needs_contention
  waits_for mutex adaptive-block
  waits_for rwsem rw-block
}

# What both tracepoints tell, put together in D; what is taken after a signal is not.
map_waits() {
  run trace -c "$PROGS/locks map 8 300" -n 'BEGIN { ns = 0; }' -n 'self int flags[uintptr_t];' \
    -n 'lockstat:::rw-block /execname == "waiter"/ { @["probe", arg2 ? 2 : 4] = count(); ns += arg1; }' \
    -n 'lockstat:::spin-spin /execname == "waiter"/ { @["probe", 1] = count(); ns += arg1; }' \
    -n 'rawtp:::contention_begin /execname == "waiter" && (arg1 == 1 || arg1 == 2 || arg1 == 4)/ { self->flags[arg0] = arg1; }' \
    -n 'rawtp:::contention_end /self->flags[arg0] && (int)arg1 == 0/ { @["kernel", self->flags[arg0]] = count(); }' \
    -n 'rawtp:::contention_end /self->flags[arg0]/ { self->flags[arg0] = 0; }' \
    -n 'END { printf("ns %d\n", ns); printa("%s %d %@d\n", @); }'
  [ "$status" -eq 0 ] && awk '$1 == "waits" { called = $6 } $1 == "ns" { ns = $2 } $1 == "probe" { probe[$2] = $3 } $1 == "kernel" { kernel[$2] = $3 }
    END { for (f = 1; f <= 4; f *= 2) bad += probe[f] + 0 != kernel[f] + 0; exit !(!bad && probe[4] > 0 && ns > 0 && ns <= called) }' <<<"$output" ||
    { echo "$output"; return 1; }
}

@test "rw-block and spin-spin of threads that map memory are as many as the kernel's waits, of readers and writers, and no longer than the calls" {
  needs_contention
  three_times map_waits # a spin in an interrupt of a program's own is lost, and told
}

@test "an argument that differs among the probes of a description is refused, its condition is not; descriptions of a clause have each its own" {
  needs_types
  run trace -n 'proc:::e* { trace(arg0); }'
  [ "$status" -eq 1 ]
  has "arg0 is not the same thing in all probes of proc:::e*"
  trace -e -n 'proc:::, sched::: { @[probename] = count(); }'
  run trace -x aggsortkey -c "$PROGS/tasks" \
    -n 'proc:::create, proc:::exit /pid == $target || ppid == $target/ { @[probename, probename == "exit" ? (int)arg0 : arg0 != 0] = count(); }' \
    -n 'END { printa("%s %d %@d\n", @); }'
  said 0 "create 1 20
exit 1 14
exit 2 7"
}

@test "-lv tells arguments as D documents them" {
  needs_types
  run "$TALLY" trace -lvn sched:::off-cpu
  has "args[0]: lwpsinfo_t *"
  has "args[1]: psinfo_t *"
  run as_dtrace -lvn sched:::off-cpu
  ! [[ "$output" == *tracepoint* ]]
}

@test "tcp counts exactly the connections that a program makes, accepts, and is refused" {
  needs_types
  local family host
  for family in 4 -6; do
    host=127.0.0.1
    [ $family = 4 ] || host=::1
    [ $family = 4 ] || grep -q . /proc/net/if_inet6 2>/dev/null || continue
    run trace -c "$PROGS/packets ${family#4} connect" -n 'BEGIN { asked = made = taken = refused = closed = right = 0; }' \
      -n 'tcp:::connect-request /pid == $target/ { asked++; }' \
      -n 'tcp:::connect-established /pid == $target/ { made++; right += args[2]->ip_saddr == "'$host'" && args[4]->tcp_sport == args[3]->tcps_rport && args[3]->tcps_state == TCP_STATE_ESTABLISHED && args[5]->tcps_state == TCP_STATE_SYN_SENT; }' \
      -n 'tcp:::accept-established /pid == $target/ { taken++; right += args[3]->tcps_laddr == "'$host'" && args[4]->tcp_dport == args[3]->tcps_lport; }' \
      -n 'tcp:::connect-refused /pid == $target/ { refused++; }' \
      -n "$(tell asked made taken refused right)"
    said 0 "asked 6
made 5
taken 5
refused 1
right 10" || { echo "$family"; return 1; }
  done
}

@test "tcp:::accept-refused fires once for a connection that nobody listens for, and tells who asked" {
  needs_types
  local family host
  if ! "$TALLY" trace -l -n tcp:::accept-refused >/dev/null 2>&1; then
    run trace -n 'tcp:::accept-refused { exit(0); }'
    [ "$status" -eq 1 ] && has "tcp: accept-refused requires the tracepoint tcp_send_reset for connections that nobody listens for (Linux 6.10)"
    return
  fi
  for family in 4 -6; do
    host=127.0.0.1
    [ $family = 4 ] || host=::1
    [ $family = 4 ] || grep -q . /proc/net/if_inet6 2>/dev/null || continue
    # The five connections that were accepted end without a reset, or with one of a socket: neither is a refusal.
    run trace -c "$PROGS/packets ${family#4} connect" \
      -n 'tcp:::accept-refused /args[2]->ip_saddr == "'$host'" && args[2]->ip_daddr == "'$host'"/ { @[args[3]->tcps_lport == args[4]->tcp_dport, args[4]->tcp_flags] = count(); }' \
      -n 'tcp:::connect-refused /pid == $target/ { @c = count(); } END { printa("%d %d %@d\n", @); printa("%@d\n", @c); }'
    said 0 "1 2 1
1" || { echo "$family"; return 1; }
  done
}

@test "the name of another process is text wherever it stands, though the kernel's characters are unsigned" {
  needs_types
  run trace -c "sh -c 'kill -WINCH \$\$'" -n 'proc:::signal-send /pid == $target && args[2] == SIGWINCH/ { @[args[1]->pr_fname] = count(); self->s[args[1]->pr_fname] = 1; printf("<%s> %d\n", args[1]->pr_fname, self->s["sh"]); } END { printa("%s %@d\n", @); }'
  said 0 "<sh> 1
sh 1"
}

@test "udp, ip and tcp count exactly the packets that a program sends to itself, with the fields of their headers" {
  needs_types
  local family host version
  for family in 4 -6; do
    host=127.0.0.1 version=4
    [ $family = 4 ] || host=::1 version=6
    [ $family = 4 ] || grep -q . /proc/net/if_inet6 2>/dev/null || continue
    # What is received on the loopback device is so in the thread that sends, or in one that works for its CPU: so not by pid.
    run trace -c "$PROGS/packets ${family#4} send" \
      -n 'udp:::send /pid == $target && args[4]->udp_length == 41/ { @[args[4]->udp_dport, "udp sent"] = count(); @bad = sum(args[2]->ip_saddr != "'$host'" || args[2]->ip_plength != 41 || args[2]->ip_ver != '$version' || args[3]->udps_rport != args[4]->udp_dport || args[3]->udps_raddr != "'$host'" || args[3]->udps_lport != args[4]->udp_sport); }' \
      -n 'udp:::receive /args[4]->udp_length == 41/ { @[args[4]->udp_dport, "udp received"] = count(); }' \
      -n 'ip:::send /pid == $target && (args[4]->ipv4_protocol == IPPROTO_UDP || args[5]->ipv6_nexthdr == IPPROTO_UDP)/ { @[0, "ip sent"] = count(); @bad = sum(args[3]->if_name != "lo" || !args[3]->if_local || args[4]->ipv4_ver + args[5]->ipv6_ver != '$version'); }' \
      -n 'tcp:::send /pid == $target/ { @[args[4]->tcp_dport, args[4]->tcp_flags & TH_SYN ? "S" : args[4]->tcp_flags & TH_FIN ? "F" : args[4]->tcp_flags & TH_PUSH ? "P" : "."] = count(); }' \
      -n 'tcp:::receive /args[2]->ip_daddr == "'$host'" && args[2]->ip_plength == args[4]->tcp_offset + 5/ { @[args[4]->tcp_dport, "tcp received"] = count(); }' \
      -n 'END { printa("%d %s %@d\n", @); printa("bad %@d\n", @bad); }'
    [ "$status" -eq 0 ]
    has "bad 0"
    read -r _ udp tcp < <(grep ports <<<"$output")
    for want in "$udp udp sent 20" "$udp udp received 20" "0 ip sent 20" "$tcp S 1" "$tcp F 1" "$tcp P 5" "$tcp tcp received 5"; do
      grep -qx "$want" <<<"$output" || { echo "$family: not '$want' in: $output"; return 1; }
    done
  done
}
