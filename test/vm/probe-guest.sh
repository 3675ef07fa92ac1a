# probe-guest.sh - probes of the kernel and of processes in an arm64 guest with Linux 6.1, against programs that make known numbers of
# what fires them; by busybox sh.  Sourced by the script that probes.sh makes, and by guest.sh with $SMOKE set: then a few checks only.
trace() { timeout 120 tally trace -x syslibdir=/guest/lib/tally/d -q "$@" 2>&1; }
tell() { printf 'END { '; for v; do printf 'printf("%s %%d ", %s); ' "$v" "$v"; done; printf '}'; } # NAME...: variables as text
prints() { # WORDS WANT OPTION...: what a script prints, in one line
  words=$1 want=$2
  shift 2
  is "$words" "$(trace "$@" | tr '\n' ' ' | sed -e 's/  */ /g' -e 's/^ //' -e 's/ $//')" "$want"
}

prints "syscall: calls are as many as the program makes" "1000 reads 700 writes reads 1000 writes 700 failed 5" -c calls \
  -n 'BEGIN { on = reads = writes = failed = 0; } syscall::getppid:entry /pid == $target/ { on = !on; }' \
  -n 'syscall::read:entry /on && pid == $target/ { reads++; } syscall::write:entry /on && pid == $target/ { writes++; }' \
  -n 'syscall::openat:return /on && pid == $target && errno == ENOENT/ { failed++; }' -n "$(tell reads writes failed)"
prints "proc: processes and threads are as many as the program makes" \
  "creates 20 threads 27 starts 20 begins 7 ends 20 exited 13 killed 7 leaves 8" -c tasks \
  -n 'BEGIN { creates = threads = starts = begins = ends = leaves = exited = killed = 0; }' \
  -n 'proc:::create /pid == $target/ { creates++; } proc:::lwp-create /pid == $target/ { threads++; }' \
  -n 'proc:::start /ppid == $target/ { starts++; } proc:::lwp-start /pid == $target/ { begins++; }' \
  -n 'proc:::exit /ppid == $target/ { ends++; exited += args[0] == CLD_EXITED; killed += arg0 == CLD_KILLED || arg0 == CLD_DUMPED; }' \
  -n 'proc:::lwp-exit /pid == $target/ { leaves++; }' -n "$(tell creates threads starts begins ends exited killed leaves)"
prints "pid: calls and returns are as many as the program counts, with their values" "10000 10000 49995000 10000 99990000" -c 'functions 10000' \
  -n 'pid$target:a.out:step:entry { @e = count(); @i = sum(arg0); } pid$target:a.out:step:return { @r = count(); @v = sum(arg1); }' \
  -n 'END { printa("%@d %@d %@d %@d", @e, @i, @r, @v); }'
[ -z "${SMOKE:-}" ] || return 0

prints "proc: signals are as many as the program sends itself" "sent 37 discarded 4 handled 30 users 30 cleared 3" -c tasks \
  -n 'BEGIN { sent = discarded = handled = cleared = users = 0; }' \
  -n 'proc:::signal-send /pid == $target && args[1]->pr_pid == pid && args[0]->pr_lwpid == tid/ { sent++; }' \
  -n 'proc:::signal-discard /pid == $target && args[2] == SIGURG/ { discarded++; }' \
  -n 'proc:::signal-handle /pid == $target && args[0] == SIGUSR1/ { handled++; users += args[1]->si_signo == SIGUSR1 && args[1]->si_pid == pid && args[2] != NULL; }' \
  -n 'proc:::signal-clear /pid == $target && args[0] == SIGUSR2/ { cleared++; }' -n "$(tell sent discarded handled users cleared)"
prints "proc: programs that are not there, and faults" "tried 3 failed 3 killed 5" -c tasks \
  -n 'BEGIN { tried = failed = killed = 0; }' \
  -n 'proc:::exec /ppid == $target && stringof(args[0]) == "/nonexistent/program"/ { tried++; }' \
  -n 'proc:::exec-failure /ppid == $target && args[0] == ENOENT && arg0 == 2/ { failed++; }' \
  -n 'proc:::signal-handle /ppid == $target && args[0] == SIGKILL/ { killed++; }' -n "$(tell tried failed killed)"
prints "proc: exec-success is of the new program, with its arguments and its parent" "said echo /bin/echo said 1" -c 'sh -c "/bin/echo said; true"' \
  -n 'proc:::exec-success /ppid == $target/ { printf("%s %s %d ", execname, curpsinfo->pr_psargs, curpsinfo->pr_ppid == $target); }'

said=$(trace -c 'tasks switch' -n 'BEGIN { sleeps = preempts = 0; on = 0; }' \
  -n 'proc:::exec-success /pid == $target/ { before_v = curthread->nvcsw; before_i = curthread->nivcsw; on = 1; }' \
  -n 'sched:::sleep /on && tid == $target/ { sleeps++; } sched:::preempt /on && tid == $target/ { preempts++; }' \
  -n 'syscall::write:entry /on && pid == $target && arg0 == 1/ { printf("slept %d %d preempted %d %d\n", sleeps, curthread->nvcsw - before_v, preempts, curthread->nivcsw - before_i); }')
printf '%s\n' "$said" | awk '$1 == "slept" { n = 1; bad += $2 != $3 || $5 != $6 || $2 < 500 } END { exit !n || bad }'
check $? "sched: sleep and preempt count what /proc/PID/status does" "$said"
prints "sched: who is switched to is the one that was switched from, and wakeup tells who wakes whom" "1 1 1" -c 'sh -c "exec tasks switch >/dev/null"' \
  -n 'BEGIN { on = off = back = woken = 0; } sched:::off-cpu /pid == $target/ { off++; self->gone = tid; }' \
  -n 'sched:::on-cpu /pid == $target/ { on++; back += self->gone == tid; self->gone = 0; }' \
  -n 'sched:::wakeup /pid == $target && args[1]->pr_ppid == $target/ { woken++; }' \
  -n 'END { printf("%d %d %d", on >= off - 1 && on <= off + 1 && off > 500, back >= on - 1, woken > 500); }'
trace -c 'tasks switch' -n 'sched:::on-cpu /pid == $target/ { @[stack()] = count(); }' >/tmp/said
grep -q pipe_read /tmp/said
check $? "sched: stack() of who is switched to is where it slept" "$(cat /tmp/said)"

# A device that nobody else uses.
disk() { awk '{ print $1, $3 * 512, $5, $7 * 512 }' /sys/block/nvme0n1/stat; }
before=$(disk)
prints "io, vminfo: requests, bytes and pages are as many as the program makes" "$(
  echo reads 200 got $((200 * 16384)) writes 100 put $((100 * 65536)) ended 300 in $((200 * 4)) out $((100 * 16)))" \
  -c "sh -c 'dd if=/dev/zero of=/dev/nvme0n1 bs=64k count=100 oflag=direct 2>/dev/null; dd if=/dev/nvme0n1 of=/dev/null bs=16k count=200 iflag=direct 2>/dev/null'" \
  -n 'BEGIN { reads = writes = got = put = ended = pgin = pgout = 0; }' \
  -n 'io:::start /args[1]->dev_statname == "nvme0n1" && args[0]->b_bcount && args[0]->b_flags & B_READ/ { reads++; got += args[0]->b_bcount; }' \
  -n 'io:::start /args[1]->dev_statname == "nvme0n1" && args[0]->b_bcount && args[0]->b_flags & B_WRITE/ { writes++; put += args[0]->b_bcount; }' \
  -n 'io:::done /args[1]->dev_statname == "nvme0n1" && args[0]->b_bcount/ { ended++; }' \
  -n 'vminfo:::pgpgin { pgin += arg0; } vminfo:::pgpgout { pgout += arg0; }' \
  -n 'END { printf("reads %d got %d writes %d put %d ended %d in %d out %d", reads, got, writes, put, ended, pgin, pgout); }'
is "io: so says /sys/block" "$(echo "$before $(disk)" | awk '{ print $5 - $1, $6 - $2, $7 - $3, $8 - $4 }')" "200 $((200 * 16384)) 100 $((100 * 65536))"

ifconfig lo up
for six in "" -6; do
  host=127.0.0.1 version=4
  [ -z "$six" ] || host=::1 version=6
  prints "tcp$six: connections made, accepted, refused" "asked 6 made 5 taken 5 refused 1 right 10" -c "packets $six connect" \
    -n 'BEGIN { asked = made = taken = refused = right = 0; } tcp:::connect-request /pid == $target/ { asked++; }' \
    -n 'tcp:::connect-established /pid == $target/ { made++; right += args[2]->ip_saddr == "'$host'" && args[4]->tcp_sport == args[3]->tcps_rport && args[5]->tcps_state == TCP_STATE_SYN_SENT; }' \
    -n 'tcp:::accept-established /pid == $target/ { taken++; right += args[3]->tcps_laddr == "'$host'" && args[4]->tcp_dport == args[3]->tcps_lport; }' \
    -n 'tcp:::connect-refused /pid == $target/ { refused++; }' -n "$(tell asked made taken refused right)"
  said=$(trace -c "packets $six send" \
    -n 'udp:::send /pid == $target && args[4]->udp_length == 41/ { @[args[4]->udp_dport, "udp sent"] = count(); @bad = sum(args[2]->ip_saddr != "'$host'" || args[2]->ip_plength != 41 || args[2]->ip_ver != '$version' || args[3]->udps_rport != args[4]->udp_dport); }' \
    -n 'udp:::receive /args[4]->udp_length == 41/ { @[args[4]->udp_dport, "udp received"] = count(); }' \
    -n 'ip:::send /pid == $target && (args[4]->ipv4_protocol == IPPROTO_UDP || args[5]->ipv6_nexthdr == IPPROTO_UDP)/ { @[0, "ip sent"] = count(); @bad = sum(args[3]->if_name != "lo" || args[4]->ipv4_ver + args[5]->ipv6_ver != '$version'); }' \
    -n 'tcp:::send /pid == $target && args[4]->tcp_flags & TH_PUSH/ { @[args[4]->tcp_dport, "pushed"] = count(); } tcp:::receive /args[4]->tcp_flags & TH_PUSH/ { @[args[4]->tcp_dport, "received"] = count(); }' \
    -n 'END { printa("%d %s %@d\n", @); printa("bad %@d\n", @bad); }')
  printf '%s\n' "$said" >/tmp/said
  set -- $(grep '^ports' /tmp/said)
  is "udp, ip, tcp$six: packets are as many as the program sends" \
    "$(sed -e "s/^${2:-0} /datagrams: /" -e "s/^${3:-0} /segments: /" -e '/^ports/d' -e '/^$/d' /tmp/said | sort | tr '\n' ' ')" \
    "0 ip sent 20 bad 0 datagrams: udp received 20 datagrams: udp sent 20 segments: pushed 5 segments: received 5 "
done

prints "rawtp, sdt: tracepoints with typed arguments" "forks 20 sdt 20 first tasks" -c tasks \
  -n 'BEGIN { forks = also = 0; } rawtp:::sched_process_fork /args[0]->tgid == $target && args[1]->tgid != $target/ { forks++; first = stringof(args[0]->comm); }' \
  -n 'sdt:::sched_process_fork /args[0]->tgid == $target && args[1]->tgid != $target/ { also++; } END { printf("forks %d sdt %d first %s", forks, also, first); }'
prints "usdt: each firing, with its arguments" "1000 1000 500500 -500500 serve" -c 'app 1000' \
  -n 'app$target:::req { @n = count(); @a = sum(arg0); @b = sum(args[1]); f = probefunc; } END { printa("%@d %@d %@d ", @n, @a, @b); printf("%s", f); }'
prints "usdt: a probe that is asked for is enabled" "0 looked idle" -c 'app 0' -n 'app$target:::idle { printf("%s", probename); }'
prints "cpc: each page fault of a program" "1 1" -x dcpc_min_overflow=1 -c "sh -c \"pf 1000 >/dev/null\"" -n 'BEGIN { n = 0; } cpc:::page_faults-user-1 /execname == "pf"/ { n++; k = curthread->min_flt; } END { printf("%d %d", n >= 1000, k - n < 200); }'
prints "a storm of calls is counted whole" "1000000" -c 'sh -c "calls loop 1000000 >/dev/null"' \
  -n 'BEGIN { n = 0; } syscall::getppid:entry /execname == "calls"/ { n++; } END { printf("%d", n); }'
prints "tick, profile: as often as the time says" "10 1" -n 'BEGIN { n = p = 0; } tick-100ms { n++; } profile-100 { p++; } tick-1050ms { printf("%d %d", n, p >= 100 && p <= 106); exit(0); }'

# ---- what is at functions of the kernel: here by kprobes -------------------------------------------------
prints "sched: change-pri, enqueue, dequeue and tick" "change-pri 7 dequeue 1 enqueue 1 tick 1" -c 'sh -c "renice 7 \$\$ >/dev/null; sleep 0.1"' \
  -n 'sched:::change-pri /pid == $target || ppid == $target/ { printf("change-pri %d ", args[2] - 120); }' \
  -n 'sched:::enqueue, sched:::dequeue { @n[probename] = max(args[2]->cpu_id == cpu && args[0]->pr_lwpid > 0); } sched:::tick { @n[probename] = max(1); }' \
  -n 'END { printa("%s %@d ", @n); }'
prints "lockstat: a mutex is given back once for each write to a pipe" "1000" -c "sh -c 'dd if=/dev/zero bs=1 count=1000 2>/dev/null | cat >/dev/null'" \
  -n 'syscall::write:entry /execname == "dd" && args[0] == 1/ { self->in = 1; } syscall::write:return { self->in = 0; }' \
  -n 'lockstat:::adaptive-release /self->in && args[0] != NULL/ { @ = count(); } END { printa("%@d", @); }'
prints "io: who waits for a device" "1 nvme0n1" -c 'sh -c "dd if=/dev/zero of=/dev/nvme0n1 bs=4096 count=1 conv=fsync 2>/dev/null"' \
  -n 'BEGIN { n = 0; } io:::wait-start /execname == "dd"/ { n = 1; name = args[1]->dev_statname; } END { printf("%d %s", n, name); }'
