#!/usr/bin/env bats
# User stacks by unwind tables (-x ustackunwind=dwarf).  The truth is what test/prog/unframed.c says of its own stacks, and libdwfl, which
# unwinds the registers and the stack that perf copied at the same page faults (test/prog/part/unwound.c).
bats_require_minimum_version 1.5.0
load common

setup() {
  case $(uname -m) in x86_64 | aarch64) ;; *) skip "unwind tables are for x86-64 and arm64" ;; esac
  needs_bpf
  UNFRAMED=$(realpath "$PROGS/unframed")
  OPTS=(-x ustackunwind=dwarf)
}
teardown() { leaves_none ${child:-}; }

# until_says FILE TEXT PID: waits for it as long as the process is there.
until_says() { until grep -q -- "$2" "$1" 2>/dev/null; do kill -0 "$3" || return 1; done; }
until_stopped() { until grep -q '^State:.T' "/proc/$1/status" 2>/dev/null; do kill -0 "$1" || return 1; done; }

# traced FAULTS CLAUSES ARGUMENT...: $output is what the clauses say of unframed's faults from its main() on.
traced() {
  local faults=$1 clauses=$2 tracer
  shift 2
  rm -f "$BATS_TEST_TMPDIR/out"
  "$UNFRAMED" "$faults" 1000000 "$@" &
  child=$!
  until_stopped "$child"
  "$TALLY" trace -q -x dcpc_min_overflow=1 -x switchrate=10ms "${OPTS[@]}" -p "$child" -n "BEGIN { printf(\"ready\\n\"); } $clauses" >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" &
  tracer=$!
  until_says "$BATS_TEST_TMPDIR/out" ready "$tracer"
  kill -CONT "$child"
  wait "$tracer" || { cat "$BATS_TEST_TMPDIR/err"; return 1; }
  output=$(<"$BATS_TEST_TMPDIR/out") stderr=$(<"$BATS_TEST_TMPDIR/err")
}

# Frames of each stack on a line, its count at the end.
lines_of_stacks() { awk 'NF { sub(/^ +/, ""); s = s " " $0; next } s { print s; s = "" } END { if (s) print s }' <<<"$output" | sed -E 's/\+0x[0-9a-f]+//g'; }
sum_of() { lines_of_stacks | grep -E "$1" | awk '{ n += $NF } END { print n + 0 }'; }

# Traces the process that $dir/truth names: the address of each page fault and the stack's addresses go to $dir/ours.  $tracer.
trace_addresses() {
  child=$(awk '{ print $2; exit }' "$dir/truth")
  "$TALLY" trace -q -x dcpc_min_overflow=1 -x switchrate=10ms -x noresolve "${OPTS[@]}" -p "$child" \
    -n 'BEGIN { printf("ready\n"); } cpc:::page_faults-user-1 /pid == $target/ { printf("at %x", arg2); ustack(64); }' >"$dir/ours" 2>"$dir/err" &
  tracer=$!
  until_says "$dir/ours" ready "$tracer"
}

# same_stacks TRUTH OURS: how many stacks both have, by the address of the page fault, and how many of these are equal.
same_stacks() {
  awk '
    function close_stack() { if (at != "") ours[at] = frames }
    FNR == NR { if ($1 == "at") { s = ""; for (i = 3; i <= NF; i++) s = s " " $i; truth[$2] = s } next }
    $1 == "at" { close_stack(); at = $2; frames = ""; next }
    NF { sub(/^0x/, "", $1); frames = frames " " $1 }
    END {
      close_stack()
      for (k in truth) if (k in ours) { n++; if (ours[k] == truth[k]) same++; else if (shown++ < 5) print "at " k "\n  truth" truth[k] "\n  tally" ours[k] }
      print n + 0 " stacks, " same + 0 " the same"
    }' "$1" "$2"
}

in_order=' unframed`touch_page unframed`compare libc[^ ]*msort[^ ]*( libc[^ ]*msort[^ ]*)* libc[^ ]*qsort[^ ]* unframed`sort_some( unframed`spread)+ unframed`main libc[^ ]* libc[^ ]* unframed`_start [0-9]+$'
on_signal=' unframed`touch_page unframed`in_handler unframed`handler [^ ]+ .*unframed`main libc[^ ]* libc[^ ]* unframed`_start [0-9]+$'

@test "each stack of a program without frame pointers is its chain of calls, through libc and signal handlers" {
  [ "$(uname -m)" = x86_64 ] || skip "names of libc's functions as on x86-64"
  for other in "" other; do
    traced 5000 'cpc:::page_faults-user-1 /pid == $target/ { @[ustack()] = count(); }' $other
    lines_of_stacks | sed -E "\,$on_signal|$in_order,d" # what is shown if it fails
    echo "$stderr"
    [ "$(sum_of 'unframed`touch_page ')" -ge 4990 ]
    [ "$(sum_of 'unframed`touch_page unframed`in_handler')" -ge 50 ]
    [ "$(sum_of "$on_signal")" -eq "$(sum_of 'unframed`touch_page unframed`in_handler')" ]
    [ "$(sum_of "$in_order")" -eq "$(sum_of 'unframed`touch_page unframed`compare')" ]
    [ "$(sum_of 'touch_page.*truncated')" -eq 0 ]
  done
}

@test "stacks of a program that was linked with -static, which has no sorted table, are its chains of calls" {
  local dir=$BATS_TEST_TMPDIR/static
  mkdir "$dir"
  cc -static -no-pie -O2 -fomit-frame-pointer -fno-optimize-sibling-calls -o "$dir/unframed" "$BATS_TEST_DIRNAME/prog/unframed.c" 2>"$dir/said" ||
    skip "no static C library"
  run readelf -lW "$dir/unframed"
  [[ "$output" == *LOAD* && "$output" != *GNU_EH_FRAME* ]]
  UNFRAMED=$dir/unframed
  traced 1000 'cpc:::page_faults-user-1 /pid == $target/ { @[ustack()] = count(); }'
  lines_of_stacks | head -n 5 # what is shown if it fails
  [ "$(sum_of '^ unframed`touch_page unframed`(compare|in_handler) .* unframed`main unframed`[^ ]+ unframed`[^ ]+ unframed`_start [0-9]+$')" -ge 990 ]
  [ "$(sum_of 'touch_page.*truncated')" -eq 0 ]
}

@test "stacks of Go, whose programs have no tables but what signals return to, are walked by frame pointers" {
  command -v go >/dev/null || skip "go is not there"
  TALLY=$(realpath "$TALLY")
  cd "$BATS_TEST_TMPDIR"
  GO111MODULE=off GOFLAGS= GOCACHE=$PWD/go go build -o shop "$BATS_TEST_DIRNAME/prog/name/shop.go"
  run "$TALLY" trace -q -x dcpc_min_overflow=1 "${OPTS[@]}" -n 'cpc:::page_faults-user-1 /pid == $target/ { @[ustack()] = count(); }' -c ./shop
  [ "$status" -eq 0 ]
  lines_of_stacks | grep till
  [ "$(sum_of '^ shop`main\.\(\*till\)\.ring shop`main\.main shop`runtime\.main ')" -ge 1900 ]
}

@test "a stack goes on from the vDSO into who called it" {
  traced 1000 'cpc:::page_faults-user-1 /pid == $target/ { @[ustack()] = count(); }' vdso
  lines_of_stacks | head -n 5
  # other kernels' vDSO may ask the kernel even here: then no fault is taken in user mode
  [ "$(sum_of touch_page)" -gt 0 ] || skip "this kernel's vDSO does not write the time"
  [ "$(sum_of '^ .vdso.[^ ]* (libc[^ ]* )?unframed`touch_page unframed`(compare|in_handler) .* unframed`main libc[^ ]* libc[^ ]* unframed`_start [0-9]+$')" -ge 950 ]
}

@test "the command of -c stands still behind its loader until its tables are there: no stack of its own code is cut" {
  run "$TALLY" trace -q -x dcpc_min_overflow=1 "${OPTS[@]}" -n 'cpc:::page_faults-user-1 /pid == $target/ { @[ustack()] = count(); }' -c "$PROGS/pf 300"
  [ "$status" -eq 0 ]
  [ "$(sum_of '^ pf`main libc[^ ]* libc[^ ]* pf`_start [0-9]+$')" -ge 299 ]
  [ "$(sum_of ' pf`.*truncated')" -eq 0 ]
  run -127 "$TALLY" trace -q "${OPTS[@]}" -n 'cpc:::page_faults-user-5000 { @[ustack()] = count(); }' -c /nonexistent
  has "cannot run the command"
}

@test "frame pointers, which are the default, do not find those callers" {
  OPTS=()
  traced 1000 'cpc:::page_faults-user-1 /pid == $target/ { @[ustack()] = count(); }'
  [ "$(sum_of 'unframed`touch_page ')" -ge 990 ]
  [ "$(sum_of "$in_order")" -eq 0 ]
  OPTS=(-x ustackunwind=auto)
  traced 1000 'cpc:::page_faults-user-1 /pid == $target/ { @[ustack()] = count(); }'
  [ "$(sum_of 'touch_page.*main.*_start')" -ge 990 ]
}

@test "at least 99 of 100 stacks are libdwfl's, of 10,000 page faults in a sort and in handlers that interrupt anywhere" {
  [ -x "$PROGS/unwound" ] || skip "libdw-dev is not installed"
  local dir=$BATS_TEST_TMPDIR unwound tracer
  mkfifo "$dir/go"
  "$PROGS/unwound" "$UNFRAMED" 10000 500 <"$dir/go" >"$dir/truth" 2>"$dir/lost" &
  unwound=$!
  exec 7>"$dir/go"
  until_says "$dir/truth" pid "$unwound"
  trace_addresses
  echo >&7
  exec 7>&-
  wait "$unwound"
  wait "$tracer"
  run same_stacks "$dir/truth" "$dir/ours"
  echo "$output"; cat "$dir/lost" "$dir/err"
  [[ "$output" =~ ([0-9]+)" stacks, "([0-9]+)" the same" ]]
  [ "${BASH_REMATCH[1]}" -ge 9900 ] && [ $((100 * BASH_REMATCH[2])) -ge $((99 * BASH_REMATCH[1])) ]
}

@test "stacks are gdb's, at 100 places where it stops the program" {
  local dir=$BATS_TEST_TMPDIR gdb tracer
  command -v gdb >/dev/null || skip "gdb is not installed"
  gdb -nx -batch -ex 'python print(1)' >/dev/null 2>&1 || skip "this gdb has no Python"
  mkfifo "$dir/go"
  # Stops at the store that takes the page fault: what gdb says there is what tally finds when it goes on.
  cat >"$dir/stops.py" <<PY
import re
for line in ("pagination off", "confirm off", "backtrace past-main on", "displaced-stepping off", "startup-with-shell off"):
    gdb.execute("set " + line)
gdb.execute("handle SIGUSR1 nostop noprint pass")
gdb.execute("handle SIGSTOP stop print nopass")
out = open("$dir/truth", "w", buffering=1)
gdb.execute("run", to_string=True)
out.write("pid %d\\n" % gdb.selected_inferior().pid)
open("$dir/go").read()
begin = int(gdb.parse_and_eval("(unsigned long)&touch_page"))
store = re.compile(r"(?:movb +\\\$0x1,\\(%|strb\\s+w\\d+, \\[)(\\w+)[\\])]\$")
for i in gdb.selected_frame().architecture().disassemble(begin, begin + 200):
    found = store.match(i["asm"])
    if found:
        break
stop = gdb.Breakpoint("*%d" % i["addr"])
for n in range(100):
    stop.ignore_count = 7
    gdb.execute("continue", to_string=True)
    words = ["at %x" % int(gdb.parse_and_eval("(unsigned long)\$" + found.group(1)))]
    frame = gdb.newest_frame()
    while frame:
        if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME): # which debug information alone tells
            words.append("%x" % frame.pc())
        frame = frame.older()
    out.write(" ".join(words) + "\\n")
stop.delete()
gdb.execute("next", to_string=True)
PY
  gdb -nx -batch -x "$dir/stops.py" --args "$UNFRAMED" 100000 1000000 seldom >"$dir/gdb" 2>&1 &
  gdb=$!
  until_says "$dir/truth" pid "$gdb"
  trace_addresses
  echo >"$dir/go"
  wait "$gdb" || cat "$dir/gdb"
  wait "$tracer"
  run same_stacks "$dir/truth" "$dir/ours"
  echo "$output"; cat "$dir/err"
  [[ "$output" == *"100 stacks, 100 the same"* ]]
}

@test "ustack() in records, ucaller, ustackdepth, and stacks at system calls and functions are walked, too" {
  traced 300 'cpc:::page_faults-user-1 /pid == $target/ { printf("%d ", ustackdepth); printf("%A", ucaller); ustack(3); }
              pid$target:a.out:sort_some:entry { @[ustack(4)] = count(); } syscall::rt_sigreturn:entry /pid == $target/ { @[ustack(2)] = count(); }'
  awk '/^[0-9]+ unframed/ { few = $1 < 9 } few' <<<"$output" | head -n 40; echo "$stderr"
  # touch_page, compare, msort.., qsort, sort_some, spread.., main, and three before it; of a signal in main() itself
  # touch_page, in_handler, handler, what it returns to, main, and three
  [ "$(grep -cE '^[0-9]+ unframed`(compare|in_handler)' <<<"$output")" -ge 290 ]
  [ "$(awk '/^[0-9]+ unframed`(compare|in_handler)/ && $1 < ($2 ~ /compare/ ? 9 : 8) { n++ } END { print n + 0 }' <<<"$output")" -eq 0 ]
  [ "$(sum_of '^ unframed`sort_some unframed`spread .* [0-9]+$')" -ge 1 ]
  [ "$(sum_of '^ libc[^ ]*restore_rt[^ ]* .* [0-9]+$')" -ge 1 ] || [ "$(uname -m)" != x86_64 ]
}

@test "a stack that can't be walked further ends with [truncated]: where a probe of a return has taken the return address" {
  traced 300 'cpc:::page_faults-user-1 /pid == $target/ { @[ustack()] = count(); } pid$target:a.out:sort_some:return { @returned[ustack(2)] = count(); }'
  lines_of_stacks | head
  [ "$(sum_of '^ unframed`touch_page unframed`compare .*qsort[^ ]* unframed`sort_some [^ ]+ \[truncated\] ')" -ge 50 ]
  [ "$(sum_of '^ unframed`touch_page unframed`compare ')" -eq "$(sum_of '^ unframed`touch_page unframed`compare .*\[truncated\] ')" ]
  [ "$(sum_of '^ unframed`spread unframed`(spread|main) [0-9]+$')" -ge 1 ]
}

@test "tables for which there is no room are told" {
  OPTS+=(-x unwindsize=64k)
  traced 300 'cpc:::page_faults-user-1 /pid == $target/ { @[ustack()] = count(); }'
  [[ "$stderr" == *"no room: raise -x unwindsize"* ]]
}

@test "what -x ustackunwind takes is checked, and options that are too small" {
  run "$TALLY" trace -x ustackunwind=lbr -n 'BEGIN { exit(0); }'
  [ "$status" -eq 1 ] || [ "$status" -eq 2 ]
  has "option ustackunwind takes fp, dwarf or auto"
  run "$TALLY" trace -x unwindsize=1k -n 'BEGIN { exit(0); }'
  has "option unwindsize takes 65536 to 1073741824 bytes"
}
