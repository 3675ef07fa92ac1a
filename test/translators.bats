#!/usr/bin/env bats
# The published structs (lib/tally/d): the page of their members against the compiler, and each member against what /proc, sysfs, ps and
# the socket itself say of a thread, a CPU, a request and a connection that are known.
load common

teardown() { drop_disk; }

PAGE=$BATS_TEST_DIRNAME/../doc/translators.md
LIBRARIES=$BATS_TEST_DIRNAME/../lib/tally/d

trace() { "$TALLY" trace -q "$@"; }
# compared WANT GOT NAME=MOST...: two files of lines "NAME VALUE" are the same, but that those values may differ by so much.
compared() {
  local want=$1 got=$2 most="${*:3}"
  awk -v most="$most" 'BEGIN { n = split(most, m, " "); for (i = 1; i <= n; i++) { split(m[i], p, "="); may[p[1]] = p[2] } }
    { name = $1; sub("^[^ ]* ?", ""); }
    FNR == NR { want[name] = $0; n_want++; next }
    { n_got++; d = $0 - want[name]; d = d < 0 ? -d : d; said = name in may ? d <= may[name] : $0 == want[name]
      if (!(name in want) || !said) { printf("%s is \"%s\", and should be \"%s\"\n", name, $0, want[name]); bad = 1 } }
    END { if (n_got != n_want) { printf("%d rows, and should be %d\n", n_got, n_want); bad = 1 } exit bad }' "$want" "$got"
}

# page: of each row of the page a line "STRUCT|MEMBER|SOURCES|REFUSED OF|TEXT".
page() {
  awk -F' *[|] *' '/^## / { split($0, h, ": "); sub("^## ", "", h[1]); of = h[1]; from = h[2]; gsub("[`,]", "", from) }
    of != "" && $2 ~ /^`/ { m = $2; no = $4; gsub("`", "", m); gsub("`", "", no); print of "|" m "|" from "|" no "|" $3 }' "$PAGE"
}
# source NAME: an expression of that type.
source_of() { [ "$1" = processorid_t ] && echo '(processorid_t)0' || echo "(struct $1 *)0"; }

@test "the page has each member of each published struct once" {
  cat "$LIBRARIES"/*.d | awk '/^typedef struct [a-z0-9_]+ \{/ { of = $3 "_t"; next } /^}/ { of = "" }
    of != "" { gsub("[*;]|\\[.*", ""); print of " " $NF }' | grep -v '^timestruc_t ' | sort >"$BATS_TEST_TMPDIR/have"
  [ "$(wc -l <"$BATS_TEST_TMPDIR/have")" -gt 150 ]
  page | awk -F'|' '{ print $1 " " $2 }' | sort | diff "$BATS_TEST_TMPDIR/have" -
}

@test "each member of each published struct compiles, or is refused by its name with the reason that the page gives" {
  needs_types
  local of member from no text source script others
  cd "$BATS_TEST_TMPDIR"
  # All that are given, of one source, are one script; each that is refused is one.
  while IFS='|' read -r of member from no text; do
    for source in $from; do
      if [[ " $no " == *" $source "* ]]; then
        script="BEGIN { print(xlate < $of > ($(source_of "$source")).$member); }"
        run "$TALLY" trace -qxerrtags -en "$script"
        [ "$status" -eq 1 ]
        has "[D_XLATE_NOCONV] in action list: translator does not define conversion for member: $member"
        # The published tests hold these two messages to have no more words.
        case $member in pr_nice | pr_cpu) [[ $text == refused:* ]] && continue ;; esac
        [[ $output == *": $member: "* && $text == *"refused: ${output##*": $member: "}"* ]] || { echo "$output, and the page: $text"; return 1; }
      else
        echo "BEGIN { print(xlate < $of > ($(source_of "$source")).$member); }" >>"given.$of.$source"
      fi
    done
  done < <(page)
  # The kernel takes them all; of a struct that is not there reading most of them is a fault.
  for script in given.*; do
    run "$TALLY" trace -qs "$script" -n 'BEGIN { exit(7); }'
    [ "$status" -eq 7 ] || { echo "$output"; return 1; }
    others=$(LC_ALL=C sed -nE '/^tally: error in dt_clause_[0-9]+ for probe ID [0-9]+ \(dtrace:::BEGIN\): invalid address/d; /^tally:/p' <<<"$output")
    [ -z "$others" ] || { echo "$script: $others"; return 1; }
  done
  [ "$(cat given.* | wc -l)" -gt 250 ]
}

# What the process of the next test says of itself: a bash, with 20 MB, that a child has used time for.
process() {
  cat <<'EOF'
words() { local IFS=$1; set -- $2; echo "${!3}"; }
x=$(head -c 20000000 /dev/zero | tr '\0' x)
(for ((i = 0; i < 200000; i++)); do :; done)
read -r stat </proc/self/stat
own=(${stat##*) })
status() { while read -r name value; do [ "$name" != "$1:" ] || echo "$value"; done </proc/self/status; }
tty=${own[4]}
kib=$(($(getconf PAGESIZE) / 1024))
now=$(($(awk '$1 == "btime" { print $2 }' /proc/stat) + own[19] / $(getconf CLK_TCK)))
memory=$(awk '$1 == "MemTotal:" { print $2 }' /proc/meminfo)
read -r user euser rest <<<"$(status Uid)"
read -r group egroup rest <<<"$(status Gid)"
cgroup=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
cat >want <<END
pr_nlwp $(status Threads)
pr_pid $$
pr_ppid $PPID
pr_pgid ${own[2]}
pr_sid ${own[3]}
pr_uid $user
pr_euid $euser
pr_gid $group
pr_egid $egroup
pr_size $((own[20] / 1024))
pr_rssize $((own[21] * kib))
pr_pctmem $((own[21] * kib * 32768 / memory))
pr_tty $(((tty >> 8) & 0xfff)) $(((tty & 0xff) | (tty >> 12 & 0xfff00)))
pr_start $now
pr_fname $(cat /proc/self/comm >/dev/null; status Name)
pr_psargs $(tr '\0' ' ' </proc/$$/cmdline | cut -c1-79 | sed 's/ *$//')
pr_argc $(tr -cd '\0' </proc/$$/cmdline | wc -c)
argv[1] $(tr '\0' '\n' </proc/$$/cmdline | sed -n 2p)
envp[0] FIRST=one
pr_wstat 0
pr_dmodel 2
pr_taskid $(($(cat /proc/self/sessionid) << 32 >> 32))
pr_zoneid $([ -z "$cgroup" ] || stat -c %i "$cgroup$(sed -n 's/^0:://p' /proc/self/cgroup)")
pr_projid $([ -z "$cgroup" ] || stat -c %i "$cgroup$(sed -n 's/^0:://p' /proc/self/cgroup)")
pr_nzomb 0
pr_contract -1
pr_lwpid $$
pr_name $(status Name)
pr_flag 0
pr_state 2
pr_sname R
pr_syscall $(echo __NR_kill | cpp -P -include sys/syscall.h - | tail -n 1)
pr_pri $((own[15] + 100))
pr_oldpri $((own[15] + 100))
lwp_start $now
pr_clname $(ps -o cls= -p $$ | tr -d ' ')
pr_onpro $1
pr_bindpro $1
pr_bindpset -1
cpu_id $1
cpu_pset 0
cpu_chip $(cat /sys/devices/system/cpu/cpu$1/topology/physical_package_id)
cpu_lgrp $(basename /sys/devices/system/cpu/cpu$1/node* | tr -cd 0-9 | sed 's/^$/0/')
pi_state 2
pi_type $(uname -m)
END
read -r stat </proc/self/stat
own=(${stat##*) })
echo "pr_time $((own[11] + own[12]))" >>want
echo "pr_ctime $((own[13] + own[14]))" >>want
kill -0 $$
EOF
}

@test "each member of a process, a thread and a CPU is what /proc, sysfs and ps say" {
  needs_types
  local c cpu=$(($(nproc) - 1))
  for c in script setpriv chrt taskset cpp ps; do command -v $c >/dev/null || skip "no $c"; done
  taskset -c $cpu true || skip "CPU $cpu is not for this process"
  cd "$BATS_TEST_TMPDIR"
  let_others_in
  process >process.bash
  : >want
  chmod a+rw want process.bash
  cat >table.d <<'END'
#pragma D option strsize=128
syscall::kill:entry /pid == $target && arg1 == 0/ {
	printf("pr_nlwp %d\npr_pid %d\npr_ppid %d\n", curpsinfo->pr_nlwp, curpsinfo->pr_pid, curpsinfo->pr_ppid);
	printf("pr_pgid %d\npr_sid %d\npr_uid %d\n", curpsinfo->pr_pgid, curpsinfo->pr_sid, curpsinfo->pr_uid);
	printf("pr_euid %d\npr_gid %d\npr_egid %d\n", curpsinfo->pr_euid, curpsinfo->pr_gid, curpsinfo->pr_egid);
	printf("pr_size %d\npr_rssize %d\npr_pctmem %d\n", curpsinfo->pr_size, curpsinfo->pr_rssize, curpsinfo->pr_pctmem);
	printf("pr_tty %d %d\n", getmajor(curpsinfo->pr_ttydev), getminor(curpsinfo->pr_ttydev));
	printf("pr_start %d\npr_ctime %d\n", curpsinfo->pr_start.tv_sec,
	    curpsinfo->pr_ctime.tv_sec * 100 + curpsinfo->pr_ctime.tv_nsec / 10000000);
	printf("pr_fname %s\npr_psargs %s\npr_argc %d\n", curpsinfo->pr_fname, curpsinfo->pr_psargs, curpsinfo->pr_argc);
	printf("argv[1] %s\n", copyinstr(*(uintptr_t *)copyin(curpsinfo->pr_argv + 8, 8)));
	printf("envp[0] %s\n", copyinstr(*(uintptr_t *)copyin(curpsinfo->pr_envp, 8)));
	printf("pr_wstat %d\npr_dmodel %d\npr_taskid %d\n", curpsinfo->pr_wstat, curpsinfo->pr_dmodel, curpsinfo->pr_taskid);
	printf("pr_zoneid %d\npr_projid %d\n", curpsinfo->pr_zoneid, curpsinfo->pr_projid);
	printf("pr_nzomb %d\npr_contract %d\n", curpsinfo->pr_nzomb, curpsinfo->pr_contract);
	printf("pr_lwpid %d\npr_name %s\npr_flag %x\n", curlwpsinfo->pr_lwpid, curlwpsinfo->pr_name, curlwpsinfo->pr_flag);
	printf("pr_state %d\npr_sname %c\npr_syscall %d\n", curlwpsinfo->pr_state, curlwpsinfo->pr_sname, curlwpsinfo->pr_syscall);
	printf("pr_pri %d\npr_oldpri %d\nlwp_start %d\n", curlwpsinfo->pr_pri, curlwpsinfo->pr_oldpri, curlwpsinfo->pr_start.tv_sec);
	printf("pr_clname %s\npr_onpro %d\npr_bindpro %d\n", curlwpsinfo->pr_clname, curlwpsinfo->pr_onpro, curlwpsinfo->pr_bindpro);
	printf("pr_bindpset %d\n", curlwpsinfo->pr_bindpset);
	printf("pr_time %d\n", curlwpsinfo->pr_time.tv_sec * 100 + curlwpsinfo->pr_time.tv_nsec / 10000000);
	printf("cpu_id %d\ncpu_pset %d\ncpu_chip %d\ncpu_lgrp %d\n", curcpu->cpu_id, pset, chip, lgrp);
	printf("pi_state %d\npi_type %s\n", curcpu->cpu_info.pi_state, curcpu->cpu_info.pi_processor_type);
	ok = curlwpsinfo->pr_addr == (uintptr_t)curthread && curpsinfo->pr_addr == (uintptr_t)curthread;
	exit(ok ? 0 : 1);
}
END
  # A terminal, users and groups that differ, a nice value, a class and a CPU of its own.
  SHELL=/bin/bash run script -qec "env -i FIRST=one PATH=\"$PATH\" taskset -c $cpu chrt -b 0 nice -n 5 \"$TALLY\" trace -q -s table.d -o got \
    -c 'setpriv --ruid=1000 --euid=1001 --rgid=1002 --egid=1003 --clear-groups bash -p process.bash $cpu'" /dev/null </dev/null
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  sed -i '/^$/d' got
  # Memory may grow by what bash keeps of its last command; times are ticks of 10 ms.
  compared want got pr_size=2048 pr_rssize=2048 pr_pctmem=8 pr_start=1 lwp_start=1 pr_ctime=3 pr_time=3
}

# What a connection's end says of itself before it is closed (struct tcp_info of tcp(7)).
connection() {
  cat <<'EOF'
import socket, struct
listener = socket.create_server(("127.0.0.1", 0))
here = socket.create_connection(listener.getsockname())
there, _ = listener.accept()
for n in range(20):
    here.sendall(b"x" * 1000); left = 1000
    while left: left -= len(there.recv(left))
    there.sendall(b"y"); here.recv(1)
here.sendall(b"z"); there.recv(1)
of = struct.unpack("=8B24I4Q6I4Q2I2Q5I", here.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 236))
info = dict(zip("rto ato mss rcv_mss unacked sacked lost retrans fackets sent ack_sent received ack_received pmtu rcv_ssthresh rtt "
                "rttvar ssthresh cwnd".split(), of[8:]))
with open("want", "w") as f:
    rows = {"local": 1, "lport": here.getsockname()[1], "rport": here.getpeername()[1], "laddr": "127.0.0.1", "raddr": "127.0.0.1",
            "state": 4, "name": "state-fin-wait-1", "unacked": info["unacked"], "swnd": of[53], "rwnd": of[54], "snd_ws": of[6] & 15, "rcv_ws": of[6] >> 4,
            "cwnd": info["cwnd"], "cwnd_ssthresh": info["ssthresh"], "mss": info["mss"], "rto": info["rto"] // 1000,
            "rtt": info["rtt"] // 1000, "rtt_sd": info["rttvar"] // 1000, "acked": 1}
    f.write("".join("%s %s\n" % row for row in rows.items()))
here.close()
there.recv(1)
there.close()
EOF
}

@test "each member of a connection is what its socket says, and both ends agree" {
  needs_types
  needs_python
  cd "$BATS_TEST_TMPDIR"
  connection >connection.py
  cat >table.d <<'END'
tcp:::state-change /pid == $target && args[3]->tcps_state == TCP_STATE_FIN_WAIT_1/ {
	printf("local %d\nlport %d\nrport %d\n", args[3]->tcps_local, args[3]->tcps_lport, args[3]->tcps_rport);
	printf("laddr %s\nraddr %s\n", args[3]->tcps_laddr, args[3]->tcps_raddr);
	printf("state %d\nname %s\n", args[3]->tcps_state, tcp_state_string[args[3]->tcps_state]);
	printf("unacked %d\nswnd %d\nrwnd %d\n", args[3]->tcps_snxt - args[3]->tcps_suna, args[3]->tcps_swnd, args[3]->tcps_rwnd);
	printf("snd_ws %d\nrcv_ws %d\n", args[3]->tcps_snd_ws, args[3]->tcps_rcv_ws);
	printf("cwnd %d\ncwnd_ssthresh %d\nmss %d\n", args[3]->tcps_cwnd, args[3]->tcps_cwnd_ssthresh, args[3]->tcps_mss);
	printf("rto %d\nrtt %d\nrtt_sd %d\n", args[3]->tcps_rto, args[3]->tcps_rtt, args[3]->tcps_rtt_sd);
	printf("acked %d\n", args[3]->tcps_rack == args[3]->tcps_rnxt && args[3]->tcps_sack_fack == args[3]->tcps_suna &&
	    args[3]->tcps_addr == args[1]->cs_addr);
	sent = args[3]->tcps_snxt;
	received = args[3]->tcps_rnxt;
	port = args[3]->tcps_lport;
}
/* The other end has one more: that this one ended. */
tcp:::state-change /port && args[3]->tcps_rport == port && args[3]->tcps_state == TCP_STATE_CLOSE_WAIT/ {
	ends = args[3]->tcps_rnxt == sent + 1 && args[3]->tcps_snxt == received;
}
tcp:::state-change /port && args[3]->tcps_rport != port && args[3]->tcps_lport == port && args[3]->tcps_state == TCP_STATE_CLOSED/ {
	closed = args[4]->tcp_sport == port || args[4]->tcp_dport == port;
}
END { exit(ends && closed ? 0 : 1); }
END
  run trace -s table.d -o got -c "python3 connection.py"
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  sed -i '/^$/d' got
  # The timeout is rounded to ticks, of at most 10 ms.
  compared want got rto=11
}

@test "each member of a request of a block device is what dd asked for; one that fails has its error" {
  needs_types
  local name
  cd "$BATS_TEST_TMPDIR"
  make_disk
  name=${loop#/dev/}
  cat >table.d <<'END'
io:::start /args[1]->dev_statname == $$1 && execname == "dd"/ {
	printf("flags %x\nbytes %d %d %d\n", args[0]->b_flags, args[0]->b_bcount, args[0]->b_bufsize, args[0]->b_iosize);
	printf("block %d %d\n", args[0]->b_blkno, args[0]->b_lblkno);
	printf("addr %d\ndevice %d %d %d\n", (uintptr_t)args[0]->b_addr, getmajor(args[0]->b_edev), getminor(args[0]->b_edev), args[1]->dev_instance);
	printf("dev %d %d %s %s\n", args[1]->dev_major, args[1]->dev_minor, args[1]->dev_name, args[1]->dev_pathname);
	printf("file %s %d\n", args[2]->fi_name, args[2]->fi_offset);
	ours = arg0;
}
io:::done /arg0 == ours/ { printf("done %x %d %d\n", args[0]->b_flags, args[0]->b_error, args[0]->b_resid); ours = 0; }
END
  asked() { run trace -s table.d -o got -c "dd if=$loop of=/dev/null bs=64k skip=3 count=1 $1" "$name"; sed -i '/^$/d' got; }
  asked iflag=direct
  cp got direct
  asked
  cp got cached
  truncate -s 0 disk
  asked iflag=direct
  local minor=${name#loop}
  cat >want <<END
flags 50
bytes 65536 65536 65536
block 384 384
addr 0
device 7 $minor $minor
dev 7 $minor $name $loop
file <none> -1
done 52 0 0
END
  compared want direct
  # Through the page cache the file is the device itself, which has no name; what is read ahead is more.
  grep -qx 'file <none> 196608' cached
  [ "$(tail -n 1 got)" = "done 56 5 65536" ] || { cat got; return 1; }
}

@test "a process that ends has its wait status; a child's arguments are its parent's until it is another program; a stranger's are its name" {
  needs_types
  run trace -c 'sh -c "(exit 7); (exit 7); kill -0 1"' -n 'proc:::exit /ppid == $target/ { printf("status %d\n", curpsinfo->pr_wstat); }
    proc:::create /pid == $target/ { printf("child %s\n", args[0]->pr_psargs); }
    proc:::signal-send /pid == $target/ { printf("%s\n", args[1]->pr_psargs); }'
  [ "$(grep -c '^status 1792$' <<<"$output")" -ge 1 ]
  has 'child sh -c (exit 7); (exit 7); kill -0 1'
  # The child may not have called execve(2) when the signal is sent: then it is still its parent.
  run trace -c 'sh -c "sleep 100 & kill -9 $!; wait"' -n 'proc:::signal-send /pid == $target && args[2] == 9/ { printf("%s|%d\n", args[1]->pr_psargs,
    args[1]->pr_argc); } ERROR { printf("fault %d\n", arg4 == DTRACEFLT_BADADDR); }'
  grep -qxE 'fault 1|sh -c sleep 100 & kill -9 .*[|]3' <<<"$output"
}

@test "a program of 32 bits is one" {
  needs_types
  command -v gcc >/dev/null || skip "no gcc"
  echo 'void _start(void) { __asm__ volatile("int $0x80" : : "a"(20)); __asm__ volatile("int $0x80" : : "a"(1), "b"(0)); }' >"$BATS_TEST_TMPDIR/old.c"
  gcc -m32 -nostdlib -static -o "$BATS_TEST_TMPDIR/old" "$BATS_TEST_TMPDIR/old.c" 2>/dev/null && "$BATS_TEST_TMPDIR/old" || skip "no programs of 32 bits here"
  run trace -c "$BATS_TEST_TMPDIR/old one two" -n 'proc:::exit /pid == $target/ { printf("%d %d %d %s %s\n", curpsinfo->pr_dmodel == PR_MODEL_ILP32,
    curlwpsinfo->pr_syscall, curpsinfo->pr_argc, copyinstr(*(uint32_t *)copyin(curpsinfo->pr_argv + 8, 4)), curpsinfo->pr_psargs); }'
  has "1 1 3 two $BATS_TEST_TMPDIR/old one two"
}

@test "constants of the libraries that the C library has are its" {
  command -v gcc >/dev/null || skip "no gcc"
  cd "$BATS_TEST_TMPDIR"
  sed -nE 's/^inline (int|char) ([A-Z][A-Za-z0-9_]*) = .*/\2/p' "$LIBRARIES"/{io,net,signal}.d | grep -vE '^(B_|FLT|TCP_STATE_|IPH_)' | sort -u >names
  printf '%s\n' O_DIRECT O_DIRECTORY O_NOFOLLOW >>names
  { printf '#define _GNU_SOURCE\n#include <stdio.h>\n#include <fcntl.h>\n#include <signal.h>\n#include <netinet/in.h>\n#include <netinet/tcp.h>\n#include <sys/socket.h>\n#include <net/if_arp.h>\n'
    echo 'int main(void) {'
    while read -r name; do
      printf '#ifdef %s\nprintf("%s %%d\\n", (int)%s);\n#endif\n' "$name" "$name" "$name"
    done <names
    echo '}'; } >constants.c
  gcc -o constants constants.c
  ./constants >want
  [ "$(wc -l <want)" -gt 90 ]
  awk '{ printf("BEGIN { printf(\"%s %%d\\n\", %s); }\n", $1, $1) } END { print "BEGIN { exit(0); }" }' want >all.d
  trace -s all.d -o got
  sed -i '/^$/d' got
  compared want got
}
