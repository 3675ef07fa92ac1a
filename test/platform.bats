#!/usr/bin/env bats
# Platforms: what there is, tunables, recordings; on this machine, on the model, behind a socket.  Needs no privileges.
bats_require_minimum_version 1.5.0
load common

EVENT=hisi_ptt0_2/filter=0x80001,type=1,direction=1,format=1/
BOTH=hisi_ptt0_2/filter=0x80001,type=7,direction=2/

setup() { cd "$BATS_TEST_TMPDIR" || return 1; }
teardown() { leaves_none ${machine:-}; }

# expect STATUS TEXT VERB ARGUMENTS...: how it ends, and what the first line on stderr begins with.
expect() {
  run --separate-stderr "$TALLY" "${@:3}"
  [ "$status" -eq "$1" ] && [[ "${stderr_lines[0]}" == "tally: $2"* ]] || {
    echo "${*:3}: status $status, not $1: $stderr"
    return 1
  }
}

# summary KEY: the number before that word in the last line of $stderr.
summary() { echo "${stderr_lines[-1]}" | sed "s/.* \([0-9]*\) $1.*/\1/"; }
# records FILE: how many there are in it.
records() { "$TALLY" report --json "$1" 2>/dev/null | sed -n 's/.*"type":"summary".*"records":\([0-9]*\).*/\1/p'; }
no_ptt_here() { ! compgen -G '/sys/bus/event_source/devices/hisi_ptt*' >/dev/null || skip "this machine has PTT devices"; }

# serve PATH: the model behind a socket.
serve() {
  "$TALLY" machine kunpeng --listen "$1" >machine.log 2>&1 3>&- &
  machine=$!
  for _ in $(seq 100); do [ -S "$1" ] && return; sleep 0.05; done
  cat machine.log
  return 1
}

# ---- list ------------------------------------------------------------------------------------------

@test "list names the kinds, and needs no hardware for that" {
  run "$TALLY" list
  [ "$status" -eq 0 ]
  grep -q '^ptt ' <<<"$output"
}

@test "list ptt has devices, filters by name with their codes, tunables, and what an event takes" {
  run "$TALLY" list --on kunpeng ptt
  [ "$status" -eq 0 ]
  for row in hisi_ptt0_0 hisi_ptt0_2 '0000:00:10.0 *filter=0x80001' '0000:00:11.0 *filter=0x80004' '0000:01:00.0 *filter=0x00100' \
    '^    qos_tx_cpl=1 *weight' '^    tx_alloc_buf_level=2 *watermark' 'cpl *type=4' '4dw *direction=0' '8dw *direction=3' '8dw *format=1'; do
    grep -qE "$row" <<<"$output" || { echo "no $row in: $output"; return 1; }
  done
  ! grep -qE '8dw +direction=0' <<<"$output" || return 1            # reserved
  for v in '' -v; do
    wide=$(COLUMNS=80 "$TALLY" list $v --on kunpeng ptt | awk 'length > 80')
    [ -z "$wide" ] || { echo "$v: $wide"; return 1; }
  done
}

@test "list in three forms has the same rows" {
  json=$("$TALLY" list --on kunpeng --json ptt | sed 's/.*"name":"\([^"]*\)".*/\1/')
  csv=$("$TALLY" list --on kunpeng -x ';' ptt | tail -n +2 | cut -d ';' -f 3)
  [ "$json" = "$csv" ]
  "$TALLY" list --on kunpeng -o list.json ptt
  "$TALLY" list --on kunpeng --json ptt | cmp - list.json
  needs_python
  python3 -c 'import json, sys; [json.loads(line) for line in open("list.json")]'
}

@test "list takes a pattern over names" {
  run "$TALLY" list --on kunpeng -x , ptt '0000:01:*'
  [ "$status" -eq 0 ]
  [ "${#lines[@]}" -ge 3 ]
  ! grep -qv -e '^type' -e '^requester' <<<"$output" || return 1
  expect 2 "nothing of kind 'ptt' matches 'eth*'" list --on kunpeng ptt 'eth*'
}

@test "every term of list is taken by record" {
  "$TALLY" list --on kunpeng -x ' ' ptt hisi_ptt0_2 | awk '$1 == "root_port" || $1 == "requester" { print $4 }' >terms
  [ "$(wc -l <terms)" -ge 4 ]
  while read -r term; do
    "$TALLY" record --on kunpeng -e "hisi_ptt0_2/$term,type=1,direction=1/" --duration 1 -o t.data 2>said || { echo "$term:"; cat said; return 1; }
  done <terms
}

# ---- get and set -------------------------------------------------------------------------------------

@test "get prints what set takes" {
  run "$TALLY" get --on kunpeng hisi_ptt0_2/qos_tx_cpl
  said 0 hisi_ptt0_2/qos_tx_cpl=1
  run "$TALLY" get --on kunpeng hisi_ptt0_2/qos_tx_cpl/
  said 0 hisi_ptt0_2/qos_tx_cpl=1
  run "$TALLY" get --on kunpeng hisi_ptt0_2
  said 0 "$(printf 'hisi_ptt0_2/%s\n' qos_tx_cpl=1 qos_tx_np=1 qos_tx_p=1 rx_alloc_buf_level=0 tx_alloc_buf_level=2)"
  run --separate-stderr "$TALLY" set --on kunpeng $output
  [ "$status" -eq 0 ]
  run "$TALLY" get --on kunpeng -x , hisi_ptt0_0/qos_tx_p hisi_ptt0_2/qos_tx_p
  [ "$(cut -d , -f 1-3 <<<"$output")" = "$(printf 'device,name,value\nhisi_ptt0_0,qos_tx_p,1\nhisi_ptt0_2,qos_tx_p,1')" ]
}

@test "values are those of the specification, or of the driver" {
  for value in 0 1 2 3 65535 65536 99999999999; do
    "$TALLY" set --on kunpeng hisi_ptt0_2/qos_tx_p=$value 2>said || { cat said; return 1; }
    [ "$value" -le 2 ] || grep -qx 'tally: hisi_ptt0_2/qos_tx_p is now 2: values above 2 become 2' said
  done
  for value in -1 '' x 1x 0x; do
    run "$TALLY" set --on kunpeng "hisi_ptt0_2/qos_tx_p=$value"
    [ "$status" -eq 2 ] || { echo "$value: $status"; return 1; }
  done
  "$TALLY" set --on kunpeng --profile=driver hisi_ptt0_2/qos_tx_p=65535 2>/dev/null
  run "$TALLY" set --on kunpeng --profile=driver hisi_ptt0_2/qos_tx_p=65536
  [ "$status" -eq 2 ]
}

@test "set says that a model in this process is new each time" {
  run --separate-stderr "$TALLY" set --on kunpeng hisi_ptt0_2/qos_tx_p=2
  [ "$status" -eq 0 ]
  [[ "$stderr" == *"settings are lost when it exits"* ]]
}

@test "what is set behind a socket stays, and is seen by others" {
  serve "$PWD/sock"
  "$TALLY" set --on "unix:$PWD/sock" hisi_ptt0_2/qos_tx_cpl=2
  run "$TALLY" get --on "unix:$PWD/sock" hisi_ptt0_2/qos_tx_cpl hisi_ptt0_0/qos_tx_cpl
  said 0 "$(printf 'hisi_ptt0_2/qos_tx_cpl=2\nhisi_ptt0_0/qos_tx_cpl=1')"
  [ "$("$TALLY" list --on "unix:$PWD/sock" --json ptt | grep -c requester)" -eq "$("$TALLY" list --on kunpeng --json ptt | grep -c requester)" ]
  "$TALLY" record --on "unix:$PWD/sock" -e "$EVENT" -o t.data -- sleep 0.3 2>said || { cat said; return 1; }
  [ "$(records t.data)" -gt 0 ]
}

# ---- record ------------------------------------------------------------------------------------------

@test "what is recorded while a command runs can be reported" {
  run --separate-stderr "$TALLY" record --on kunpeng -e "$EVENT" -o t.data -- sleep 0.3
  [ "$status" -eq 0 ]
  [[ "${stderr_lines[-1]}" == "[ tally record: wrote "*" bytes, "*" records, 0 lost to t.data ]" ]]
  [ "$(summary records)" -gt 0 ]
  [ "$(summary records)" -eq "$(records t.data)" ]
  [ "$(summary bytes)" -eq $(($(summary records) * 32)) ]
  "$TALLY" report t.data >/dev/null
  ! "$TALLY" dump --json --filter 'class != 0' t.data 2>/dev/null | grep -q . || return 1          # type=1: posted only
}

@test "perf lists and dumps a recording without complaint" {
  command -v perf >/dev/null || skip "no perf"
  "$TALLY" record --on kunpeng -e "$EVENT" --duration 2 -o t.data 2>/dev/null
  run --separate-stderr perf evlist -i t.data
  said 0 "$EVENT"
  [ -z "$stderr" ]
  perf report -D -i t.data >dump 2>complaints
  [ "$(grep -c 'HISI PTT data' dump)" -ge 1 ]
  [ "$(grep -c ' Time$' dump)" -eq "$(records t.data)" ]
  ! grep -iE 'incompatible|unknown|invalid|lost|corrupt|0x[0-9a-f]+ \[' complaints || return 1
}

@test "the same seed gives the same records, another one others" {
  for run in 'seed=5 a' 'seed=5 b' 'seed=6 c'; do
    "$TALLY" record --on "kunpeng,${run% *}" -e "$BOTH" --duration 5 -o "${run#* }" 2>/dev/null
  done
  cmp a b
  ! cmp -s a c || return 1
}

@test "reads meet their completions in a recording of both directions" {
  "$TALLY" record --on kunpeng -e "$BOTH" --duration 5 -o t.data 2>/dev/null
  "$TALLY" report --json t.data 2>/dev/null | grep -q '"type":"latency"'
}

@test "a recording before is kept as .old, a refused one touches nothing" {
  "$TALLY" record --on kunpeng -e "$EVENT" --duration 1 2>/dev/null
  cp perf.data first
  "$TALLY" record --on kunpeng,seed=2 -e "$EVENT" --duration 2 2>/dev/null
  cmp first perf.data.old
  cp perf.data second
  run "$TALLY" record --on kunpeng -e hisi_ptt0_2/filter=0x80002,type=1/ --duration 1
  [ "$status" -eq 2 ]
  cmp second perf.data
  cmp first perf.data.old
}

@test "-o - is perf's pipe format" {
  "$TALLY" record --on kunpeng -e "$EVENT" --duration 2 -o - 2>said | "$TALLY" dump --json - 2>/dev/null >rows
  [ "$(wc -l <rows)" -gt 0 ]
  grep -q "$(wc -l <rows) records, 0 lost to stdout ]" said
  command -v perf >/dev/null || skip "no perf"
  "$TALLY" record --on kunpeng -e "$EVENT" --duration 2 -o - 2>/dev/null | perf report -D -i - 2>/dev/null | grep -q 'HISI PTT data'
}

@test "a recording of the model says what its times count from, so a sparse one has the right latencies" {
  slowest() { "$TALLY" report --json "$1" 2>/dev/null | sed -n 's/.*"type":"latency",.*"max":\([0-9]*\).*/\1/p' | sort -n | tail -n 1; }
  serve "$PWD/sock"
  for on in kunpeng,load=idle kunpeng,load=mixed "unix:$PWD/sock"; do
    rm -f t.data
    "$TALLY" record --on "$on" -e hisi_ptt0_2/filter=0x80001,type=7,direction=3/ --duration 20 -o t.data 2>/dev/null
    run "$TALLY" report t.data
    [[ "$output" == *"times are "*"absolute"*"which is "*"recorded"* ]] || { echo "$on: $output"; return 1; }
    [[ "$output" == *"ticks from first to last "*">= "*"only at least "*"yes"* ]]
    [ "$(slowest t.data)" -lt 2048 ]
  done
  command -v perf >/dev/null || skip "no perf"
  [ "$(perf report -D -i t.data 2>/dev/null | grep -c 'Format.*Type.*Time')" -eq "$(records t.data)" ]
}

@test "a reader that goes away ends the recording: that is said, and no more" {
  (trap '' PIPE; "$TALLY" record --on kunpeng -e "$EVENT" -o - 2>said | head -c 100 >/dev/null)
  [ "$(wc -l <said)" -eq 2 ]
  [ "$(tail -n 1 said)" = "tally: stdout was closed by its reader; later records are not written" ]
}

@test "the status is the command's" {
  record() { run "$TALLY" record --on kunpeng -e "$EVENT" -o t.data "$@"; }
  record -- sh -c 'exit 7'
  [ "$status" -eq 7 ]
  record sh -c 'kill -TERM $$'                          # its options are its own
  [ "$status" -eq 143 ]
  run -127 "$TALLY" record --on kunpeng -e "$EVENT" -o t.data -- /no/such/command
  has "tally: failed to start '/no/such/command'"
  record -- /
  [ "$status" -eq 126 ]
  record --duration 1 -- sh -c 'sleep 0.1; exit 3'
  [ "$status" -eq 3 ]
}

@test "the example type=p,format=8dw of the README and of record's help, which had no direction, is not refused" {
  "$TALLY" record -h >help
  for page in help "$BATS_TEST_DIRNAME/../README.md"; do
    event=$(grep -oE 'hisi_ptt0_2/[^ ]*type=p,format=8dw[^ ]*' "$page" | head -1)
    [ -n "$event" ]
    "$TALLY" record --on kunpeng -e "$event" -o 8dw.data -- true
  done
}

@test "an interrupt ends the recording cleanly, and the command" {
  # A background job of a shell ignores SIGINT, so a process of its own sends it; to tally alone.
  for signal in INT TERM; do
    run timeout --foreground -s $signal --preserve-status 1 "$TALLY" record --on kunpeng -e "$EVENT" -o t.data -- \
      sh -c 'echo $$ >child; exec sleep 1000'
    [ "$status" -eq 0 ]
    has "[ tally record: wrote "
    ! kill -0 "$(cat child)" 2>/dev/null || return 1
    [ "$(records t.data)" -gt 0 ]
    rm t.data child
  done
}

@test "without command and duration it records until it is interrupted" {
  run timeout --foreground -s INT --preserve-status 1 "$TALLY" record --on kunpeng -e "$EVENT" -o t.data
  [ "$status" -eq 0 ]
  [ "$(records t.data)" -gt 0 ]
}

@test "kill -9 leaves a file from which every commit is read" {
  "$TALLY" record --on kunpeng,load=full -e "$BOTH" -m 4M -o t.data -- sleep 30 2>/dev/null 3>&- &
  pid=$!
  for _ in $(seq 400); do [ "$(stat -c %s t.data 2>/dev/null || echo 0)" -gt 4194304 ] && break; sleep 0.05; done
  child=$(pgrep -P $pid -x sleep)
  kill -9 $pid
  kill "$child"
  wait $pid || [ $? -eq 137 ]
  [ "$(records t.data)" -ge $((4194304 / 16)) ]
  command -v perf >/dev/null || skip "no perf"
  perf report -D -i t.data 2>/dev/null | grep -m 1 -q 'HISI PTT data'
}

@test "a full disk ends it with status 1, and what was committed is there" {
  expect 1 "failed to write to /dev/full: No space left on device" record --on kunpeng -e "$EVENT" --duration 5 -o /dev/full
  run bash -c "ulimit -f 6000; trap '' XFSZ; '$TALLY' record --on kunpeng,load=full -e '$BOTH' -m 4M -o t.data -- sleep 30"
  [ "$status" -eq 1 ]
  has "tally: failed to write to t.data: File too large; it has all records up to the last commit"
  has "[ tally record: wrote 4194304 bytes, 262144 records, some lost to t.data ]"
  has "tally: the end is missing: uncommitted records are lost, an unknown number"
  [ "$(records t.data)" -ge 262144 ]
}

@test "a ring's size may be in bytes, and a socket takes 256 MiB of it" {
  run --separate-stderr "$TALLY" record --on kunpeng -e "$EVENT" -m 4194304 --duration 2 -o t.data
  [ "$status" -eq 0 ]
  serve "$PWD/sock"
  run --separate-stderr "$TALLY" record --on "unix:$PWD/sock" -e "$EVENT" -m 256M --duration 5 -o t.data
  [ "$status" -eq 0 ]
  expect 2 "" record --on "unix:$PWD/sock" -e "$EVENT" -m 512M --duration 5 -o t.data
  [[ "$stderr" == *256* ]]
}

@test "a device traces for one at a time, and one that goes away ends the trace with status 1" {
  serve "$PWD/sock"
  "$TALLY" record --on "unix:$PWD/sock" -e "$EVENT" -o first.data -- sleep 30 2>said 3>&- &
  pid=$!
  for _ in $(seq 100); do [ -s first.data ] && break; sleep 0.05; done
  expect 1 "" record --on "unix:$PWD/sock" -e "$EVENT" -o second.data -- true
  [[ "$stderr" == *hisi_ptt0_2* ]]
  [ ! -e second.data ]
  kill -9 "$machine"
  status=0; wait $pid || status=$?
  [ $status -eq 1 ] || { cat said; return 1; }
  grep -q "^tally: unix:$PWD/sock" said
  grep -q "^tally: the end is missing" said     # what the server's ring had
  grep -q ", some lost to" said
  run "$TALLY" report first.data                # whole, but perhaps nothing was committed yet
  [ "$status" -eq 0 ] || has "no PTT records in this file"
}

@test "a reader that goes away ends the recording and its command, with status 141" {
  status=0
  { "$TALLY" record --on kunpeng,load=full -e "$BOTH" -m 4M -o - -- sleep 1000 2>said || echo "$?" >status; } | head -c 100 >/dev/null
  [ "$(cat status)" -eq 141 ] || { cat status said; return 1; }
  grep -q "^tally: the command was stopped: the reader of the recording" said
  grep -q "^\[ tally record: wrote [0-9]* bytes, [0-9]* records, 0 lost to stdout \]" said
  grep -q "^tally: stdout was closed by its reader; later records are not written" said
}

@test "a terminal sees how far it is" {
  command -v script >/dev/null || skip "no script(1)"
  script -qec "'$TALLY' record --on kunpeng -e $EVENT -o t.data -- sleep 2" /dev/null >seen
  grep -q 'recorded: [0-9.]* MiB' seen
  grep -q 'tally record: wrote' seen
}

# ---- what is wrong ---------------------------------------------------------------------------------

@test "a machine without PTT devices names the model that has some, with status 3" {
  no_ptt_here
  for verb in "list ptt" "get hisi_ptt0_2" "set hisi_ptt0_2/qos_tx_p=1" "record -e $EVENT -- true"; do
    run "$TALLY" $verb
    [ "$status" -eq 3 ] || { echo "$verb: $status: $output"; return 1; }
    has "--on kunpeng"
  done
  [ ! -e perf.data ]
}

@test "wrong options end with status 2 and say what is wrong" {
  expect 2 "unknown platform 'kunpen'; did you mean 'kunpeng'?" list --on kunpen ptt
  expect 2 "unknown platform 'mars' (expected local, kunpeng, niagara, maramba, batoka, power, unix:PATH or a file path with a '/')" get --on mars x
  expect 2 "kunpeng: unknown key 'sead'; did you mean 'seed'?" list --on kunpeng,sead=1 ptt
  expect 2 "load=mixedd: unknown load; did you mean 'mixed'?" list --on kunpeng,load=mixedd ptt
  expect 2 "--on can be given only once" list --on kunpeng --on local
  expect 2 "--profile: invalid value 'strict' (expected spec, driver or opensparc)" list --profile=strict
  expect 2 "--json and -x cannot be combined" list --json -x , ptt
  expect 2 "unknown kind 'ptts'; did you mean 'ptt'?" list --on kunpeng ptts
  expect 2 "too many arguments: one KIND and one PATTERN at most" list ptt a b
  expect 2 "nothing to read: name a SELECTOR" get --on kunpeng
  expect 2 "unknown device 'hisi_ptt0_1'; did you mean 'hisi_ptt0_" get --on kunpeng hisi_ptt0_1/qos_tx_p
  expect 2 "" get --on kunpeng hisi_ptt0_2/qos_tx_dp
  [[ "$stderr" == *"qos_tx_p"* ]]
  expect 2 "hisi_ptt0_2: no tunable \"foo\": there are qos_tx_cpl" get --on kunpeng hisi_ptt0_2/foo
  expect 2 "nothing to set: give SELECTOR=VALUE" set --on kunpeng
  for profile in spec driver; do
    for value in ' 1' '1 ' $'\t1'; do
      run "$TALLY" set --profile=$profile --on kunpeng "hisi_ptt0_2/qos_tx_cpl=$value"
      [ "$status" -eq 2 ]
      has "with a blank (expected 0, 1 or 2)"
    done
    expect 2 "hisi_ptt0_2: no tunable \"qos_tx_cpl \"; did you mean qos_tx_cpl?" set --profile=$profile --on kunpeng 'hisi_ptt0_2/qos_tx_cpl =1'
  done
  expect 2 "'hisi_ptt0_2/qos_tx_p': no value given; write SELECTOR=VALUE" set --on kunpeng hisi_ptt0_2/qos_tx_p
  expect 2 "'hisi_ptt0_2=1' names a device, not a tunable" set --on kunpeng hisi_ptt0_2=1
  expect 2 "no event: give -e EVENT" record --on kunpeng
  expect 2 "-e can be given only once" record --on kunpeng -e "$EVENT" -e "$EVENT"
  expect 2 "--duration: invalid value '0' (expected milliseconds, 1 or more)" record --on kunpeng -e "$EVENT" --duration 0
  expect 2 "" record --on kunpeng -e "$EVENT" -m 1x --duration 1
  expect 2 "-m 4096 is too small (these are bytes, not pages): a ring holds at least one buffer, 4M" \
    record --on kunpeng -e "$EVENT" -m 4096 --duration 1
  expect 2 "-o: empty file name" record --on kunpeng -e "$EVENT" -o '' --duration 1
  expect 2 "" record --on kunpeng -e eth0/filter=1,type=1/ --duration 1
  [ ! -e perf.data ]
}

@test "the profile of the driver takes what the driver takes, with a warning" {
  expect 2 "" record --on kunpeng -e hisi_ptt0_2/filter=0x80001,type=3,direction=1/ --duration 1
  run --separate-stderr "$TALLY" record --on kunpeng --profile=driver -e hisi_ptt0_2/filter=0x80001,type=3,direction=1/ --duration 1
  [ "$status" -eq 0 ]
  [ "${#stderr_lines[@]}" -eq 2 ]
  expect 2 "" record --on kunpeng --profile=driver -e "$EVENT" -m 4M --duration 1
}

@test "nobody at the socket, no directory, no right: status 1 with the path" {
  expect 1 "" list --on unix:/no/such/socket ptt
  [[ "$stderr" == */no/such/socket* ]]
  expect 1 "/no/such/t.data: No such file or directory" record --on kunpeng -e "$EVENT" --duration 1 -o /no/such/t.data
  expect 1 "failed to write to /dev/full: No space left on device" get --on kunpeng -o /dev/full hisi_ptt0_2
}

# ---- help ------------------------------------------------------------------------------------------

@test "help names the loads of the models, each that there is" {
  for verb in record tune; do
    for load in $("$TALLY" list --on kunpeng,load=no-such-load ptt 2>&1 | sed 's/.*(expected one of //; s/)$//; s/,//g'); do
      "$TALLY" $verb -h | grep -q "^  $load " || { echo "$verb: $load"; return 1; }
    done
  done
  for on in kunpeng niagara batoka power; do
    loads=$("$TALLY" list --on $on,load=no-such-load ptt 2>&1 | sed 's/.*(expected one of //; s/)$//')
    "$TALLY" get -h | tr '\n' ' ' | tr -s ' ' | grep -q "$on[a-z, ]*: $loads" || { echo "$on: $loads"; return 1; }
  done
}

@test "help of each verb has three examples, and its page each of its options" {
  for verb in list get "set" record; do
    [ "$("$TALLY" $verb -h | grep -cE "^  (sudo )?tally $verb ")" -eq 3 ] || { echo "$verb: examples"; return 1; }
    "$TALLY" $verb -h | sed -n 's/^  *\(-[a-z],\)\{0,1\} *\(-[-a-z0-9]*\).*/\2/p' | while read -r option; do
      grep -qE -- "\`$option(\`|=| |\[)" "$BATS_TEST_DIRNAME/../doc/verb/$verb.md" || { echo "$verb: not in the page: $option"; return 1; }
    done
  done
}

@test "record of a CPU event says what record is for, and what counts and samples such an event" {
  for event in page-faults cycles:u cpu/event=0x3c/ sched:sched_switch nosuchevent; do
    run "$TALLY" record -e "$event" -- true
    [ "$status" -eq 2 ]
    has "not a PTT event; 'tally record' records PCIe packets"
    has "'tally stat' counts"
    [[ "$output" != *"stat -e $event"* ]] || return 1           # which it may refuse: a tracepoint, or no event at all
    has "perf record"
  done
  [ ! -e perf.data ]
}

# ---- check -----------------------------------------------------------------------------------------

@test "check holds every invariant of PTT traces against the model, whatever it runs" {
  run "$TALLY" check --on kunpeng,load=faulty ptt
  [ "$status" -eq 0 ]
  [ "$(grep -c '^ *[0-9]*  holds ' <<<"$output")" -eq 16 ]
  for load in mixed nvme nic storage ingest p2p contended full idle; do "$TALLY" check --on kunpeng,load=$load ptt >/dev/null; done
}

@test "check counts what a link carried also of a machine behind a socket, which goes on meanwhile" {
  serve s
  run --separate-stderr "$TALLY" check --on unix:s -I 300 --json ptt
  [ "$status" -eq 0 ]
  for invariant in packets_are_the_links bytes_are_the_links times_within_span tunables_in_range; do
    grep -q "\"name\":\"$invariant\",\"verdict\":\"holds\"" <<<"$output" || { echo "$invariant: $output"; return 1; }
  done
}

@test "check finds the record of a saved trace that breaks an invariant, and says what a file can't tell" {
  "$TALLY" record --on kunpeng,load=p2p -o t.data -e hisi_ptt0_2/filter=0x80005,type=7,direction=2/ --duration 2 2>/dev/null
  run --separate-stderr "$TALLY" check -i t.data ptt
  [ "$status" -eq 0 ]
  [[ "$stderr" == *"invariant 14, packets_are_the_links, cannot be checked: nothing tells what the link carried"* ]]
  "$TALLY" check --on ./t.data --json ptt >rows 2>/dev/null
  for invariant in only_what_was_selected answers_within_requests reads_get_what_they_ask byte_counts_fall completions_go_on; do
    grep -q "\"name\":\"$invariant\",\"verdict\":\"holds\"" rows
  done
  # The lower address of one completion in the middle of its read is another one; the low byte of its last DW.
  at=$("$TALLY" dump --json t.data 2>/dev/null | sed -n '/"type_name":"CplD"\|"name":"CplD"\|CplD/s/.*"offset":\([0-9]*\).*/\1/p' | sed -n 200p)
  cp t.data bad.data
  printf '\x01' | dd of=bad.data bs=1 seek=$((at + 8)) conv=notrunc status=none
  run --separate-stderr "$TALLY" check -i bad.data ptt
  [ "$status" -eq 1 ]
  [[ "$stderr" == *"invariant 13, completions_go_on, is broken: hisi_ptt0_2, record at 0x$(printf %x "$at"): lower address 0x1"* ]]
}

@test "check of a file that is no trace, or has no record, checks nothing and fails" {
  : >empty
  run ! "$TALLY" check -i empty ptt
  echo no >text
  run --separate-stderr "$TALLY" check -i text ptt
  [ "$status" -eq 1 ] && [[ "$stderr" == *"./text: "* ]]
  no_ptt_here
  run "$TALLY" check ptt
  [ "$status" -eq 3 ]
}
