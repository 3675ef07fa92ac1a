# What happens when whoever reads the answer goes away: one rule for all verbs.

load common

setup_file() {
  export TRACE="$BATS_FILE_TMPDIR/t.data"
  "$TALLY" record --on kunpeng -e hisi_ptt0_2/filter=0x80001,type=7,direction=2/ --duration 2 -o "$TRACE" 2>/dev/null
}

# unread ARGUMENT...: tally with a standard output that nobody reads any more.
unread() {
  local rc=0
  exec {gone}> >(:)
  wait $!
  "$TALLY" "$@" >&$gone 2>"$BATS_TEST_TMPDIR/said" || rc=$?
  exec {gone}>&-
  return $rc
}

# ends_141 ARGUMENT...: with that status, without a word.
ends_141() {
  local rc=0
  unread "$@" || rc=$?
  [ $rc -eq 141 ] && [ ! -s "$BATS_TEST_TMPDIR/said" ] || { echo "$*: $rc"; cat "$BATS_TEST_TMPDIR/said"; return 1; }
}

@test "every verb that answers ends with 141 and without a word" {
  ends_141 list
  ends_141 list events
  ends_141 list --json tlb
  ends_141 list --names events
  ends_141 doctor
  ends_141 trace --on=vm -qn 'BEGIN { trace(1); exit(0); }'
  ends_141 trace --on=vm -qn 'END { trace(1); } BEGIN { exit(0); }'
  ends_141 trace --on=vm -ln BEGIN
  ends_141 trace --on=vm --dump=bpf -n BEGIN
  ends_141 stat --on power --view cec --duration 10
  ends_141 stat --on power -e gpci/entitled/ -I 1 --json
  ends_141 get --on kunpeng hisi_ptt0_2
  ends_141 get --on power -x , gpci/entitled/
  ends_141 check --on power gpci
  ends_141 tune --on kunpeng hisi_ptt0_2 --for latency --dry-run
  for form in "" --json "-x ,"; do
    ends_141 dump $form "$TRACE"
    ends_141 export $form "$TRACE"
  done
  ends_141 dump --perf "$TRACE"
  ends_141 report "$TRACE"
  ends_141 report --json "$TRACE"
  ends_141 report -o /dev/stdout "$TRACE"
  ends_141 completion bash
  ends_141 help
  ends_141 --version
  ends_141 get --help
}

@test "an interrupt is ignored or not, a pipe is: the status is the same" {
  (trap '' PIPE; ends_141 list; ends_141 dump "$TRACE"; ends_141 help)
}

@test "a verb that changes or keeps something says how it stands, and ends with 141, too" {
  status=0; unread tune --on kunpeng,load=ingest hisi_ptt0_2 --for throughput --duration 2 || status=$?
  [ $status -eq 141 ]
  grep -qx "tally: stdout was closed by its reader; the settings of hisi_ptt0_2 are unchanged" "$BATS_TEST_TMPDIR/said"
  status=0
  unread record --on kunpeng -e hisi_ptt0_2/filter=0x80001,type=7,direction=2/ --duration 2 -o - || status=$?
  [ $status -eq 141 ]
  grep -qx "tally: stdout was closed by its reader; later records are not written" "$BATS_TEST_TMPDIR/said"
}

@test "a verb without an answer doesn't notice" {
  unread set --on kunpeng hisi_ptt0_2/qos_tx_p=1
  unread list --on kunpeng -o "$BATS_TEST_TMPDIR/list" ptt
  [ -s "$BATS_TEST_TMPDIR/list" ]
}

@test "a command does not inherit that a broken pipe is caught" {
  run "$TALLY" record --on kunpeng -e hisi_ptt0_2/filter=0x80001,type=7,direction=2/ -o "$BATS_TEST_TMPDIR/t.data" -- sh -c 'kill -PIPE $$'
  [ "$status" -eq 141 ]
}

@test "a full disk is an error that is named" {
  [ -e /dev/full ] || skip "no /dev/full"
  for verb in "list" "doctor" "help" "completion zsh" "get --on kunpeng hisi_ptt0_2" "check --on power gpci" "dump $TRACE" \
    "report $TRACE" "export $TRACE" "stat --on power --view cec --duration 10" "tune --on kunpeng hisi_ptt0_2 --for latency --dry-run"; do
    run bash -c "'$TALLY' $verb >/dev/full"
    said 1 "tally: failed to write to stdout: No space left on device" || { echo "$verb"; return 1; }
  done
}

@test "a closed standard output is an error that is named, and nothing else takes its place" {
  local verb
  for verb in "dump '$TRACE'" "report '$TRACE'" "stat --on power -e gpci/entitled/ --duration 2 --json" \
    "trace --on=vm -qn 'BEGIN { trace(1); exit(0); }'" list help; do
    run bash -c "'$TALLY' $verb >&-"
    [ "$status" -eq 1 ] || { echo "$verb: $status, $output"; return 1; }
    [[ "$output" == *"Bad file descriptor"* ]] || { echo "$verb: $output"; return 1; }
  done
}
