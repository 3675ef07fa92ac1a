#!/usr/bin/env bats
# tally doctor: what it says to root, to an ordinary user and to programs; and that it leaves nothing.

load common

setup() { cd "$BATS_TEST_TMPDIR" || return 1; }

# What doctor says. Its status is its verdict (0, 3 not supported, 4 not permitted); any other, and silence, is a failure.
doctor_says() { # FILE COMMAND...: FILE is what it said
  local to=$1 status=0
  shift
  "$@" >"$to" || status=$?
  case $status in 0 | 3 | 4) [ -s "$to" ] ;; *) echo "doctor: status $status"; return 1 ;; esac
}

# The program as user nobody, with the arguments.
as_nobody() { setpriv --reuid=65534 --clear-groups "$TALLY" "$@"; }
needs_root() { [ "$(id -u)" -eq 0 ] || skip "only root can become nobody"; }

# row KEY: its object. field NAME: of that object.
row() { grep "\"key\":\"$1\"" said.json; }
field() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"; }

@test "to root the main job can be done, and the status says so" {
  needs_bpf
  run "$TALLY" doctor
  [ "$status" -eq 0 ]
  has "D probes over perf events and BPF run here."
  grep -qE '^  ok +whole CPUs ' <<<"$output"
  grep -qE '^  ok +programs +loaded, attached to cpu_clock, and run by it' <<<"$output"
}

@test "the status of doctor is whether a probe of an event can run" {
  trace=0
  "$TALLY" trace -qn 'profile-997 { exit(0); }' >/dev/null 2>&1 || trace=$?
  run "$TALLY" doctor
  [ $((status == 0)) -eq $((trace == 0)) ]
}

@test "an ordinary user is told what is denied, with the one command" {
  needs_root
  cp "$TALLY" tally && chmod 755 tally . && TALLY=$PWD/tally
  chmod a+x "$BATS_RUN_TMPDIR" "$BATS_FILE_TMPDIR" "$BATS_SUITE_TMPDIR" "$BATS_TMPDIR"
  as_nobody --version >/dev/null 2>&1 || skip "nobody can't run a program from here"
  run as_nobody doctor
  [ "$status" -eq 4 ]
  has "D probes over perf events and BPF do not run here: not permitted. First:"
  grep -q "setcap cap_perfmon,cap_bpf=ep" <<<"$output"
  grep -qE '^  missing +programs ' <<<"$output"
  doctor_says said.json as_nobody doctor --json
  [ "$(row bpf | field verdict)" = missing ]
  [ "$(row bpf | field cause)" = denied ]
  [ "$(row cap_bpf | field verdict)" = limited ]
  [ "$(row kallsyms | field verdict)" != ok ] || [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 1 ]
}

@test "the command names this program, wherever it is, and every refusal does" {
  needs_root
  chmod a+x "$BATS_RUN_TMPDIR" "$BATS_FILE_TMPDIR" "$BATS_SUITE_TMPDIR" "$BATS_TMPDIR" "$BATS_TEST_TMPDIR"
  for dir in plain "it's \$odd"; do
    mkdir -m 755 "$dir" && cp "$TALLY" "$dir/tally" && chmod 755 "$dir/tally"
    TALLY=$PWD/$dir/tally
    as_nobody --version >/dev/null 2>&1 || skip "nobody can't run a program from here"
    PATH=/usr/bin:/bin doctor_says said as_nobody doctor
    # the last command of the text, as a shell reads it
    line=$(sed -n '/First:$/,$p' said | tail -n +2)
    eval "set -- $line"
    [ "$1 $2 $3 $5" = "sudo sh -ec $PWD/$dir/tally" ] || { echo "$line"; return 1; }
    as_nobody doctor --json | sed -n 's/.*"key":"bpf".*"fix":"\(.*\)","needed.*/\1/p' >fix
    eval "set -- $(sed 's/\\\(.\)/\1/g' fix)"
    [ "$5" = "$PWD/$dir/tally" ]
    run as_nobody trace -qn 'profile-97 { exit(0); }'
    [ "$status" -eq 4 ]
    eval "set -- ${output##*: }"
    [ "$1 $2 $3 $5" = "sudo sh -ec $PWD/$dir/tally" ] || { echo "$output"; return 1; }
  done
}

@test "no line is wider than 80 columns, none ends in a blank, and a broken command goes on behind a backslash" {
  doctor_says said "$TALLY" doctor
  ! grep -nE '.{81}| $' said || return 1
  awk '/ \\$/ { n++; getline; if (!/^ +[^ ]/) bad = 1 } END { exit bad }' said
}

@test "every row that is not ok says what follows, and one command, if it could be tried" {
  doctor_says said.json "$TALLY" doctor --json
  [ "$(grep -c '"type":"finding"' said.json)" -ge 30 ]
  while read -r line; do
    [ -n "$(field consequence <<<"$line")" ] || { echo "no consequence: $line"; return 1; }
    case $line in *'"cause":"unknown"'*) continue ;; esac
    [ -z "$(field fix <<<"$line")" ] || [ -z "$(field instead <<<"$line")" ] || { echo "two commands: $line"; return 1; }
    [ -n "$(field fix <<<"$line")$(field instead <<<"$line")" ] || { echo "no command: $line"; return 1; }
  done < <(grep -v '"verdict":"ok"' said.json | grep '"type":"finding"')
  ! grep '"verdict":"ok"' said.json | grep -qE '"(fix|instead|consequence)"' || return 1
}

@test "the text and the JSON tell the same" {
  doctor_says said "$TALLY" doctor
  doctor_says said.json "$TALLY" doctor --json
  for verdict in ok limited missing; do
    [ "$(grep -c "^  $verdict " said)" -eq "$(grep -c "\"verdict\":\"$verdict\"" said.json)" ]
    grep -q "\"$verdict\":$(grep -c "^  $verdict " said)[,}]" <(tail -n 1 said.json)
  done
  needs_python
  python3 -c 'import json, sys; [json.loads(line) for line in open("said.json")]'
}

@test "commands that serve instead are commands of tally that run" {
  doctor_says said.json "$TALLY" doctor --json
  ln -s "$(realpath "$TALLY")" tally
  while read -r command; do
    [[ $command == *...* ]] && continue
    PATH=$PWD:$PATH timeout 20 bash -c "$command" >out 2>&1 || { echo "$command"; cat out; return 1; }
  done < <(field instead <said.json | grep -v -- '--share' | sort -u)
}

@test "nothing is left: no process, no event, no setting" {
  settings() { cat /proc/sys/kernel/{perf_event_paranoid,perf_event_max_sample_rate,nmi_watchdog,kptr_restrict} 2>/dev/null; }
  before=$(settings)
  doctor_says said "$TALLY" doctor
  [ "$(settings)" = "$before" ]
  [ -z "$(pgrep -P $$ tally)" ]
}

@test "who holds the counters is named" {
  needs_bpf
  command -v mkfifo >/dev/null
  grep -qsE 'cpu|pmuv3' <(ls /sys/bus/event_source/devices) || skip "no hardware PMU: nobody can hold its counters"
  mkfifo said
  "$TALLY" trace -qn 'cpc:::cpu_cycles-all-100000000 { } BEGIN { trace("on"); }' >said 2>/dev/null &
  read -r -n 2 _ <said
  run "$TALLY" doctor
  kill %1
  has "process $!, tally"
}

@test "doctor takes no arguments, and its options are in its page" {
  run "$TALLY" doctor what
  said 2 "tally: unexpected argument 'what': doctor takes none
tally: 'tally doctor -h' shows the options"
  [ "$("$TALLY" doctor -h | grep -c '^  tally doctor')" -eq 3 ]
  "$TALLY" doctor -h | sed -n 's/^  *\(-[a-z],\)\{0,1\} *\(--[-a-z0-9]*\).*/\2/p' | while read -r option; do
    grep -qF -- "\`$option\`" "$BATS_TEST_DIRNAME/../doc/verb/doctor.md" || { echo "not in the page: $option"; return 1; }
  done
}

@test "a broken pipe and a full disk are told" {
  run bash -c "'$TALLY' doctor >/dev/full"
  [ "$status" -eq 1 ]
  has "failed to write"
}

@test "root is given no command with sudo, which a small system has not" {
  needs_root
  "$TALLY" doctor >said
  grep -q "fix: " said || skip "nothing to mend here"
  ! grep -n "sudo" said || return 1
  "$TALLY" doctor --json >said.json
  ! grep -n '"fix":"[^"]*sudo' said.json || return 1
}

@test "a short command is written out each time: 'the same' says nothing" {
  doctor_says said "$TALLY" doctor
  ! grep -nE ': the same$' said || return 1
}

@test "no mode of tracefs is given as what lets an ordinary user read the numbers of tracepoints: its files are root's all the same" {
  needs_root
  as_reader="setpriv --reuid=65534 --regid=65534 --clear-groups"
  mkdir -m 755 "$BATS_TEST_TMPDIR/open" && cp "$TALLY" "$BATS_TEST_TMPDIR/open/tally"
  let_others_in
  run unshare --mount --propagation private sh -c "mount -t tracefs -o mode=755 tracefs /sys/kernel/tracing || exit 77
    $as_reader '$BATS_TEST_TMPDIR/open/tally' doctor --json"
  [ "$status" -ne 77 ] || skip "tracefs can't be mounted here"
  row=$(grep '"key":"perf_tracepoint"' <<<"$output")
  [[ $row == *'"verdict":"limited"'* && $row != *'"fix"'* ]] || { echo "$row"; return 1; }
}

@test "without libdw doctor says what stacks lack, and with which package they don't" {
  unshare -m true 2>/dev/null || skip "no namespaces of mounts here"
  local library
  library=$(ldconfig -p | awk '/libdw\.so\.1 / { print $NF; exit }')
  [ -n "$library" ] || skip "libdw is not installed"
  run "$TALLY" doctor
  [[ "$output" =~ ok\ +libdw\ +[0-9.]+ ]]
  run unshare -m sh -c 'mount --bind /dev/null "$1" && exec "$2" doctor' sh "$library" "$TALLY"
  [[ "$output" =~ missing\ +libdw\ +not\ found && "$output" == *"ustackunwind=dwarf is refused"*"apt-get install libdw1"* ]]
}
