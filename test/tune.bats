#!/usr/bin/env bats
# tally tune: what it finds on the model, how it says it, and that what was there comes back whatever ends it.
bats_require_minimum_version 1.5.0
load common

DEVICE=hisi_ptt0_2
AT_RESET=$(printf "$DEVICE/%s\n" qos_tx_cpl=1 qos_tx_np=1 qos_tx_p=1 rx_alloc_buf_level=0 tx_alloc_buf_level=2)

setup() { cd "$BATS_TEST_TMPDIR" || return 1; }
# What a test that failed leaves running: its jobs, and the command that one of them began.
teardown() { leaves_none $(jobs -p) $([ ! -e child ] || cat child); }

tune() { "$TALLY" tune $DEVICE "$@"; }
short() { tune --for throughput --duration 1 --on kunpeng,load=storage "$@"; }

# expect STATUS TEXT ARGUMENTS...: how it ends, and what the first line on stderr begins with.
expect() {
  run --separate-stderr "$TALLY" tune "${@:3}"
  [ "$status" -eq "$1" ] && [[ "${stderr_lines[0]}" == "tally: $2"* ]] || {
    echo "${*:3}: status $status, not $1: $stderr"
    return 1
  }
}

# serve LOAD: the model behind the socket s.
serve() {
  "$TALLY" machine "kunpeng,load=$1" --listen s >machine.log 2>&1 3>&- &
  machine=$!
  for _ in $(seq 200); do [ -S s ] && return; sleep 0.02; done
  cat machine.log
  return 1
}
now() { "$TALLY" get --on unix:s $DEVICE; }
as_it_was() { [ "$(now)" = "$AT_RESET" ] || { diff <(echo "$AT_RESET") <(now); return 1; }; }

# begin WHAT: tunes with a command that counts its runs, and in the second says its process id and does WHAT.  Comes back in
# that one, when a tunable is not what it was.
begin() {
  cat >command <<SH
echo >>runs
[ "\$(wc -l <runs)" -eq 2 ] || exec sleep 0.02
echo \$\$ >child.new && mv child.new child
$1
SH
  env --default-signal=INT "$TALLY" tune $DEVICE --for throughput --on unix:s -- sh command >said 2>&1 3>&- &
  tuner=$!
  for _ in $(seq 500); do [ -e child ] && break; sleep 0.02; done
  [ -e child ] || { cat said; return 1; }
}
# ended STATUS TEXT
ended() {
  status=0
  wait $tuner || status=$?
  [ $status -eq "$1" ] && grep -qxF "tally: $2" said || { echo "status $status, not $1: $(cat said)"; return 1; }
}

# ---- what it finds -----------------------------------------------------------------------------------

@test "for throughput it finds the weights and watermarks that the load wants" {
  run --separate-stderr short
  [ "$status" -eq 0 ]
  [[ "${lines[0]}" == "hisi_ptt0_2 for throughput: payload per second" ]]
  [[ "${lines[-1]}" == "Set, after "*" measurements: qos_tx_cpl=2 (was 1) qos_tx_p=0 (was 1)" ]]
  [[ "$stderr" == *"settings are lost when it exits"* ]]
  run tune --for throughput --duration 1 --on kunpeng,load=ingest
  has "rx_alloc_buf_level=2 (was 0)"
}

@test "a setting that gained 18.3 % was called no better, and no word said than what" {
  run --separate-stderr "$TALLY" tune $DEVICE --for throughput --on kunpeng,load=ingest
  [ "$status" -eq 0 ]
  grep -qE '\+18\.[0-9] %  ?[-+]0\.[0-9] % no better$' <<<"$output"
  [[ "$output" == *"change: against what was there. vs best: against the best until then, which the"$'\n'"verdict is about."* ]]
  [ "$(awk 'length > 80' <<<"$output")" = "" ]
  # The verdict follows from the figure beside it, in each form.
  "$TALLY" tune $DEVICE --for throughput --on kunpeng,load=ingest --json 2>/dev/null |
    sed -nE 's/.*"change_permille":([-0-9]*),"against_best_permille":([-a-z0-9]*),"verdict":"([^"]*)".*/\1,\2,\3/p' >json
  "$TALLY" tune $DEVICE --for throughput --on kunpeng,load=ingest -x , 2>/dev/null |
    awk -F, 'NR > 1 { print $(NF - 2) "," ($(NF - 1) == "" ? "null" : $(NF - 1)) "," $NF }' | cmp - json
  awk -F, '$3 == "no better" { n++; gains += $1 > 100; bad += $2 > 5 } $3 ~ /^be/ { bad += $2 <= 5 } $2 == "null" { bad += $3 != "as it was" }
    END { exit !(n >= 5 && gains >= 5 && !bad) }' json
}

@test "for latency it finds the watermark that a quiet link wants" {
  run --separate-stderr tune --for latency --on kunpeng
  [ "$status" -eq 0 ]
  [[ "${lines[-1]}" == *"tx_alloc_buf_level=0 (was 2)"* ]]
  grep -qE '^( +1){3} +0 +2 +[0-9]+ devices .* as it was$' <<<"$output"
  grep -qE '^( +1){3} +0 +2 +[0-9]+ host .* as it was$' <<<"$output"
}

@test "the same seed gives the same answer" {
  short >a 2>/dev/null
  short >b 2>/dev/null
  cmp a b
}

@test "what was found stays behind a socket" {
  serve ingest
  tune --for throughput --duration 20 --on unix:s >table 2>said
  [[ "$(tail -n 1 table)" == "Set, after "*" rx_alloc_buf_level="[12]" (was 0)"* ]] || { cat table; return 1; }
  [ ! -s said ]
  value=$(sed -n 's/.*rx_alloc_buf_level=\([12]\) (was 0).*/\1/p' table)
  now | grep -qx "$DEVICE/rx_alloc_buf_level=$value"
}

@test "a dry run traces nothing and sets nothing" {
  serve storage
  run tune --for throughput --dry-run --on unix:s
  [ "$status" -eq 0 ]
  [ "${lines[0]}" = "qos_tx_cpl         is 1; would be tried: 0, 2" ]
  [ "${lines[4]}" = "tx_alloc_buf_level is 2; would be tried: nothing" ]
  has "hisi_ptt0_2/filter=0x80015,type=7,direction=2,format=0/"
  as_it_was
  kill $machine && wait $machine
  ! grep -q 'a trace ended' machine.log || false
}

# ---- how it says it ----------------------------------------------------------------------------------

@test "three forms have the same rows" {
  short --json >t.json 2>/dev/null
  short -x ';' >t.csv 2>/dev/null
  short -o t2.json 2>/dev/null
  cmp t.json t2.json
  [ "$(grep -c '"type":"setting"' t.json)" -eq $(($(wc -l <t.csv) - 1)) ]
  [ "$(short 2>/dev/null | grep -cE '^( +[012]){5} ')" -eq $(($(wc -l <t.csv) - 1)) ]
  [ "$(awk -F ';' '{ print NF }' t.csv | sort -u)" = 16 ]
  [ "$(grep -c ';best$' t.csv)" -eq 1 ]
  grep -q '^{"type":"tuned","device":"hisi_ptt0_2","for":"throughput",.*"changed":true,"qos_tx_cpl":2,' t.json
  needs_python
  python3 -c 'import json, sys; [json.loads(line) for line in open("t.json")]'
  tune --for latency --dry-run --json --on kunpeng | python3 -c 'import json, sys; assert [json.loads(line)["tried"] for line in sys.stdin][3] == [1, 2]'
}

@test "a terminal sees how far it is" {
  command -v script >/dev/null || skip "no script(1)"
  script -qec "'$TALLY' tune $DEVICE --for latency --on kunpeng" /dev/null >seen
  grep -q 'measurement 12' seen
  grep -q 'Set, after' seen
}

# ---- what was there comes back -------------------------------------------------------------------------

@test "an interrupt puts back what was there, and ends the command" {
  for signal in INT TERM; do
    rm -f runs child
    [ -S s ] || serve storage
    begin 'exec sleep 1000'
    [ "$(now)" != "$AT_RESET" ]
    kill -$signal $tuner
    ended 1 "interrupted; the settings of hisi_ptt0_2 are unchanged"
    as_it_was
    ! kill -0 "$(cat child)" 2>/dev/null || return 1
  done
}

@test "a command that is killed puts back what was there, and its status is tally's" {
  serve storage
  begin 'kill -KILL $$'
  ended 137 "the command exited with status 137; the settings of hisi_ptt0_2 are unchanged"
  as_it_was
}

@test "a command that begins to fail can't be compared" {
  serve storage
  begin 'exit 1'
  ended 1 "the command exited with status 1, before with 0: the runs cannot be compared; the settings of hisi_ptt0_2 are unchanged"
  as_it_was
}

@test "a command that can't be run changes nothing" {
  serve storage
  run -127 tune --for throughput --on unix:s -- /no/such/command
  has "failed to start '/no/such/command'"
  as_it_was
}

@test "kill -9 leaves what was there, and nobody" {
  serve storage
  begin 'exec sleep 1000'
  [ "$(now)" != "$AT_RESET" ]
  guard=$(pgrep -P $tuner -x tally)
  kill -9 $tuner
  wait $tuner || [ $? -eq 137 ]
  for _ in $(seq 250); do kill -0 "$guard" 2>/dev/null || break; sleep 0.02; done
  ! kill -0 "$guard" 2>/dev/null || false
  as_it_was
  tune --for throughput --duration 1 --on unix:s --dry-run >/dev/null
}

@test "a machine that goes away can't be put back, which is said" {
  serve storage
  begin 'exec sleep 1000'
  kill -9 $machine
  status=0
  wait $tuner || status=$?
  [ $status -eq 1 ]
  grep -q "^tally: unix:s: .*; not restored: .*_alloc_buf_level=\|^tally: unix:s: .*; not restored: qos" said || { cat said; return 1; }
}

@test "a table that can't be written puts back what was there" {
  serve storage
  expect 1 "failed to write to /dev/full: No space left on device; the settings of $DEVICE are unchanged" $DEVICE --for throughput --duration 1 --on unix:s -o /dev/full
  as_it_was
}

@test "a table whose reader went away puts back what was there, and is no success" {
  serve ingest
  status=0
  { tune --for throughput --duration 20 --on unix:s 2>said || echo "$?" >status; } | true
  [ "$(cat status)" -eq 141 ]
  grep -qx "tally: stdout was closed by its reader; the settings of $DEVICE are unchanged" said || { cat said; return 1; }
  as_it_was
}

@test "a command without -- before it is not taken for one" {
  expect 2 "unexpected argument 'sleep': give one DEVICE, and a COMMAND after '--', as in: -- sleep" $DEVICE --for latency --on kunpeng sleep 1
  expect 2 "unexpected argument 'hisi_ptt0_0': give one DEVICE" $DEVICE hisi_ptt0_0 --for latency --on kunpeng
}

@test "a device that is being traced is left alone" {
  serve storage
  "$TALLY" record --on unix:s -e $DEVICE/filter=0x80001,type=1/ -o t.data -- sh -c 'echo $$ >child; exec sleep 1000' 2>/dev/null 3>&- &
  for _ in $(seq 200); do [ -s t.data ] && break; sleep 0.02; done
  run tune --for throughput --duration 1 --on unix:s
  [ "$status" -eq 1 ]
  has "; the settings of hisi_ptt0_2 are unchanged"
}

# ---- what is wrong ---------------------------------------------------------------------------------------

@test "wrong options end with status 2 and say what is wrong" {
  expect 2 "no device given; 'tally list ptt --on kunpeng' shows them" --for latency --on kunpeng
  expect 2 "--for is required: --for latency or --for throughput" $DEVICE --on kunpeng
  expect 2 "--for: invalid value 'speed' (expected latency or throughput)" $DEVICE --for speed
  expect 2 "--duration: invalid value '0' (expected milliseconds, 1 or more)" $DEVICE --for latency --duration 0
  expect 2 "--time: invalid value 'x' (expected abs or delta)" $DEVICE --for latency --time x
  expect 2 "unknown device 'hisi_ptt0_3'; did you mean 'hisi_ptt0_" hisi_ptt0_3 --for latency --on kunpeng
  expect 2 "--json and -x cannot be combined" $DEVICE --for latency --json -x ,
  serve idle
  expect 2 "nothing to measure: give a command or a duration" $DEVICE --for latency --on unix:s
}

@test "a load without payload or answers gives nothing to compare: status 3" {
  expect 3 "nothing to compare: no payload crossed the links during the trace" $DEVICE --for throughput --duration 1 --on kunpeng,load=idle
}

@test "a machine without PTT devices names the model that has some, with status 3" {
  ! compgen -G '/sys/bus/event_source/devices/hisi_ptt*' >/dev/null || skip "this machine has PTT devices"
  run tune --for latency -- true
  [ "$status" -eq 3 ]
  has "--on kunpeng"
}

@test "its help has three examples, and its page each of its options" {
  [ "$("$TALLY" tune -h | grep -cE "^  (sudo )?tally tune ")" -eq 3 ]
  "$TALLY" tune -h | sed -n 's/^  *\(-[a-z],\)\{0,1\} *\(-[-a-z0-9]*\).*/\2/p' | while read -r option; do
    grep -qE -- "\`$option(\`|=| |\[)" "$BATS_TEST_DIRNAME/../doc/verb/tune.md" || { echo "not in the page: $option"; return 1; }
  done
}
