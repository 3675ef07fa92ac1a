#!/usr/bin/env bats
# The scripts of examples/ answer their questions.

load common

setup() {
  ROOT=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
  cd "$BATS_TEST_TMPDIR" || return 1
  PATH=$(realpath "$(dirname "$TALLY")"):$PROGS:$PATH
}

# example NAME OPTION... -- TEXT...: it ends with status 0, and each text is in what it says.
example() {
  local name=$1 options=()
  shift
  while [ "$1" != -- ]; do options+=("$1"); shift; done
  shift
  run timeout 60 "$TALLY" trace -s "$ROOT/examples/$name.d" "${options[@]}"
  [ "$status" -eq 0 ] || { echo "$name: status $status: $output"; return 1; }
  for text in "$@"; do
    grep -qE "$text" <<<"$output" || { echo "$name: no $text in: $output"; return 1; }
  done
}

@test "examples of events name the functions, stacks and programs that cause them" {
  needs_bpf
  cp "$PROGS/brendan" foo
  example brendan-l2miss -c 'brendan 100000' -- 'brendan`func_gamma +[0-9]+$' 'brendan`func_alpha +[0-9]+$'
  example papi-l2miss -c 'brendan 100000' -- 'brendan`func_beta +[0-9]+$'
  example foo-stacks -c './foo 100000' -- '^ +foo`func_alpha'
  example faults-served -c 'brendan 100000' -- '^ +brendan +[0-9]+$' 'value .* Distribution'
  example kerncycprof -c 'brendan 100000' -- 'vmlinux`|[a-z_]+`[a-z_]+ +[0-9]+$'
  example user-insts -c 'brendan 300000' -- '^ +brendan +[0-9]+$'
  example cpu-share -- 'USER ms' 'KERNEL ms'
}

@test "an example of vcounter() finds the system calls in which a program has its page faults" {
  needs_bpf
  example call-faults -c "$PROGS/pf 1000" -- '^PROGRAM +CALL +FAULTS$' '^pf +[a-z_0-9]+ +[0-9]+$'
}

@test "examples of processes, scheduling, devices and connections answer their questions" {
  needs_types
  example offcpu-stacks -c 'sleep 0.1' -- '^sleep$' '^vmlinux`' '^ +[0-9]{5,}$'
  example runq-latency -- '^ +nanoseconds of waiting for a CPU' '^PROGRAM +LONGEST ns$' ' [0-9]+$'
  example block-latency -c "dd if=/dev/zero of=file bs=64k count=16 conv=fsync" -- '^MICROSECONDS, BY DEVICE$'
  example who-signals -c "sh -c 'kill -WINCH \$\$'" -- '^sh +[0-9]+ sh +[0-9]+ +28 +1$'
  example new-processes -c "sh -c 'ls -l /nonexistent; sh -c \"kill -9 \\\$\\\$; true\"; true'" -- '^ +[0-9]+ +[0-9]+ ls -l /nonexistent' '^ +[0-9]+ +[0-9]+ sh was killed$'
  ! command -v python3 >/dev/null ||
    example connections -c "python3 -c 'import socket
s = socket.create_server((\"127.0.0.1\", 0)); c = socket.create_connection(s.getsockname()); a, b = s.accept(); c.close(); a.recv(1); a.close()'" -- \
      '^ +127.0.0.1:[1-9][0-9]* +127.0.0.1:[1-9][0-9]* +[0-9]+$'
}

@test "examples of user code count the calls of functions, time them, and tell what each request costs" {
  needs_bpf
  [ -e /sys/bus/event_source/devices/uprobe/type ] || skip "this kernel has no uprobes"
  example user-calls -c 'brendan 1000' -- '^FUNCTION +CALLS$' '^func_alpha +1000$' '^func_gamma +1000$'
  example user-latency -c 'brendan 1000' 'func_*' -- '^  func_alpha ' '^  func_beta ' '^ +[0-9]+ \|@'
  command -v cc >/dev/null || skip "no C compiler"
  echo 'provider myapp { probe request__start(int id, string path); probe request__done(int id); };' >myapp.d
  cat >myapp.c <<'C'
#include <stdio.h>
#include <sys/mman.h>
#include "myapp.h"
int main(void)
{
	for (int id = 0; id < 300; id++) {
		char path[16];
		snprintf(path, sizeof(path), "/page/%d", id % 3);
		MYAPP_REQUEST_START(id, path);
		for (int i = 0; i < id % 3; i++)
			*(volatile char *)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) = 1;
		MYAPP_REQUEST_DONE(id);
	}
	return 0;
}
C
  "$TALLY" trace -h -s myapp.d
  cc -O2 -o myapp myapp.c
  example requests -c ./myapp -- '^PATH +REQUESTS +FAULTS +LONGEST us$' '^/page/0 +100 +0 +[0-9]+$' '^/page/1 +100 +100 +[0-9]+$' \
    '^/page/2 +100 +200 +[0-9]+$'
}

# The command in the header of an example, behind `$ `, prints what stands below it.
transcript() { # NAME
  local script=$ROOT/examples/$1.d command why
  command=$(sed -n 's/^ \*\t\$ //p' "$script")
  [ -n "$command" ] || { echo "$1: no transcript"; return 1; }
  sed -n '/^ \*\t\$ /,/^ \*$/s/^ \*\t//p' "$script" | tail -n +2 >sample
  [ -s sample ] || { echo "$1: nothing stands below the command"; return 1; }
  ln -sf "$script" .
  timeout 60 bash -c "$command" >said 2>errors </dev/null || { echo "$1: status $?: $(cat errors)"; return 1; }
  why=$(awk -f "$ROOT/test/lib/transcript.awk" sample said) || { echo "$1: $why; it said:"; cat said errors; return 1; }
}
transcripts() { # PATTERN: of those whose probes match it and no other kind's
  local script bad=0
  for script in $(grep -lE '^ \*'$'\t''\$ ' "$ROOT"/examples/*.d); do
    [ "$(transcript_kind "$script")" = "$1" ] || continue
    # Others run meanwhile, and what they do may keep a line from where the sample has it.
    transcript "$(basename "$script" .d)" || transcript "$(basename "$script" .d)" || bad=1
  done
  return $bad
}
transcript_kind() { # SCRIPT
  if grep -q '^pid\$target' "$1"; then echo user
  elif grep -qE '^(sched|proc|io|tcp|rawtp|sdt):::' "$1"; then echo kernel
  else echo calls; fi
}

@test "examples of system calls and events print what their headers say" {
  needs_bpf
  transcripts calls
}

@test "examples of tracepoints print what their headers say" {
  needs_types
  [ "$(nproc)" -gt 1 ] || skip "nothing migrates on one CPU"
  transcripts kernel
}

@test "examples of user code print what their headers say" {
  needs_bpf
  [ -e /sys/bus/event_source/devices/uprobe/type ] || skip "this kernel has no uprobes"
  transcripts user
}

@test "a header that says something else than its example prints is found out" {
  compare() { awk -f "$ROOT/test/lib/transcript.awk" sample said; }
  printf '%s\n' 'NAME  COUNT' 'one  12' ' 8 |@@@@  7' >said
  printf '%s\n' 'NAME COUNT' 'one 3' '4 |@@ 1' >sample && compare
  printf '%s\n' '...' 'one 3' '...' >sample && compare
  printf '%s\n' 'NAME COUNT' '...' >sample && compare
  printf '%s\n' 'NAME COUNT' 'two 3' '...' >sample && ! compare
  printf '%s\n' 'NAME COUNT' '...' 'two 3' >sample && ! compare
  printf '%s\n' 'one 3' '...' >sample && ! compare
  printf '%s\n' 'NAME COUNT' 'one 3' >sample && ! compare
}

@test "examples of packets answer their questions of a trace" {
  trace=$ROOT/test/fixture/ptt-8dw-golden.perf.data
  example ptt-latency --on "$trace" -- '^01:00.0 +2022 +519 +1326$' '^ +256 \|@+ +3108'
  example ptt-small-writes --on "$trace" -- '^REQUESTER +WRITES' '^0[0-9]:00.0 +[1-9]'
  example ptt-failures --on "$trace" -- '126156  01:00.0 answered by 00:00.0 with CA, tag 374' '^  CA +2$'
}

@test "examples of hardware events compile, or are refused because the event isn't there" {
  for script in "$ROOT"/examples/hardware/*.d; do
    run "$TALLY" trace -e -s "$script"
    [ "$status" -eq 0 ] && continue
    grep -qE 'has no|no hardware|not supported|no such event|PMU' <<<"$output" || { echo "$script: $output"; return 1; }
  done
}

@test "there are twelve examples or more, two or more of each provider, and each is run by a test" {
  [ "$(find "$ROOT/examples" -name '*.d' | wc -l)" -ge 12 ]
  for provider in cpc ptt vfalls mmustat gpci; do
    [ "$(grep -l "^$provider:::" "$ROOT"/examples/*.d | wc -l)" -ge 2 ] || { echo "$provider"; return 1; }
  done
  for script in "$ROOT"/examples/*.d; do
    name=$(basename "$script" .d)
    grep -qE '^ \*'$'\t''\$ ' "$script" || grep -qE "^ *example $name( |\$)" "$BATS_TEST_DIRNAME"/*.bats || { echo "$name is run by no test"; return 1; }
  done
}
