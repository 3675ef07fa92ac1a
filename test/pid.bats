#!/usr/bin/env bats
# The provider pid: functions of processes, counted as the program itself counts them; what it refuses.

load common

setup() {
  FUNCTIONS=$(realpath "$PROGS/functions")
  LOADS=$(realpath "$PROGS/loads")
}
trace() { "$TALLY" trace -x quiet "$@"; }
needs_uprobes() {
  needs_bpf
  [ -e /sys/bus/event_source/devices/uprobe/type ] || skip "this kernel has no uprobes"
}
# Starts the program, which waits for a line on descriptor 7; its pid is $waits, its output in file $out.
start_waiting() {
  mkfifo "$BATS_TEST_TMPDIR/go"
  "$FUNCTIONS" -w "$@" <"$BATS_TEST_TMPDIR/go" >"$BATS_TEST_TMPDIR/out" 3>&- &
  waits=$!
  exec 7>"$BATS_TEST_TMPDIR/go"
  until_runs "$waits" "$FUNCTIONS"
}

@test "calls and returns of a function are as many as the program counts" {
  needs_uprobes
  run trace -c "$FUNCTIONS 10000" -n 'pid$target:a.out:step:entry { @e = count(); @i = sum(arg0); }' \
    -n 'pid$target:a.out:step:return { @r = count(); @v = sum(arg1); }' \
    -n 'END { printa("%@d %@d %@d %@d\n", @e, @i, @r, @v); }'
  said 0 "10000
10000 49995000 10000 99990000"
}

@test "the calls of several threads are counted, and strings of each thread stay its own" {
  needs_uprobes
  run trace -c "$FUNCTIONS 5000 4" \
    -n 'pid$target::step:entry { this->s = strjoin(probefunc, strjoin("/", lltostr(tid % 1))); @[this->s, probemod, probename] = count(); }' \
    -n 'pid$target::step:return { self->n++; @q = sum(arg1); }' -n 'END { printa("%s %s %s %@d\n", @); printa("%@d\n", @q); }'
  said 0 "20000
step/0 functions entry 20000
99980000"
}

@test "variables of a thread keep what its last call gave them: numbers, structs, strings and keyed ones, beside faults" {
  needs_uprobes
  run trace -c "$FUNCTIONS 5000 4" -n 'struct pt { int a; long b; char c[20]; }; self struct pt p; self string s; self int k[int]; self int x; self int zero;' \
    -n 'pid$target::step:entry { self->k[arg0 & 1] = arg0; self->x = arg0; self->p.b = arg0; self->p.c[3] = arg0 & 7; self->s = lltostr(arg0); }' \
    -n 'pid$target::step:return /self->x * 2 == arg1 && self->k[self->x & 1] == self->x && self->p.b == self->x &&
      self->p.c[3] == (self->x & 7) && self->s == lltostr(self->x)/ { @["whole"] = count(); self->x = 0; self->n++; }' \
    -n 'pid$target::step:return /self->x == 0 && self->n == 5000/ { @["threads"] = count(); }' \
    -n 'pid$target::step:return { @e = sum(1 / self->zero); } ERROR { self->faults++; @f = max(self->faults); }' \
    -n 'END { printa("%s %@d\n", @); printa("faults of a thread %@d\n", @f); }'
  [ "$status" -eq 0 ]
  [ "$(grep -v "divide-by-zero" <<<"$output" | sort)" = "20000
faults of a thread 5000
threads 4
whole 20000" ]
}

@test "variables of threads that dynvarsize has no room for are dropped, aloud" {
  needs_uprobes
  run trace -x dynvarsize=16 -c "$FUNCTIONS 100 4" -n 'pid$target::step:entry { self->x = 1; @ = count(); } END { printa("%@d\n", @); }'
  [ "$status" -eq 0 ]
  [[ "$output" == *"dynamic variable drops"* ]]
}

@test "of a storm of calls each is counted, and each is handed over or told as dropped" {
  needs_uprobes
  # Two threads call as fast as they can, a million times a second; the buffer has no room for what a reader is late for.
  run trace -c "$FUNCTIONS 500000 2" -x bufsize=64k -o "$BATS_TEST_TMPDIR/lines" \
    -n 'BEGIN { n = 0; } pid$target::step:entry { n++; @ = count(); @s = sum(arg0); printf("call\n"); } END { printf("%d\n", n); printa("%@d\n", @); printa("%@d\n", @s); }'
  [ "$status" -eq 0 ]
  [ "$(grep -E '^[0-9]+$' "$BATS_TEST_TMPDIR/lines" | paste -sd ' ')" = "1000000 1000000 249999500000" ]
  calls_are_told 1000000 "$BATS_TEST_TMPDIR/lines"
}

@test "arg0 to arg9 are the ten arguments of a function, and arg1 of its return is what it returns" {
  needs_uprobes
  run trace -c "$FUNCTIONS 1" -n 'pid$target::ten:entry { printf("%d %d %d %d %d %d %d %d %d %d\n", arg0, (int)arg1, (int)arg2,
      (int)arg3, (int)arg4, arg5, arg6, (int)arg7, arg8, arg9); }' -n 'pid$target::ten:return { trace(arg1); }'
  said 0 "1
1 2 3 4 5 6 7 8 9 10
55"
}

@test "a function is found by a pattern, and its module as a.out, by name, by the name before .so" {
  needs_uprobes
  run trace -c "$FUNCTIONS 1" -n 'pid$target:a.out:st?p:entry { @["a.out"] = count(); }' -n 'pid$target:functions:step:entry { @["name"] = count(); }' \
    -n 'p*d$target:fun*:step:entry { @["patterns"] = count(); }' -n 'pid$target:libc:printf:entry { @["libc"] = count(); }' \
    -n 'END { printa("%s %@d\n", @); }'
  said 0 "1
a.out 1
libc 1
name 1
patterns 1"
}

@test "a process that runs already is probed, and a run with -p ends with it" {
  needs_uprobes
  start_waiting 3000
  trace -p "$waits" -o "$BATS_TEST_TMPDIR/counts" -n 'BEGIN { system("echo >&7"); }' -w \
    -n 'pid$target::step:entry { @ = count(); } END { printa("%@d\n", @); }' 7>&7
  exec 7>&-
  [ "$(cat "$BATS_TEST_TMPDIR/out")" = 3000 ]
  [ "$(cat "$BATS_TEST_TMPDIR/counts")" = 3000 ]
}

@test "the calls of a process that the program forks are not its own" {
  needs_uprobes
  run trace -c "$FUNCTIONS -f 1000" -n 'pid$target::step:entry { @ = count(); } END { printa("%@d\n", @); }'
  said 0 "1000
1000"
}

@test "with -x followforks what the process forks fires, and no other process that maps the file" {
  needs_uprobes
  mkfifo "$BATS_TEST_TMPDIR/go"
  exec 7<>"$BATS_TEST_TMPDIR/go"
  # Once all is armed, another process calls the function, and then the command goes on.
  run trace -w -x followforks -c "$FUNCTIONS -w -f 1000" -n 'BEGIN { parent = child = 0; } pid$target::step:entry /pid == $target/ { parent++; }' \
    -n 'pid$target::step:entry /pid != $target && ppid == $target/ { child++; } pid$target::step:return { @r = count(); self->n++; } pid$target::step:return /self->n == 1000/ { @t = count(); }' \
    -n 'tick-100ms /!told/ { told = 1; system("'"$FUNCTIONS"' 500 >/dev/null; echo go >&7"); }' \
    -n 'END { printf("%d %d", parent, child); printa(" %@d", @r); printa(" %@d\n", @t); }' <&7
  exec 7>&-
  said 0 "1000
1000 1000 2000 2"
}

@test "in a pid namespace the processes have the ids of the namespace, and followforks is refused" {
  needs_uprobes
  unshare --pid --fork --mount-proc true 2>/dev/null || skip "no pid namespace can be made"
  run unshare --pid --fork --mount-proc "$TALLY" trace -q -c "$FUNCTIONS 1000" \
    -n 'pid$target::step:entry /pid == $target && $target < 100/ { @ = count(); self->n++; } pid$target::step:return /self->n == 1000/ { @r = count(); }' \
    -n 'END { printa("%@d\n", @); printa("%@d\n", @r); }'
  said 0 "1000
1000
1"
  run unshare --pid --fork --mount-proc "$TALLY" trace -q -x followforks -c "$FUNCTIONS 1000" -n 'pid$target::step:entry { @ = count(); }'
  [ "$status" -eq 3 ]
  has "-x followforks: this is a pid namespace"
}

@test "user addresses of a command that is held at its start have names" {
  needs_uprobes
  run trace -c "$FUNCTIONS 1" -n 'pid$target::ten:entry { ustack(1); }' -n 'pid$target::ten:return { printf("%s", probefunc); }'
  [ "$status" -eq 0 ]
  [[ "$output" == *'functions`ten'* ]]
}

@test "a function, a module, a name that is not there is refused with the nearest one" {
  needs_uprobes
  refused() { # description, words
    run trace -c "$FUNCTIONS 1" -n "$1 { @ = count(); }"
    [ "$status" -eq 1 ] && [[ "$output" == *"does not match any probes"*"$2"* ]] || { echo "$1: $output"; return 1; }
  }
  refused 'pid$target::stepp:entry' 'pid: no function "stepp" in the process; did you mean step?'
  refused 'pid$target:a.out:run_all:entry' 'pid: no function "run_all" in a.out; the compiler may have put it into its callers (static, inline)'
  refused 'pid$target:libd::entry' 'maps no file "libd"; its program is a.out; -Z waits for a library that is loaded later'
  refused 'pid$target::step:entri' 'pid: no probe "entri"; did you mean entry?'
  refused 'pid:::entry' 'pid: the name has the process id in it: pid1234:a.out:main:entry, or pid$target with -c or -p'
  refused 'pid2147483647:::entry' 'there is no process 2147483647'
  cp "$FUNCTIONS" "$BATS_TEST_TMPDIR/stripped" && strip "$BATS_TEST_TMPDIR/stripped"
  FUNCTIONS=$BATS_TEST_TMPDIR/stripped
  refused 'pid$target:a.out:step:entry' 'a stripped file has only those that other files call'
}

@test "a process that may not be looked at is refused with the true reason, also to a root without cap_sys_ptrace" {
  needs_uprobes
  [ "$(id -u)" -eq 0 ] || skip "only root can leave a capability out"
  command -v setpriv >/dev/null || skip "no setpriv"
  without() { run setpriv --bounding-set=-sys_ptrace --inh-caps=-sys_ptrace "$TALLY" trace -n "pid$1:a.out::entry { @ = count(); }"; [ "$status" -eq 1 ]; }
  sleep 1000 3>&- & root=$!
  setpriv --reuid=65534 --clear-groups sleep 1000 3>&- & nobody=$!
  until [ "$(cat /proc/$nobody/comm)" = sleep ]; do :; done
  without $root && roots=$output
  without $nobody && nobodys=$output
  kill $root $nobody
  [[ $roots == *"process $root has capabilities that tally has not"*"cap_sys_ptrace alone, which this root has not"* ]] || { echo "$roots"; false; }
  [[ $nobodys == *"process $nobody belongs to another user"*"this root has no cap_sys_ptrace"* ]] || { echo "$nobodys"; false; }
}

@test "a function whose first instruction can't be probed is refused by name, and left out of a pattern, aloud" {
  needs_uprobes
  [ "$(uname -m)" = x86_64 ] || skip "an instruction of x86"
  run trace -c "$FUNCTIONS 1" -n 'pid$target::locked:entry { @ = count(); }'
  said 3 "tally: failed to enable 'pid\$target::locked:entry ': Failed to enable probe
tally: the kernel can't place a probe on the instruction at offset 0x$(printf %x $((16#$(nm "$FUNCTIONS" | awk '$3 == "locked" { print $1 }')))) of $FUNCTIONS"
  run trace -c "$FUNCTIONS 7" -n 'pid$target:a.out:lock*:entry, pid$target::step:entry { @[probefunc] = count(); } END { printa("%s %@d\n", @); }'
  said 0 "7
tally: 1 probe of a pattern left out: the kernel can't place a probe on such an instruction
step 7" || said 0 "tally: 1 probe of a pattern left out: the kernel can't place a probe on such an instruction
7
step 7"
}

@test "a command that can't be run is told, with the shell's status for it, when its functions are probed" {
  needs_uprobes
  run trace -c /nonexistent/x -n 'pid$target:::entry { @ = count(); }'
  said 1 'tally: invalid probe specifier pid$target:::entry { @ = count(); }: probe description pid[0-9]*:::entry does not match any probes
tally: cannot run the command: No such file or directory' || [[ "$output" == *"cannot run the command: No such file or directory" ]]
}

@test "each instruction of a function is a probe, where the disassembler says that one begins, and nowhere else" {
  needs_uprobes
  command -v objdump >/dev/null || skip "no objdump"
  "$TALLY" trace -l -c "$FUNCTIONS 1" -n 'pid$target:a.out:main:, pid$target:a.out:ten:' |
    awk '$5 ~ /^[0-9a-f]+$/ && $5 != "NAME" { print $4, $5 }' | sort >"$BATS_TEST_TMPDIR/ours"
  for f in main ten; do
    objdump -d --no-show-raw-insn "$FUNCTIONS" | awk -v f="<$f>:" '$2 == f { on = 1; next } /^$/ { on = 0 } on { print $1 }' | tr -d ':' |
      while read -r at; do
        nm -S "$FUNCTIONS" | awk -v f=$f '$4 == f { print $1, $2 }' | while read -r start size; do # behind it stands what aligns the next one
          if [ $((16#$at - 16#$start)) -lt $((16#$size)) ]; then printf '%s %x\n' $f $((16#$at - 16#$start)); fi
        done
      done
  done | sort >"$BATS_TEST_TMPDIR/theirs"
  [ "$(wc -l <"$BATS_TEST_TMPDIR/theirs")" -gt 50 ]
  diff "$BATS_TEST_TMPDIR/theirs" "$BATS_TEST_TMPDIR/ours"
}

@test "an instruction fires as often as it is run, by its offset, by a pattern of offsets, by its address with function -" {
  needs_uprobes
  at=$(nm "$FUNCTIONS" | awk '$3 == "step" { print $1 }' | sed 's/^0*//')
  run trace -c "$FUNCTIONS 500" -n 'pid$target:a.out:step: { @[probename == "entry" || probename == "return" ? probename : "offset"] = count(); }' \
    -n 'pid$target::step:0 { @["first"] = count(); }' -n "pid\$target:a.out:-:$at { @[probefunc] = count(); }" \
    -n 'END { setopt("aggsortkey"); printa("%s %@d\n", @); }'
  [ "$status" -eq 0 ]
  [[ "$output" == *"
- 500
"*"entry 500
first 500
"*"return 500" ]]
  [ "$(awk '$1 == "offset" { print $2 % 500, ($2 >= 1000) }' <<<"$output")" = "0 1" ]
}

@test "an offset within an instruction, behind the function, and a pattern of addresses are refused" {
  needs_uprobes
  [ "$(uname -m)" = x86_64 ] || skip "instructions of x86"
  for d in 'step:ffff' 'step:2' '-:2'; do
    run trace -c "$FUNCTIONS 1" -n 'pid$target:a.out:'"$d { @ = count(); }"
    [ "$status" -eq 1 ] && has "begins at ${d#*:} (hexadecimal)"
  done
  run trace -x errtags -c "$FUNCTIONS 1" -n 'pid$target::-:10* { @ = count(); }'
  [ "$status" -eq 1 ] && has '[D_PROC_NAME] pid: the name of a probe of function "-" is an address: a pattern of them is none'
}

@test "each reason why a description of a process matches nothing has its tag" {
  needs_uprobes
  [ "$(uname -m)" = x86_64 ] || skip "instructions of x86"
  refused() { # tag, description
    for name in tally dtrace; do
      run $([ $name = dtrace ] && echo as_dtrace || echo trace) -x errtags -c "$FUNCTIONS 1" -n "$2 { @ = count(); }"
      [ "$status" -eq 1 ] && has "[$1] "
    done
  }
  refused D_PROC_BADPID 'pid0:::entry'
  refused D_PROC_GRAB 'pid2147483647:::entry'
  refused D_PROC_FUNC 'pid$target:a.out:nosuch_function:entry'
  refused D_PDESC_ZERO 'pid$target::nosuch_function:entry'
  refused D_PDESC_ZERO 'pid$target:nosuch_library::entry'
  refused D_PROC_LIB 'pid$target:libc:-:2'
  refused D_PROC_NAME 'pid$target:a.out:step:beginning'
  refused D_PROC_NAME 'pid$target::-:'
  refused D_PROC_OFF 'pid$target:a.out:step:ffff'
  refused D_PROC_ALIGN 'pid$target:a.out:step:2'
  refused D_PROC_ALIGN 'pid$target:a.out:-:2'
}

@test "-l lists the functions of a command without running it" {
  needs_uprobes
  run "$TALLY" trace -l -c "$FUNCTIONS 1" -n 'pid$target::ten:'
  [ "$status" -eq 0 ]
  [ "$(awk 'NR > 1 { sub(/[0-9]+/, "N", $2); print $2, $3, $4, $5 }' <<<"$output")" = "pidN functions ten entry
pidN functions ten return" ]
}

@test "nothing of a probe stays in a process after kill -9 of tally, which goes on as before" {
  needs_uprobes
  start_waiting 2000
  "$TALLY" trace -x quiet -p "$waits" -n 'BEGIN { printf("armed\n"); }' -n 'pid$target::step:entry { @ = count(); } tick-1ms { printf("on\n"); }' >"$BATS_TEST_TMPDIR/t" 3>&- 7>&- &
  tracer=$!
  until grep -q on "$BATS_TEST_TMPDIR/t"; do kill -0 $tracer || break; done
  kill -9 $tracer
  wait $tracer || [ $? -eq 137 ]
  echo >&7
  exec 7>&-
  wait "$waits"
  [ "$(cat "$BATS_TEST_TMPDIR/out")" = 2000 ]
}

@test "a library that the process loads later is probed from its first call on, each time that it is loaded" {
  needs_uprobes
  run trace -Z -c "$LOADS 3 1000 $PROGS/plugin_a.so plugin_a_touch $PROGS/plugin_b.so plugin_b_touch" \
    -n 'pid$target:plugin_a*:plugin_a_touch:entry { @[probemod, probefunc, probename] = count(); self->n++; }' \
    -n 'pid$target:plugin_?.so:*touch:return /self->n/ { @r = count(); self->n--; }' \
    -n 'END { printa("%s %s %s %@d\n", @); printa("%@d\n", @r); }'
  said 0 "6000
plugin_a.so plugin_a_touch entry 3000
3000"
}

@test "a pattern that matches something already matches libraries that come later without -Z, a name that matches nothing does not" {
  needs_uprobes
  run trace -c "$LOADS 1 100 $PROGS/plugin_a.so plugin_a_touch" \
    -n 'pid$target::main:entry,pid$target::plugin_?_touch:entry,pid$target:*:[mp]*[nh]:entry /probefunc == "main" || probemod == "plugin_a.so"/ { @[probemod] = count(); }' \
    -n 'END { printa("%s %@d\n", @); }'
  [ "$status" -eq 1 ]
  # Both descriptions name main, so the clause runs twice for it.
  run trace -c "$LOADS 1 100 $PROGS/plugin_a.so plugin_a_touch" \
    -n 'pid$target:*:main:entry,pid$target::[mp]*[nh]:entry /probefunc == "main" || probemod == "plugin_a.so"/ { @[probemod] = count(); }' \
    -n 'END { printa("%s %@d\n", @); }'
  said 0 "100
loads 2
plugin_a.so 100"
  run trace -c "$LOADS 1 100 $PROGS/plugin_a.so plugin_a_touch" -n 'pid$target:plugin_a.so::entry { @ = count(); }'
  [ "$status" -eq 1 ]
  has 'maps no file "plugin_a.so"'
  has '-Z'
}

@test "a library is held and probed that comes in a pid namespace, or into a namespace of the loader" {
  needs_uprobes
  command -v cc >/dev/null || skip "no C compiler"
  cd "$BATS_TEST_TMPDIR"
  cat >spaces.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
int main(int argc, char **argv)
{
	volatile char area[1] = { 0 };
	for (int i = 0; i < 3; i++) {
		void *h = argc > 1 ? dlmopen(LM_ID_NEWLM, argv[1], RTLD_NOW) : 0;
		void (*touch)(volatile char *, unsigned long, unsigned long) = h ? dlsym(h, "plugin_a_touch") : 0;
		if (!touch)
			return 1;
		for (int k = 0; k < 100; k++)
			touch(area, 1, 1);
		dlclose(h);
	}
	return 0;
}
C
  cc -o spaces spaces.c -ldl
  run trace -Z -c "./spaces $(realpath "$PROGS/plugin_a.so")" -n 'pid$target:plugin_a*:plugin_a_touch:entry { @ = count(); } END { printa("%@d\n", @); }'
  said 0 300
  unshare --pid --fork --mount-proc true 2>/dev/null || skip "no pid namespace can be made"
  run unshare --pid --fork --mount-proc "$TALLY" trace -q -Z -c "$LOADS 3 1000 $(realpath "$PROGS/plugin_a.so") plugin_a_touch" \
    -n 'pid$target:plugin_a*:plugin_a_touch:entry { @ = count(); } END { printa("%@d\n", @); }'
  said 0 "3000
3000"
}

@test "of a library that is loaded later 8,192 places of a kind are armed, and a line says how many more there are" {
  needs_uprobes
  command -v cc >/dev/null || skip "no C compiler"
  cd "$BATS_TEST_TMPDIR"
  awk 'BEGIN { for (i = 0; i < 8500; i++) printf "many%d: nop\nret\n.type many%d, \"function\"\n.size many%d, . - many%d\n", i, i, i, i
    print ".section .data.rel.ro, \"aw\"\n.balign 8\n.hidden all\n.globl all\nall:"
    for (i = 0; i < 8500; i++) print ".8byte many" i
    print ".section .note.GNU-stack, \"\"" }' >many.s
  printf 'extern void (*all[])(void);\nvoid touch(void);\nvoid touch(void) { for (int i = 0; i < 8500; i++) all[i](); }\n' >touch.c
  cc -shared -fPIC -o many.so many.s touch.c
  run trace -Z -c "$LOADS 2 1 $BATS_TEST_TMPDIR/many.so touch" -n 'pid$target:many.so:many*:entry { @ = count(); } END { printa("%@d\n", @); }'
  said 0 "2
16384
tally: 308 probes of libraries that were loaded later left out: there is room for 8192 of a kind"
}

@test "with -x followforks a library is probed that a child loads, and without it is not" {
  needs_uprobes
  for options in "-x followforks" ""; do
    run trace $options -Z -c "$LOADS -f 2 500 $PROGS/plugin_b.so plugin_b_touch" -n 'pid$target:plugin_b:plugin_b_touch:entry { @ = count(); }' \
      -n 'END { printa("%@d\n", @); }'
    said 0 "1000${options:+
1000}"
  done
}

@test "a process with -p is held while it loads a library, and goes on when tally is killed meanwhile" {
  needs_uprobes
  mkfifo "$BATS_TEST_TMPDIR/go"
  "$LOADS" -w 1 700 "$PROGS/plugin_a.so" plugin_a_touch <"$BATS_TEST_TMPDIR/go" >"$BATS_TEST_TMPDIR/out" 3>&- &
  waits=$!
  exec 7>"$BATS_TEST_TMPDIR/go"
  until_runs "$waits" "$LOADS"
  "$TALLY" trace -x quiet -Z -p "$waits" -n 'pid$target:plugin_a:plugin_a_touch:entry { @ = count(); } tick-1ms { printf("on\n"); }' >"$BATS_TEST_TMPDIR/t" 3>&- 7>&- &
  tracer=$!
  until grep -q on "$BATS_TEST_TMPDIR/t"; do kill -0 $tracer || break; done
  kill -STOP $tracer
  echo >&7
  exec 7>&-
  until [ "$(awk '/^State/ { print $2 }' /proc/$waits/status)" = T ]; do kill -0 $waits || break; done
  [ "$(awk '/^State/ { print $2 }' /proc/$waits/status)" = T ]
  kill -9 $tracer
  wait $tracer || [ $? -eq 137 ]
  wait "$waits"
  [ "$(cat "$BATS_TEST_TMPDIR/out")" = 700 ]
}

@test "functions of a pattern on which no probe can be placed cost one refused call of the kernel, not one for each" {
  needs_uprobes
  command -v strace >/dev/null || skip "no strace"
  libc=$(ldd "$FUNCTIONS" | awk '/libc\.so/ { print $3 }')
  start_waiting 1
  run strace -f -e trace=bpf -e signal=none "$TALLY" trace -p "$waits" -n 'pid$target:libc*::entry { @ = count(); } tick-1ms { exit(0); }'
  exec 7>&-
  [[ "$output" == *"probes of a pattern left out"* ]] || skip "the kernel refuses none of the functions of $libc"
  [ "$(grep -c 'LINK_CREATE.* = -1' <<<"$output")" -eq 1 ]
}

@test "a file that the process does not map is refused, with the name that may be meant" {
  needs_uprobes
  run trace -c "$FUNCTIONS 1" -n 'pid$target:libd.so.6:printf:entry { @ = count(); }'
  [ "$status" -ne 0 ]
  grep -q 'maps no file "libd.so.6"; did you mean' <<<"$output"
  grep -q 'libc.so.6' <<<"$output"
}

@test "the probes of a file are one link of the kernel where it has links to many places" {
  needs_uprobes
  "$TALLY" doctor | grep -q 'uprobe_multi' || [ "$(uname -r | awk -F '[.]' '{ print $1 * 1000 + $2 }')" -ge 6010 ] || skip "Linux before 6.10"
  run trace -w -c "$FUNCTIONS 1" -n 'BEGIN { system("cat /proc/%d/fdinfo/* 2>/dev/null | grep -A4 uprobe_multi", pid); }' -n 'pid$target:a.out:st?p:,pid$target:a.out:ten:entry { @ = count(); }'
  [ "$status" -eq 0 ]
  grep -qE '^uprobe_cnt:[[:space:]]*[2-9]' <<<"$output"
}
