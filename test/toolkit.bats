#!/usr/bin/env bats
# Scripts in the shapes in which collections of D scripts have them (reports by process, snoopers, distributions, times between two probes): that they
# compile as they stand, and what they say of programs of known numbers.  `#pragma`, comments, inline constants and columns are as such scripts have them.

bats_require_minimum_version 1.5.0
load common

teardown() { drop_disk; }

# toolkit OPTION... <SCRIPT: runs it as a script of its own, under the name dtrace; what it prints, without blank lines and double blanks.
toolkit() {
  cat >"$BATS_TEST_TMPDIR/toolkit.d"
  run as_dtrace "$@" -s "$BATS_TEST_TMPDIR/toolkit.d"
  output=$(sed -E -e 's/[[:blank:]]+/ /g' -e 's/^ //' -e 's/ $//' -e '/./!d' <<<"$output")
  [ "$status" -eq 0 ] || { echo "status $status: $output"; return 1; }
}
line() { grep -qxE -- "$1" <<<"$output" || { echo "no line '$1' in: $output"; return 1; }; } # PATTERN of a whole line

@test "new processes: time, owner, parent and arguments of each" {
  needs_types
  toolkit -c 'sh -c "/bin/echo one two; /bin/true"' <<'D'
#pragma D option quiet
#pragma D option switchrate=10hz
dtrace:::BEGIN { printf("%-20s %5s %6s %6s %s\n", "TIME", "UID", "PID", "PPID", "ARGS"); }
proc:::exec-success /ppid == $target/
{
	printf("%-20Y %5d %6d %6d %s\n", walltimestamp, uid, pid, ppid, curpsinfo->pr_psargs);
}
D
  line "[0-9]{4} [A-Z][a-z]{2} [0-9]+ [0-9:]{8} $(id -u) [0-9]+ [0-9]+ /bin/echo one two"
  [ "$(grep -c '/bin/true$' <<<"$output")" -le 1 ]
}

@test "snooped kill(2): who, to whom, which signal, with the result" {
  needs_bpf
  toolkit -c "sh -c 'kill -URG \$\$; kill -URG 999999999 2>/dev/null; true'" <<'D'
#pragma D option quiet
dtrace:::BEGIN { printf("%5s %12s %5s %6s %6s\n", "FROM", "COMMAND", "SIG", "TO", "RESULT"); }
syscall::kill:entry /progenyof($target)/ { self->target = (int)arg0; self->signal = arg1; }
syscall::kill:return /self->signal/
{
	printf("%5d %12s %5d %6d %6d\n", pid, execname, self->signal, self->target, (int)arg0);
	self->target = 0;
	self->signal = 0;
}
D
  line "([0-9]+) sh 23 \1 0"
  line "[0-9]+ sh 23 999999999 -3"
}

@test "short-lived processes: how many, and how long they ran together" {
  needs_types
  toolkit -c "$PROGS/tasks" <<'D'
#pragma D option quiet
dtrace:::BEGIN { start = timestamp; }
proc:::start /ppid == $target/ { self->started = timestamp; }
proc:::exit /ppid == $target && self->started/
{
	@num[execname] = count();
	@spent[execname] = sum(timestamp - self->started);
	self->started = 0;
}
dtrace:::END
{
	this->total = timestamp - start;
	printf("within a second: %d\n", this->total / 1000000000 < 60);
	printa("%s %@d\n", @num);
	normalize(@spent, 1000);
	printa("%s %@d us\n", @spent);
}
D
  line "tasks (1[89]|20)" # a process that comes to its CPU unseen has no start
  line "tasks [0-9]+ us"
}

@test "system calls by process, and by process and call" {
  needs_bpf
  toolkit -c "$PROGS/calls" <<'D'
#pragma D option quiet
dtrace:::BEGIN { on = 0; }
syscall::getppid:entry /pid == $target/ { on = !on; }
syscall:::entry /on && pid == $target/ { @num[execname, pid == $target, probefunc] = count(); @all[execname] = count(); }
dtrace:::END { trunc(@num, 3); printa("%-12s %d %-16s %@8d\n", @num); printa("%s %@d\n", @all); }
D
  line "calls 1 read 1000"
  line "calls 1 write 700"
  line "calls 1 openat 5"
}

@test "bytes read and written by process and direction, as a table and a distribution" {
  needs_bpf
  toolkit -c 'dd if=/dev/zero of=/dev/null bs=4096 count=250' <<'D'
#pragma D option quiet
dtrace:::BEGIN { trace("Tracing... Hit Ctrl-C to end\n"); }
syscall::read:return, syscall::write:return
/pid == $target && execname == "dd" && arg0 == 4096/
{
	@count[execname, probefunc == "read" ? "R" : "W"] = count();
	@bytes[probefunc == "read" ? "R" : "W"] = quantize(arg0);
}
dtrace:::END { printa("%s %s %@d\n", @count); printa(@bytes); }
D
  line "dd R 250"
  line "dd W 250"
  [ "$(grep -c '^4096 |@* 250$' <<<"$output")" -eq 2 ]
}

@test "files opened by process, with the pathname of the call" {
  needs_bpf
  toolkit -c "cat /etc/hostname /etc/passwd" <<'D'
#pragma D option quiet
syscall::open:entry, syscall::openat:entry
/pid == $target/
{
	this->path = probefunc == "open" ? arg0 : arg1;
	@files[execname, copyinstr(this->path)] = count();
}
dtrace:::END { printa("%-16s %s %@d\n", @files); }
D
  line "cat /etc/passwd 1"
}

@test "files created by process, by the flags of the call" {
  needs_bpf
  toolkit -c "sh -c 'echo a >$BATS_TEST_TMPDIR/made; : <$BATS_TEST_TMPDIR/made'" <<'D'
#pragma D option quiet
inline int CREATES = 0100;
syscall::creat:entry /pid == $target/ { printf("%s %s\n", execname, copyinstr(arg0)); }
syscall::openat:entry /pid == $target && (arg2 & CREATES)/ { printf("%s %s\n", execname, copyinstr(arg1)); }
D
  line "sh $BATS_TEST_TMPDIR/made"
  [ "$(grep -c made <<<"$output")" -eq 1 ]
}

@test "what is mapped, and read and written, by fds[]: path, name, directory, mount" {
  needs_types
  echo text >"$BATS_TEST_TMPDIR/data"
  toolkit -x evaltime=exec -c "cat $BATS_TEST_TMPDIR/data" <<'D'
#pragma D option quiet
syscall::mmap:entry /pid == $target && (int)arg4 >= 0/ { @mapped[fds[arg4].fi_name] = count(); }
syscall::read:entry /pid == $target && fds[arg0].fi_name == "data"/
{
	printf("%s %s %s %d\n", fds[arg0].fi_pathname, fds[arg0].fi_dirname, fds[arg0].fi_mount, fds[arg0].fi_offset);
}
dtrace:::END { printa("%s %@d\n", @mapped); }
D
  line "$BATS_TEST_TMPDIR/data $BATS_TEST_TMPDIR /[^ ]* 0"
  line 'libc\.so\.6 [0-9]+'
}

@test "minor faults by process, and all of vminfo by process" {
  needs_types
  "$TALLY" trace -l -n vminfo:::as_fault >/dev/null 2>&1 || skip "this kernel has no tracepoint of page faults"
  toolkit -c "$PROGS/pf 1000" <<'D'
#pragma D option quiet
vminfo:::as_fault /pid == $target/ { @mem[execname] = sum(arg0); }
vminfo::: /pid == $target/ { @vm[pid == $target, execname, probename] = sum(arg0); }
dtrace:::END
{
	printf("%-16s %16s\n", "CMD", "MINFAULTS");
	printa("%-16s %@16d\n", @mem);
	printf("%6s %-16s %20s %s\n", "PID", "CMD", "STATISTIC", "VALUE");
	printa("%6d %-16s %20s %@d\n", @vm);
}
D
  line 'pf 1[0-9]{3}'
  line '1 pf as_fault 1[0-9]{3}'
}

@test "CPUs and priorities of what runs, as linear distributions" {
  needs_bpf
  toolkit <<'D'
#pragma D option quiet
profile:::profile-500hz { @sample[execname] = lquantize(cpu, 0, 128, 1); @all = count(); }
profile:::profile-500hz { @pri = lquantize(curlwpsinfo->pr_pri, 0, 170, 10); }
profile:::tick-400ms { exit(0); }
dtrace:::END { printa("samples %@d\n", @all); printa(@pri); printa("CMD %s %@d\n", @sample); }
D
  line 'samples [0-9]+'
  line '[0-9]+ \|@* [0-9]+'
}

@test "sizes of block requests by process, and by device and direction" {
  needs_types
  make_disk
  toolkit -c "sh -c 'dd if=/dev/zero of=$loop bs=64k count=20 oflag=direct 2>/dev/null; dd if=$loop of=/dev/null bs=16k count=30 iflag=direct 2>/dev/null'" <<D
#pragma D option quiet
io:::start /args[1]->dev_statname == "${loop#/dev/}" && execname == "dd"/
{
	@size[pid > 0, curpsinfo->pr_psargs, args[0]->b_flags & B_READ ? "R" : "W"] = quantize(args[0]->b_bcount);
	@dev[args[1]->dev_name, args[1]->dev_statname, args[0]->b_flags & B_READ ? "R" : "W"] = sum(args[0]->b_bcount);
}
dtrace:::END { printa("%s %s %s %@d\n", @dev); printa(@size); }
D
  line "loop[0-9]* ${loop#/dev/} W 1310720"
  line "loop[0-9]* ${loop#/dev/} R 491520"
  line '65536 \|@+ 20'
  line '16384 \|@+ 30'
}

# Some machines tell nobody what happens while a thread of process 1 runs (a virtual machine's agent), so not of a request either that an interrupt ends then.
# Such a request is known: until the next one of dd was issued, such a thread was on a CPU, and nobody ever tells that one leaves it.
@test "time of each block request from start to done, by device and block as key" {
  needs_types
  make_disk
  toolkit -c "dd if=/dev/zero of=$loop bs=64k count=50 oflag=direct" <<D
#pragma D option quiet
io:::start /args[1]->dev_statname == "${loop#/dev/}"/ { start[args[0]->b_edev, args[0]->b_blkno] = timestamp; }
io:::done
/start[args[0]->b_edev, args[0]->b_blkno]/
{
	this->elapsed = timestamp - start[args[0]->b_edev, args[0]->b_blkno];
	@io = count();
	@wrong = sum(this->elapsed <= 0);
	@times["disk I/O (us)"] = quantize(this->elapsed / 1000);
	start[args[0]->b_edev, args[0]->b_blkno] = 0;
}
int agent[int];
dtrace:::BEGIN { begun = waits = came = untold = unexplained = leaves = 0; }
io:::start /args[1]->dev_statname == "${loop#/dev/}"/
{
	begun++;
	untold += waits;
	unexplained += waits && !came;
	waits = 1;
	came = agent[0] || agent[1] || agent[2] || agent[3] || agent[4] || agent[5] || agent[6] || agent[7];
}
io:::done /args[1]->dev_statname == "${loop#/dev/}"/ { waits = 0; }
rawtp:::sched_switch { agent[cpu] = args[2]->tgid == 1; }
rawtp:::sched_switch /args[2]->tgid == 1/ { came = 1; }
rawtp:::sched_switch /args[1]->tgid == 1/ { leaves = 1; }
dtrace:::END
{
	untold += waits;
	unexplained += waits && !came;
	printa("%@d requests, %@d without time\n", @io, @wrong);
	printf("%d begun, %d untold, %d unexplained\n", begun, untold, leaves ? untold : unexplained);
	printa(@times);
}
D
  line '[0-9]+ requests, 0 without time'
  line '[0-9]+ begun, [0-9] untold, 0 unexplained'
  awk '$2 == "requests," { n = $1 } $2 == "begun," { begun = $1; untold = $3 } END { exit !(begun >= 50 && n >= 41 && n + untold == begun) }' <<<"$output" ||
    { echo "$output"; return 1; }
}

@test "user stacks on CPU of a program that is named on the command line" {
  needs_bpf
  toolkit -c "$PROGS/cputime 40 5000" cputime <<'D'
#pragma D option quiet
profile:::profile-1001hz /execname == $$1 && arg1/ { @hits = count(); @stacks[ustack(5)] = count(); }
dtrace:::END { printa("hits %@d\n", @hits); trunc(@stacks, 3); printa(@stacks); }
D
  line 'hits [1-9][0-9]*'
}

@test "time off CPU, by user stack, from off-cpu to on-cpu" {
  needs_types
  toolkit -c "sh -c 'sleep 0.05; sleep 0.05'" sleep <<'D'
#pragma D option quiet
#pragma D option ustackframes=20
sched:::off-cpu /execname == $$1/ { self->ts = timestamp; @where[ustack()] = count(); }
sched:::on-cpu /self->ts/ { @time[execname] = sum((timestamp - self->ts) / 1000000); @ = count(); self->ts = 0; }
dtrace:::END { printa("%s %@d ms\n", @time); trunc(@where, 1); printa(@where); }
D
  line 'sleep ([5-9][0-9]|[1-9][0-9]{2,}) ms'
}

@test "latency of a run queue, from wakeup to on-cpu of the same thread" {
  needs_types
  toolkit -c "$PROGS/tasks switch" <<'D'
#pragma D option quiet
sched:::wakeup /args[1]->pr_pid == $target/ { ts[args[0]->pr_lwpid, args[1]->pr_pid] = timestamp; }
sched:::on-cpu /ts[tid, pid]/
{
	@n = count();
	@wrong = sum(timestamp < ts[tid, pid]);
	@latency[execname] = quantize(timestamp - ts[tid, pid]);
	ts[tid, pid] = 0;
}
dtrace:::END { printa("%@d wake-ups, wrong %@d\n", @n, @wrong); printa(@latency); }
D
  line '([5-9][0-9]{2}|[1-4][0-9]{3}) wake-ups, wrong 0'
}

@test "accepted connections, and the time to connect, by port" {
  needs_types
  toolkit -c "$PROGS/packets connect" <<'D'
#pragma D option quiet
tcp:::accept-established /pid == $target/ { @in[args[3]->tcps_raddr, args[3]->tcps_lport != 0] = count(); }
tcp:::connect-request /pid == $target/ { start[args[1]->cs_cid] = timestamp; }
tcp:::connect-established /start[args[1]->cs_cid]/
{
	@latency["connect (ns)", args[3]->tcps_raddr] = quantize(timestamp - start[args[1]->cs_cid]);
	@made = count();
	start[args[1]->cs_cid] = 0;
}
dtrace:::END { printa("from %s %d: %@d\n", @in); printa("made %@d\n", @made); printa(@latency); }
D
  line 'from 127.0.0.1 1: 5'
  line 'made 5'
  line 'connect \(ns\) 127.0.0.1'
}

@test "packets of IP by addresses and protocol, and bytes of TCP by direction" {
  needs_types
  toolkit -c "$PROGS/packets send" <<'D'
#pragma D option quiet
ip:::send /pid == $target/ { @num[args[2]->ip_saddr, args[2]->ip_daddr, args[4]->ipv4_protostr] = count(); }
tcp:::send /pid == $target && args[4]->tcp_flags & TH_PUSH/
{
	@bytes["sent"] = sum(args[2]->ip_plength - args[4]->tcp_offset);
	@sizes[args[3]->tcps_raddr] = quantize(args[2]->ip_plength - args[4]->tcp_offset);
}
dtrace:::END
{
	printf("%-24s %-24s %6s %8s\n", "SADDR", "DADDR", "PROTO", "COUNT");
	printa("%-24s %-24s %6s %@8d\n", @num);
	printa("%s %@d\n", @bytes);
	printa(@sizes);
}
D
  line '127.0.0.1 127.0.0.1 UDP 20'
  line 'sent 25'
  line '4 \|@+ 5'
}

@test "processes that end by a signal, with the signal that a process got last" {
  needs_types
  toolkit -c "$PROGS/tasks" <<'D'
#pragma D option quiet
proc:::signal-handle /ppid == $target && args[0] == SIGKILL/ { @sig["killed"] = count(); }
proc:::exit /ppid == $target && (args[0] == CLD_KILLED || args[0] == CLD_DUMPED)/
{
	@ends[execname, args[0] == CLD_DUMPED ? "dumped or faulted" : "killed"] = count();
	@n = count();
}
proc:::signal-send /args[2] == SIGSEGV && args[1]->pr_fname == "tasks"/ { @faults[args[1]->pr_fname] = count(); }
dtrace:::END { printa("%s %@d\n", @sig); printa("all %@d\n", @n); printa("%s %s %@d\n", @ends); printa("%s %@d\n", @faults); }
D
  line 'killed 5'
  line 'all 7'
}

@test "change of the user id: old and new, with the process before and after" {
  needs_bpf
  command -v setpriv >/dev/null || skip "no setpriv"
  toolkit -c 'setpriv --reuid=12345 true' <<'D'
#pragma D option quiet
dtrace:::BEGIN { printf("%6s %6s %s\n", "UID", "NEWUID", "COMMAND"); }
syscall::set*uid*:entry /pid == $target/ { self->uid = uid; self->call = probefunc; self->in = 1; }
syscall::set*uid*:return /self->in && arg1 == 0/ { printf("%d %d %s %s\n", self->uid, uid, execname, self->call); }
syscall::set*uid*:return { self->uid = 0; self->call = 0; self->in = 0; }
D
  line '0 12345 setpriv setresuid'
}

@test "size of what a process has mapped, from the members of the kernel's own structures" {
  needs_types
  toolkit -c "$PROGS/pf 10" <<'D'
#pragma D option quiet
syscall::exit_group:entry /pid == $target/
{
	this->mm = curthread->mm;
	printf("%s %d %d\n", execname, this->mm->total_vm > 100 && this->mm->total_vm < 1000000, this->mm->start_stack > this->mm->brk);
}
D
  line 'pf 1 1'
}

@test "stacks of programs that run code of their own: jstack() where ustack() stands" {
  needs_bpf
  toolkit -c "$PROGS/cputime 40 5000" <<'D'
#pragma D option quiet
#pragma D option jstackstrsize=1024
profile:::profile-1001 /pid == $target && arg1/ { @stacks[jstack(10, 512)] = count(); @hits = count(); }
dtrace:::END { printa("hits %@d\n", @hits); trunc(@stacks, 2); printa(@stacks); }
D
  line 'hits [1-9][0-9]*'
}

@test "errors of system calls by number and name of the error, from return probes" {
  needs_bpf
  toolkit -c "$PROGS/calls" <<'D'
#pragma D option quiet
dtrace:::BEGIN { err[ENOENT] = "No such file"; err[EINTR] = "Interrupted"; on = 0; }
syscall::getppid:entry /pid == $target/ { on = !on; }
syscall:::return /on && pid == $target && errno && probefunc == "openat"/
{
	@[probefunc, errno, err[errno] != NULL ? err[errno] : "?"] = count();
}
dtrace:::END { printf("%16s %5s %-20s %s\n", "SYSCALL", "ERRNO", "ERROR", "COUNT"); printa("%16s %5d %-20s %@d\n", @); }
D
  line 'openat 2 No such file 5'
}

@test "elapsed and CPU time of system calls, by timestamp and vtimestamp" {
  needs_bpf
  toolkit -c 'sleep 0.1' <<'D'
#pragma D option quiet
syscall::*nanosleep:entry /pid == $target/ { self->start = timestamp; self->vstart = vtimestamp; }
syscall::*nanosleep:return /self->start/
{
	this->elapsed = timestamp - self->start;
	this->cpu = vtimestamp - self->vstart;
	@elapsed[probefunc] = sum(this->elapsed / 1000000);
	@less = sum(this->cpu < this->elapsed / 2);
	self->start = 0;
	self->vstart = 0;
}
dtrace:::END { printa("%s %@d ms\n", @elapsed); printa("computes less than half: %@d\n", @less); }
D
  line '(clock_)?nanosleep (1[0-9]{2}|[2-9][0-9]{2,}) ms'
  line 'computes less than half: 1'
}

@test "a report every second, with a heading and a load average, that ends by itself" {
  needs_bpf
  toolkit 1 2 <<'D'
#pragma D option quiet
#pragma D option defaultargs
inline int INTERVAL = $1 ? $1 : 5;
inline int TIMES = $2;
dtrace:::BEGIN { secs = INTERVAL; times = TIMES; printf("every %d s, %d times\n", INTERVAL, TIMES); reads = 0; }
syscall::read:entry { reads++; }
profile:::tick-100ms { secs--; }
profile:::tick-100ms
/secs == 0/
{
	printf("%Y, reads: %s\n", walltimestamp, reads >= 0 ? "counted" : "none");
	secs = INTERVAL;
	times--;
	reads = 0;
}
profile:::tick-100ms /times == 0/ { exit(0); }
D
  line 'every 1 s, 2 times'
  [ "$(grep -c 'reads: counted$' <<<"$output")" -eq 2 ]
}

@test "a flow of calls below one function, indented, with guards of a thread" {
  needs_bpf
  toolkit -F -c "$PROGS/functions 3" <<'D'
#pragma D option quiet
pid$target:a.out:main:entry { self->in = 1; }
pid$target:a.out:step:entry, pid$target:a.out:step:return /self->in/ { printf("%s %s\n", probefunc, probename); @[probename] = count(); }
pid$target:a.out:main:return /self->in/ { self->in = 0; }
dtrace:::END { printa("%s %@d\n", @); }
D
  line 'entry 3'
  line 'return 3'
}

@test "the last words of a terminal: writes of one process, speculated and kept only for those that fail" {
  needs_bpf
  toolkit -c "$PROGS/calls" <<'D'
#pragma D option quiet
#pragma D option nspec=8
syscall::openat:entry /pid == $target && !self->spec/ { self->spec = speculation(); speculate(self->spec); printf("%s ", execname); }
syscall::openat:return /self->spec/ { speculate(self->spec); printf("errno %d\n", errno); }
syscall::openat:return /self->spec && errno == ENOENT/ { commit(self->spec); self->spec = 0; kept++; }
syscall::openat:return /self->spec/ { discard(self->spec); self->spec = 0; }
dtrace:::END { printf("kept %d\n", kept); }
D
  line 'calls errno 2'
  line 'kept [5-9]'
}

@test "segments of both directions in one clause, with their flags, and the state and window of who sends" {
  needs_types
  toolkit -c "$PROGS/packets connect" <<'D'
#pragma D option quiet
#pragma D option switchrate=10hz
dtrace:::BEGIN { printf("%-3s %15s:%-5s    %15s:%-5s %6s %s\n", "CPU", "LADDR", "LPORT", "RADDR", "RPORT", "BYTES", "FLAGS"); }
tcp:::send /pid == $target/
{
	this->length = args[2]->ip_plength - args[4]->tcp_offset;
	printf("%-3d %15s:%-5d -> %15s:%-5d %6d (", cpu, args[2]->ip_saddr, args[4]->tcp_sport, args[2]->ip_daddr,
	    args[4]->tcp_dport, this->length);
	@window[tcp_state_string[args[3]->tcps_state], args[3]->tcps_local, args[3]->tcps_snxt == args[4]->tcp_seq + this->length] = count();
}
tcp:::receive /pid == $target/
{
	this->length = args[2]->ip_plength - args[4]->tcp_offset;
	printf("%-3d %15s:%-5d <- %15s:%-5d %6d (", cpu, args[2]->ip_daddr, args[4]->tcp_dport, args[2]->ip_saddr,
	    args[4]->tcp_sport, this->length);
}
tcp:::send, tcp:::receive
/pid == $target/
{
	printf("%s", args[4]->tcp_flags & TH_SYN ? "SYN|" : "");
	printf("%s", args[4]->tcp_flags & TH_RST ? "RST|" : "");
	printf("%s", args[4]->tcp_flags & TH_ACK ? "ACK|" : "");
	printf("\b)\n");
	@flags[probename, args[4]->tcp_flags & (TH_SYN | TH_RST | TH_ACK)] = count();
}
ip:::send, ip:::receive
/pid == $target/
{
	@proto[args[2]->ip_saddr, args[2]->ip_daddr, args[2]->ip_ver == 4 ? args[4]->ipv4_protostr : args[5]->ipv6_nextstr] = count();
}
dtrace:::END { printa("%s %d %@d\n", @flags); printa("proto %s %s %s %@d\n", @proto); printa("from %s %d %d %@d\n", @window); }
D
  line 'send 2 6' # 5 connections and one that is refused ask, 5 are answered, and one is not
  line 'receive 2 6'
  line 'send 18 5'
  line 'receive 18 5'
  line 'receive 20 1'
  [ "$(grep -c ' -> .*(SYN|' <<<"$output")" -eq 11 ]
  [ "$(grep -c ' <- .*(SYN|' <<<"$output")" -eq 11 ]
  line 'from state-syn-sent 1 [01] 6'
  line 'from state-established 1 1 [0-9]+'
  line "proto 127.0.0.1 127.0.0.1 TCP $((2 * $(grep -c ' -> ' <<<"$output")))"
}

@test "changes of TCP states by name" {
  needs_types
  toolkit -c "$PROGS/packets connect" <<'D'
#pragma D option quiet
tcp:::state-change /pid == $target && args[3]->tcps_state != TCP_STATE_CLOSED && args[3]->tcps_local/
{
	@[tcp_state_string[args[5]->tcps_state], tcp_state_string[args[3]->tcps_state]] = count();
}
tcp:::connect-established, tcp:::accept-established, tcp:::connect-refused /pid == $target/ { @ends[probename, args[3]->tcps_raddr] = count(); }
dtrace:::END { printa("%s %s %@d\n", @); printa("%s %s %@d\n", @ends); }
D
  line 'state-closed state-syn-sent 6'
  line 'state-syn-sent state-established 5'
  line 'state-listen state-syn-received 5'
  line 'connect-refused 127.0.0.1 1'
  line 'accept-established 127.0.0.1 5'
}

@test "signals that are sent, with the name of who gets them where its arguments can't be read" {
  needs_types
  toolkit -c "$PROGS/tasks" <<'D'
#pragma D option quiet
dtrace:::BEGIN { printf("%6s %-14s %6s %-14s %3s\n", "SPID", "SENDER", "RPID", "RECEIVER", "SIG"); }
proc:::signal-send
/ppid == $target && args[2] == SIGCHLD/
{
	@[execname, args[1]->pr_psargs, args[1]->pr_pid == $target, stringof(args[1]->pr_fname)] = count();
}
dtrace:::ERROR { @errors = count(); }
dtrace:::END { printa("%s %s %d %s %@d\n", @); printa("errors %@d\n", @errors); }
D
  line 'tasks tasks 1 tasks 20'
  run ! grep -q errors <<<"$output"
}

@test "scheduling classes as ps(1) prints them, and the CPU that a thread is bound to" {
  needs_types
  command -v chrt >/dev/null && command -v taskset >/dev/null || skip "no chrt or taskset (util-linux)"
  for class in other:TS fifo:FF rr:RR batch:B idle:IDL; do
    priority=0
    [[ $class != [fr]* ]] || priority=1
    toolkit -x evaltime=exec -c "chrt --${class%:*} $priority taskset -c 0 true" <<'D'
#pragma D option quiet
syscall::exit_group:entry /pid == $target/
{
	printf("class %s bound %d of %d, set %d\n", stringof(curlwpsinfo->pr_clname), curlwpsinfo->pr_bindpro,
	    curlwpsinfo->pr_onpro, curlwpsinfo->pr_bindpset);
}
D
    line "class ${class#*:} bound 0 of 0, set -1"
  done
}

@test "a structure of another kernel is refused with its member's name and line" {
  needs_types
  refused() { # SCRIPT WORDS...: each in the answer
    printf '%s\n' "$1" >"$BATS_TEST_TMPDIR/other.d"
    run as_dtrace -e -s "$BATS_TEST_TMPDIR/other.d"
    [ "$status" -eq 1 ] || { echo "status $status: $output"; return 1; }
    shift
    for words; do has "$words"; done
  }
  refused $'BEGIN\n{\n\ttrace(curthread->t_procp->p_user.u_comm);\n}' "line 3" "t_procp is not a member of struct task_struct"
  refused $'#pragma D option quiet\nsyscall::read:entry\n{\n\tself->path = fds[arg0].fi_vnode->v_path;\n}' "line 4" "fi_vnode is not a member of struct fileinfo"
  refused $'io:::start\n{\n\t@[args[0]->b_file] = count();\n}' "line 3" "b_file is not a member of struct bufinfo"
  refused $'BEGIN\n{\n\ttrace(((struct vnode *)0)->v_path);\n}' "line 3" "vnode"
  refused $'tcp:::receive\n/args[3]->tcps_rwnd_now == 0/\n{\n\t@ = count();\n}' "line 2" "tcps_rwnd_now is not a member of struct tcpsinfo"
  refused $'BEGIN\n{\n\ttrace(`cpu_list->cpu_id);\n}' "line 3" "cpu_list"
}
