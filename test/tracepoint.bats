#!/usr/bin/env bats
# The providers of the kernel's tracepoints: which there are, what they hand over, how often they fire.

bats_require_minimum_version 1.5.0
load common

trace() { "$TALLY" trace -x quiet "$@"; }
# Sends itself a number of signals.
signals='trap : USR1; i=0; while [ $i -lt 50 ]; do kill -USR1 $$; i=$((i+1)); done'

@test "rawtp and sdt list every tracepoint that the kernel's types have" {
  needs_types
  grep -aoE 'btf_trace_[A-Za-z0-9_]+' /sys/kernel/btf/vmlinux | sed 's/btf_trace_//' | sort -u >"$BATS_TEST_TMPDIR/theirs"
  [ "$(wc -l <"$BATS_TEST_TMPDIR/theirs")" -gt 500 ]
  for provider in rawtp sdt; do
    "$TALLY" trace -l -m "$provider:vmlinux" | awk 'NR > 1 { print $NF }' | sort -u | diff "$BATS_TEST_TMPDIR/theirs" -
  done
}

@test "a tracepoint's args[] have the kernel's types, and it fires exactly as often as it is reached" {
  needs_types
  run trace -c "sh -c '$signals'" \
    -n 'rawtp:::signal_generate /pid == $target && args[0] == SIGUSR1 && args[2]->tgid == pid/ { @[stringof(args[2]->comm)] = count(); }' \
    -n 'sdt:vmlinux::signal_deliver /pid == $target && args[0] == SIGUSR1/ { @["delivered"] = count(); }' \
    -n 'END { printa("%s %@d\n", @); }'
  said 0 "delivered 50
sh 50"
}

@test "arg0 and up of a tracepoint are its arguments as words, and 0 behind the last" {
  needs_types
  run trace -c "sh -c '$signals'" \
    -n 'rawtp:::signal_generate /pid == $target && arg0 == SIGUSR1/ { @[arg0, arg2 == (int64_t)curthread, arg5, arg9] = count(); } END { printa("%d %d %d %d %@d\n", @); }'
  said 0 "10 1 0 0 50"
}

@test "-lv tells the types of a tracepoint's arguments" {
  needs_types
  run "$TALLY" trace -lvn rawtp:::signal_generate
  has "args[0]: int"
  has "args[2]: struct task_struct *"
  ! [[ "$output" == *"args[5]"* ]]
}

@test "an argument that a tracepoint has not is refused" {
  needs_types
  run trace -n 'rawtp:::signal_generate { trace(args[5]); }'
  [ "$status" -eq 1 ]
  has "index 5 is out of range for rawtp:::signal_generate args[ ]"
}

@test "a tracepoint that the kernel has not is refused with the nearest that it has" {
  needs_types
  run trace -n 'rawtp:::signal_generat { }'
  [ "$status" -eq 1 ]
  has 'rawtp: this kernel has no tracepoint "signal_generat"; did you mean signal_generate?'
}

@test "a description of tracepoints whose argument is of one type may use it, of different types may not; each description has its own" {
  needs_types
  trace -e -n 'rawtp:::sched_wakeup, rawtp:::sched_waking, sdt:::sched_wakeup_new { trace(args[0]->pid); }'
  trace -e -n 'rawtp:::sched_wakeup, rawtp:::sched_switch { trace(args[0]); }'
  run trace -e -n 'rawtp:::sched_w*,rawtp:::sched_s* { trace(args[0]); }'
  [ "$status" -eq 1 ]
  has "unstable set of probes"
}

@test "tracepoints that interrupt one another keep their own strings and count together exactly, less what is told as dropped" {
  needs_types
  # Each clause makes its key in memory of its own; timers and wake-ups interrupt the system calls.
  run trace -c "sh -c '$signals'" \
    -n 'rawtp:::sched_waking, rawtp:::sched_switch, rawtp:::hrtimer_expire_entry, rawtp:::sys_enter { this->s = strjoin(strjoin("a ", probename), strjoin(" ", probename)); @all = count(); @[probename] = count(); this->ok = this->s == strjoin("a ", strjoin(probename, strjoin(" ", probename))); @bad = sum(!this->ok); }' \
    -n 'END { printa("bad %@d\n", @bad); printa("all %@d\n", @all); printa("%s %@d\n", @); }'
  [ "$status" -eq 0 ]
  has "bad 0"
  # A program that interrupts another's update of the same map finds it busy: that is a drop, and told.
  awk '$1 == "all" { all = $2 } $1 ~ /_/ { sum += $2; n++ } /^tally: [0-9]+ aggregation drop/ { sum += $2 } END { exit !(n >= 2 && sum == all) }' <<<"$output" || { echo "$output"; return 1; }
}

@test "tracepoints are not probes of the vm, nor of a file of records" {
  run "$TALLY" trace --on vm -n 'rawtp:::sched_switch { }'
  [ "$status" -eq 1 ]
  has "rawtp: its probes fire in the kernel of this machine: only without --on"
}

@test "tally list and completion know the tracepoints" {
  needs_types
  run "$TALLY" list 'rawtp:*signal_generate'
  has "rawtp:vmlinux::signal_generate"
  run "$TALLY" list signal_generate
  [ "$status" -ne 0 ]
}

@test "firings that the kernel left out since their own program was running are told" {
  needs_types
  # Objects are freed by processes and by interrupts; the clause takes long enough for one to come in its midst.
  run trace -w -c "sh -c 'for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do /bin/true; done'" \
    -n 'rawtp:::kmem_cache_free, rawtp:::hrtimer_start { chill(100000); }'
  [ "$status" -eq 0 ]
  grep -qE "^tally: [0-9]+ firings? of rawtp:vmlinux::(kmem_cache_free|hrtimer_start) lost: the probe's program was running on that CPU$" <<<"$output" || { echo "$output"; return 1; }
}

# The kernel's functions that lead from a tracepoint to its programs, and the programs.
machinery='bpf_prog_|bpf_trace_run|__bpf_trace_|__traceiter_'

@test "stack(), caller and stackdepth at a tracepoint begin with the function that has it, and agree" {
  needs_types
  run trace -c "sh -c '$signals'" -n 'rawtp:::signal_generate /pid == $target && args[0] == SIGUSR1 && !done++/ { printf("%d %a", stackdepth, caller); stack(); }'
  [ "$status" -eq 0 ]
  ! grep -E "$machinery" <<<"$output" || return 1
  awk '!depth { depth = $1; caller = $2; next } NF { n++; if (n == 2) second = $1 }
    END { if (!n || n != depth || second != caller) { print n " frames, stackdepth " depth ", caller " caller; exit 1 } }' <<<"$output"
  run trace -c "sh -c '$signals'" -n 'syscall::kill:entry /pid == $target/ { stack(2); exit(0); }'
  [ "$(grep -c vmlinux <<<"$output")" -eq 2 ]
  ! grep -E "$machinery" <<<"$output"
}

@test "%a names an address of the kernel with its offset, in printf() and in a key of printa()" {
  local text number
  run trace -c "sh -c '$signals'" -n 'syscall::kill:entry /pid == $target && !done++/ {
      printf("%a %x\n%a %x\n%a %x\n", caller, caller, sym(caller), caller, func(caller), caller); @[caller, caller] = count(); }
    END { printa("%a %x\n", @); }'
  [ "$status" -eq 0 ]
  [ "$(grep -cE '^vmlinux`[^ ]+[+]0x[0-9a-f]+ [0-9a-f]+$' <<<"$output")" -eq 4 ] || { echo "$output"; return 1; }
  read -r text number <<<"$output"
  grep -qE "^$(printf '%016x' $((0x$number - ${text#*+}))) [tTwW] $(sed 's/.*`//; s/+.*//' <<<"$text")$" /proc/kallsyms
}

@test "stacks of a tracepoint are one key whoever else listens to it" {
  needs_types
  run trace -c "sh -c '$signals'" \
    -n 'syscall::kill:entry /pid == $target/ { @[stack()] = count(); }' -n 'rawtp:::sys_enter /pid == $target && args[1] == 62/ { @[stack()] = count(); }'
  [ "$status" -eq 0 ]
  ! grep -E "$machinery" <<<"$output" || return 1
  [ "$(uname -m)" != x86_64 ] || [ "$(awk 'NF == 1 && $1 ~ /^[0-9]+$/' <<<"$output" | tr -d ' ')" = 100 ]
}

@test "stack(n) as a key at a tracepoint has n frames, all of them the probe's" {
  needs_types
  run trace -c "sh -c '$signals'" -n 'syscall::kill:entry /pid == $target/ { @[stack(2)] = count(); @whole[stack()] = count(); }' -x stackframes=3
  [ "$status" -eq 0 ]
  ! grep -E "$machinery" <<<"$output" || return 1
  awk 'NF == 1 && /`/ { n++ } NF == 1 && /^ *[0-9]+$/ { print n; n = 0 }' <<<"$output" | sort | tr '\n' ' ' | grep -qx '2 3 '
}

@test "functions of the kernel are probes where a trial says so; elsewhere fbt says what the kernel lacks" {
  needs_types
  run "$TALLY" trace -l -n 'fbt::vfs_write:'
  if [ "$status" -eq 0 ]; then
    has "vfs_write entry"
    has "vfs_write return"
    return
  fi
  [ "$status" -eq 1 ]
  has "fbt: probes at functions of the kernel require fentry (CONFIG_FUNCTION_TRACER) or kprobes (CONFIG_KPROBE_EVENTS)"
}

@test "-x fbt takes a way that there is and no other" {
  run "$TALLY" trace -x fbt=uprobe -n 'BEGIN { exit(0); }'
  [ "$status" -eq 2 ]
  has "option fbt takes fentry or kprobe"
}

@test "functions of the kernel are not probes of the vm" {
  run "$TALLY" trace --on vm -n 'fbt::vfs_write:entry { }'
  [ "$status" -eq 1 ]
  has "fbt: its probes fire in the kernel of this machine"
}

# Where the kernel holds the lock of a run queue, it can't make room for many keys at a time.
@test "many new keys in one firing at sched_switch are all counted, and nothing is told as dropped" {
  needs_types
  local keys='' k
  for k in $(seq 20); do keys+="@[$k, cpu] = count(); "; done
  run --separate-stderr trace -c "$PROGS/threads 4 20 50" -n "rawtp:::sched_switch { $keys @[0, cpu] = count(); }" -n 'END { printa("%d %d %@d\n", @); }'
  [ "$status" -eq 0 ]
  [ -z "$stderr" ]
  awk 'NF == 3 && $1 ~ /^[0-9]+$/ { n[$2]++; if (!($2 in c)) c[$2] = $3; else if (c[$2] != $3) { print; bad = 1 } }
    END { for (cpu in n) if (n[cpu] != 21) bad = 1; exit bad || !length(n) }' <<<"$output"
}

@test "clear() and trunc() of an aggregation at sched_switch reach every key, also of max()" {
  needs_types
  local keys='' k
  for k in $(seq 20); do keys+="@[$k] = count(); @m[$k] = max($k); "; done
  run --separate-stderr trace -c "$PROGS/threads 4 20 50" -n "int over; rawtp:::sched_switch /!over/ { $keys }" \
    -n 'syscall::exit_group:entry /pid == $target/ { over = 1; }' -n 'END { printa("%d %@d\n", @m); clear(@); clear(@m); printa("n %d %@d\n", @); trunc(@); trunc(@m); printa("left %d\n", @); printa("left %d\n", @m); }'
  [ "$status" -eq 0 ]
  [ -z "$stderr" ]
  [ "$(awk 'NF == 2 && $1 == $2' <<<"$output" | wc -l)" -eq 20 ]
  [ "$(grep -cE '^n [0-9]+ 0$' <<<"$output")" -eq 20 ]
  ! grep left <<<"$output"
}
