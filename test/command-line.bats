#!/usr/bin/env bats
# The command line: verbs, options, help, what is refused and how.  Needs no privileges.
load common

@test "without a verb usage goes to stderr, with status 2" {
  run bash -c "'$TALLY' 2>&1 >/dev/null"
  [ "$status" -eq 2 ]
  has "usage: tally VERB"
}

@test "help lists the verbs on stdout" {
  for word in help --help -h; do
    run bash -c "'$TALLY' $word 2>/dev/null"
    [ "$status" -eq 0 ]
    has "  trace        run a D program over CPU events"
  done
}

@test "help of a verb is the verb's -h" {
  [ "$("$TALLY" help trace)" = "$("$TALLY" trace -h)" ]
  [ "$("$TALLY" trace --help)" = "$("$TALLY" trace -h)" ]
}

@test "help of every verb fits 80 columns" {
  verbs=$("$TALLY" help | sed -n '/^Verbs:/,/^$/s/^  \([a-z]*\) .*/\1/p')
  [ "$(wc -w <<<"$verbs")" -ge 12 ]
  for verb in help $verbs; do
    wide=$("$TALLY" $verb --help | awk 'length > 80')
    [ -z "$wide" ] || { echo "$verb: $wide"; return 1; }
  done
}

@test "the version is one line, and below it what tally is made of" {
  run "$TALLY" --version
  [ "$status" -eq 0 ]
  [[ "${lines[0]}" =~ ^tally\ [0-9]+\.[0-9.]+$ ]]
  [[ "${lines[1]}" =~ ^\ \ libbpf\ +[0-9.]+\ .*\(inside\)$ ]]
  for name in libpfm4 libdw liblzma libzstd libfuse3 libmicrohttpd Unicorn DuckDB; do grep -qE "^  $name +([0-9v.]+ |- .*not found)" <<<"$output"; done
  ! grep -qE '.{81}' <<<"$output" || return 1
  [ "$("$TALLY" trace -V)" = "${lines[0]}" ]
  [ "$(as_dtrace -V)" = "dtrace: ${lines[0]}" ]
}

@test "an unknown verb names the nearest" {
  run "$TALLY" trac
  said 2 "tally: unknown verb 'trac'; did you mean 'trace'?"
  run "$TALLY" frobnicate
  said 2 "tally: unknown verb 'frobnicate'; 'tally help' lists them"
  run "$TALLY" help frobnicate
  [ "$status" -eq 2 ]
  run "$TALLY" --foo
  said 2 "tally: unknown option '--foo' before the verb; 'tally help' lists the verbs, 'tally VERB -h' their options"
}

@test "under the name dtrace it is tally trace, and says so in its messages" {
  run as_dtrace --on=vm -qn 'BEGIN { trace("x"); exit(0); }'
  said 0 "x"
  run as_dtrace -k
  said 2 "dtrace: unknown option '-k'
dtrace: 'tally trace -h' shows the options"
}

@test "wrong options end with status 2 and say what is wrong" {
  expect() { # TEXT OPTIONS...
    run "$TALLY" trace "${@:2}"
    [ "$status" -eq 2 ] && [ "${lines[0]}" = "tally: $1" ] || { echo "${*:2}: $status: $output"; return 1; }
  }
  expect "unknown option '-k'" -k
  expect "unknown option '-k'" -qkn BEGIN
  expect "unknown option '--frob'" --frob
  expect "unknown option '--frob=1'" --frob=1
  expect "-n requires an argument: CLAUSE" -n
  expect "-o requires an argument: FILE" -qo
  expect "--json takes no argument" --json=yes
  expect "unknown option '--jsn'; did you mean '--json'?" --jsn
  expect "unknown option '--dmup=bpf'; did you mean '--dump'?" --dmup=bpf
  expect "unknown option '-j'; did you mean '--json'?" -json
  expect "--dump: invalid value 'ast' (expected one of parse, bind, type, lower, check, bpf)" --dump=ast -n BEGIN
  expect "--on: no platform or file 'mars' (expected local, vm, niagara, maramba, batoka, power, or an existing file)" --on=mars -n BEGIN
  expect "--on=kunpeng,load=nvme: D reads a recorded PTT trace: run 'tally record --on kunpeng,load=nvme -e EVENT -o t.data', then give --on ./t.data" \
    --on=kunpeng,load=nvme -n BEGIN
  expect "-p: invalid process ID 'x1'" -p x1 -n BEGIN
  expect "-p: invalid process ID '0'" -p 0 -n BEGIN
  expect "-o can be given only once" -o a -o b -n BEGIN
  expect "-c can be given only once" -c a -c b -n BEGIN
  expect "-c and -p cannot be combined: both set \$target" -c a -p 1 -n BEGIN
  expect "no program: give -n CLAUSE or -s FILE"
  expect "no program: give -n CLAUSE or -s FILE" argument
  expect "no program: give -n CLAUSE or -s FILE" -- -n BEGIN
  expect "no program: give -n CLAUSE or -s FILE, as -s examples/brendan-l2miss.d" examples/brendan-l2miss.d
}

@test "dtrace's other options are refused by name with what to do instead" {
  for option in -a -A -32; do
    run "$TALLY" trace "$option" -n BEGIN
    [ "$status" -eq 2 ] || { echo "$option: $status"; return 1; }
    [[ "$output" == "tally: $option is not supported: "?????* ]] || { echo "$option: $output"; return 1; }
  done
  run "$TALLY" trace -A -n BEGIN
  has "no anonymous tracing at boot"
}

@test "the manual page has every option of the table, and no other" {
  page=$BATS_TEST_DIRNAME/../doc/verb/trace.md
  "$TALLY" trace -h | sed -n 's/^  \(-[^ ,]*\|    --[^ =]*\).*/\1/p' | tr -d ' ' | sort >"$BATS_TEST_TMPDIR/table"
  [ "$(wc -l <"$BATS_TEST_TMPDIR/table")" -gt 20 ]
  while read -r option; do
    grep -qE -- "\`$option( |=|\`|[24]\`)" "$page" || { echo "not in the page: $option"; return 1; }
  done <"$BATS_TEST_TMPDIR/table"
  sed -n '/^## OPTIONS$/,/^## OPTIONS OF/s/^- `\(-[-a-zA-Z]*\).*/\1/p' "$page" | while read -r option; do
    grep -qxF -- "$option" "$BATS_TEST_TMPDIR/table" || { echo "not in the table: $option"; return 1; }
  done
}

@test "the manual page has every option of the language" {
  "$TALLY" complete "" tally trace -x "" | grep -v '^:' | sed 's/[=\t].*//' >"$BATS_TEST_TMPDIR/options"
  [ "$(wc -l <"$BATS_TEST_TMPDIR/options")" -gt 15 ]
  for inert in aggrate cleanrate nolibs destructive; do sed -i "/^$inert$/d" "$BATS_TEST_TMPDIR/options"; done
  while read -r option; do
    grep -q "\`$option\`" "$BATS_TEST_DIRNAME/../doc/verb/trace.md" || { echo "not in the page: $option"; return 1; }
  done <"$BATS_TEST_TMPDIR/options"
}

@test "a misspelt option of any verb is told, and one that is short for several" {
  run "$TALLY" stat --vew cec
  said 2 "tally: unknown option '--vew'; did you mean '--view'?
tally: 'tally stat -h' shows the options"
  run "$TALLY" stat --vew=cec
  [ "${lines[0]}" = "tally: unknown option '--vew=cec'; did you mean '--view'?" ]
  run "$TALLY" list --profil=spec --on power gpci               # short for one: as getopt has it
  [ "$status" -eq 0 ]
  run "$TALLY" record --d 3
  [ "$status" -eq 2 ]
  run "$TALLY" stat --c 3
  [ "${lines[0]}" = "tally: ambiguous option '--c': could be --cpu, --count" ]
  run "$TALLY" get --=x
  [ "${lines[0]}" = "tally: unknown option '--=x'" ]
}

@test "a misspelt verb or word is told" {
  run "$TALLY" staat
  said 2 "tally: unknown verb 'staat'; did you mean 'stat'?"
  run "$TALLY" --hlep
  said 2 "tally: unknown option '--hlep'; did you mean '--help'?"
  run "$TALLY" completoin
  said 2 "tally: unknown verb 'completoin'; did you mean 'completion'?"
}

@test "what is misspelt in D is told, and the event before its count" {
  expect() { # LINE TEXT PROGRAM
    run "$TALLY" trace --on=vm -n "$3"
    [ "$status" -eq 1 ] && [[ "${lines[$1]}" == *"$2" ]] || { echo "$3: $status: $output"; return 1; }
  }
  expect 0 "failed to resolve execnam: Unknown variable name; did you mean execname?" 'BEGIN { trace(execnam); }'
  expect 0 "undefined function name: conut; did you mean count()?" 'BEGIN { @ = conut(); }'
  expect 0 "undefined function name: pritnf; did you mean printf()?" 'BEGIN { pritnf("x"); }'
  expect 1 "profile: no probe \"tikc-1s\"; did you mean tick-1s?" 'tikc-1s { exit(0); }'
  expect 1 "cpc: no event \"page_fualts\"; did you mean page_faults?" 'cpc:::page_fualts-user-500 { exit(0); }'
  expect 1 "cpc: no event \"page-fualts\"; did you mean page_faults?" 'cpc:::page-fualts-user-5000 { exit(0); }'
}

@test "a terminal gets long messages in lines that fit, and a command whole; a file gets them as they are" {
  command -v script >/dev/null || skip "no script(1)"
  script -qec "stty cols 60; '$TALLY' list --on missing gpci" /dev/null | tr -d '\r' >"$BATS_TEST_TMPDIR/seen"
  ! grep -nE '.{61}' "$BATS_TEST_TMPDIR/seen" || return 1
  [ "$(wc -l <"$BATS_TEST_TMPDIR/seen")" -eq 3 ]
  run "$TALLY" list --on missing gpci
  [ "${#lines[@]}" -eq 1 ]
  [ "${lines[0]}" = "$(sed 's/^ *//' "$BATS_TEST_TMPDIR/seen" | tr '\n' ' ' | sed 's/ $//')" ]
  [ "$(id -u)" -eq 0 ] || return 0
  mine=$(mktemp -d /tmp/tally-line-XXXXXX) && chmod 755 "$mine" && cp "$TALLY" "$mine/tally" && chmod 755 "$mine/tally"
  script -qec "stty cols 60; setpriv --reuid=65534 --clear-groups $mine/tally trace -n BEGIN" /dev/null | tr -d '\r' >"$BATS_TEST_TMPDIR/seen"
  rm -r "$mine"
  grep -qE "^ +sudo .* $mine/tally\$" "$BATS_TEST_TMPDIR/seen"
}

@test "a misspelt model is told where D runs, too" {
  run "$TALLY" trace --on=nigara -n BEGIN
  said 2 "tally: --on: no platform or file 'nigara'; did you mean 'niagara'?"
}

@test "a file that is empty, missing or something else ends with status 1 and is named" {
  cd "$BATS_TEST_TMPDIR" && : >empty && echo something >else
  for verb in dump report export "trace -n tlp --on" "get gpci/entitled/ --on" "list gpci --on"; do
    for file in ./empty ./missing ./else; do
      run "$TALLY" $verb $file
      [ "$status" -eq 1 ] && [[ "${lines[0]}" == "tally: $file"* && "${#lines[@]}" -eq 1 ]] || { echo "$verb $file: $status: $output"; return 1; }
    done
  done
}

@test "answers are not appended to the trace that they are of, whatever its name there" {
  cd "$BATS_TEST_TMPDIR" && : >mine && ln -s mine link && ln mine hard && : >other
  for on in mine ./mine mine,time=abs link; do
    for to in mine link hard; do
      run "$TALLY" trace --on $on -o $to -n tlp
      said 2 "tally: -o $to would overwrite the trace"
    done
  done
  for to in other new; do
    run "$TALLY" trace --on mine -o $to -n tlp
    [ "$status" -eq 1 ] && has "tally: mine: the file is empty"
  done
  run "$TALLY" trace --on - -o mine -n tlp <hard
  said 2 "tally: -o mine would overwrite the trace"
}

@test "a time of tally serve is one of seconds, minutes or hours between its bounds" {
  # What is refused is the option behind it.
  for time in 10 10s 60s 1m 1440m 1h 24h 86400 86400s; do
    run timeout 60 "$TALLY" serve --history $time --push-every 0
    said 2 "tally: --push-every: invalid time '0' (expected 1s to 24h, such as 15s or 1m)"
  done
  for time in 0 9 9s 86401 1441m 25h 1d s 10s0 10ss -10 0000000000000010 ''; do
    run timeout 60 "$TALLY" serve --history "$time"
    said 2 "tally: --history: invalid time '$time' (expected 10s to 24h, such as 90s, 10m or 1h)"
  done
  for time in 1 1s 24h; do
    run timeout 60 "$TALLY" serve --push-every $time --archive-every $time --history 0
    said 2 "tally: --history: invalid time '0' (expected 10s to 24h, such as 90s, 10m or 1h)"
  done
}

@test "a file that may not grow (ulimit -f) is told and named, and no signal ends tally" {
  trace=$BATS_TEST_DIRNAME/fixture/ptt-8dw-golden.perf.data
  for verb in "export -o t.csv" "report -o t.html" "dump -o t.json"; do
    out=${verb##* }
    run bash -c "cd '$BATS_TEST_TMPDIR' && ulimit -f 2 && '$TALLY' $verb '$trace'"
    said 1 "tally: failed to write to $out: File too large"
  done
}

@test "with every allocation failing, the last word is still said" {
  command -v gcc >/dev/null || skip "no gcc"
  failing=$BATS_TEST_TMPDIR/failing.so
  gcc -D_GNU_SOURCE -shared -fPIC -o "$failing" "$BATS_TEST_DIRNAME/torture/failing.c"
  for n in 1 10 30 60; do
    run env TORTURE_FAIL_AT=$n TORTURE_FAIL_ON=1 LD_PRELOAD="$failing" "$TALLY" trace --on=vm -n 'BEGIN { @ = count(); exit(0); }'
    said 1 "tally: out of memory"
    run env TORTURE_FAIL_AT=$n TORTURE_FAIL_ON=1 LD_PRELOAD="$failing" "$TALLY" no-such-verb
    [ "$status" -eq 2 ] && has "tally: "
  done
}

@test "an output whose file system says at the end that it lost bytes is a failure" {
  command -v gcc >/dev/null || skip "no gcc"
  cd "$BATS_TEST_TMPDIR"
  # as NFS does: bytes were taken, and close() says that they did not arrive
  gcc -D_GNU_SOURCE -shared -fPIC -o closing.so -x c - <<'C'
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
int close(int fd)
{
	char link[64], path[4096];
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	ssize_t n = readlink(link, path, sizeof(path));
	if (syscall(SYS_close, fd))
		return -1;
	errno = EIO;
	return n > 8 && !memcmp(path + n - 8, "lost.txt", 8) ? -1 : 0;
}
C
  "$TALLY" record --on kunpeng --duration 1 -e hisi_ptt0_2/filter=0x80001,type=1/ -o t.data 2>/dev/null
  for command in "dump t.data" "report t.data" "list tlb" "stat --on power --view cec --count 1" \
    "trace --on=vm -n BEGIN{exit(0);}"; do
    run env LD_PRELOAD="$PWD/closing.so" "$TALLY" $command -o lost.txt
    [ "$status" -eq 1 ] && has "tally: failed to write to lost.txt: Input/output error" || { echo "$command: $status $output"; return 1; }
  done
  # what failed before keeps its own reason and status
  run env LD_PRELOAD="$PWD/closing.so" "$TALLY" dump --filter '(' -o lost.txt t.data
  [ "$status" -ne 0 ] && [[ $output == *filter* && $output != *lost.txt* ]] || { echo "$status $output"; return 1; }
}

@test "a signal that a shell has tally ignore stays ignored" {
  cd "$BATS_TEST_TMPDIR"
  mkfifo never
  exec 8<>never # nothing ever comes
  (trap '' INT; exec "$TALLY" trace --on - -qn 'ptt:::tlp { n++; }' <never >out 2>&1 3>&- 8>&-) &
  pid=$!
  until grep -qsx "Name:.tally" /proc/$pid/status && grep -qs "^SigCgt:.*[4567cdef]...$" /proc/$pid/status; do kill -0 $pid; done
  caught=$(sed -n 's/^SigCgt:.*\(.\)$/\1/p' /proc/$pid/status) ignored=$(sed -n 's/^SigIgn:.*\(.\)$/\1/p' /proc/$pid/status)
  kill -KILL $pid
  exec 8>&-
  [ $((0x$caught & 2)) -eq 0 ] && [ $((0x$ignored & 2)) -eq 2 ] || { echo "caught $caught, ignored $ignored"; return 1; }
}

@test "one signal more than half a second after the first ends a verb at once, one that comes before doesn't" {
  cd "$BATS_TEST_TMPDIR"
  mkfifo never
  exec 8<>never # nothing ever comes
  "$TALLY" trace --on - -qn 'ptt:::tlp { n++; }' <never >out 2>&1 3>&- 8>&- &
  pid=$!
  # it catches SIGTERM, and is not the shell any more, which may catch it before it becomes tally
  until grep -qsx "Name:.tally" /proc/$pid/status && grep -qs "^SigCgt:.*[4567cdef]...$" /proc/$pid/status; do kill -0 $pid; done
  # late in a second of the clock, so that the second signal comes in the next one
  until [[ $(</proc/uptime) =~ ^[0-9]+[.][89] ]]; do kill -0 $pid; done
  sent=0
  while kill -TERM $pid 2>/dev/null; do
    sent=$((sent + 1))
    [ $sent -lt 200 ] || { kill -9 $pid; echo "deaf"; return 1; }
    sleep 0.2
  done
  status=0
  wait $pid || status=$?
  exec 8>&-
  [ $status -eq 143 ] && [ $sent -ge 3 ] || { echo "$sent signals, status $status"; return 1; }
}

@test "under the name dtrace the status is not that of the command of -c, as in dtrace(1)" {
  needs_bpf
  run as_dtrace -qn 'BEGIN { }' -c 'sh -c "exit 4"'
  said 0 ""
  run as_dtrace -qn 'BEGIN { exit(3); }' -c 'sh -c "exit 4"'
  [ "$status" -eq 3 ]
}
