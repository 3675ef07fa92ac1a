# newcomer.bats - what the first half hour with tally ran into: words that are refused without help, and words that mislead.

load common

setup() { cd "$BATS_TEST_TMPDIR"; }

# ---- tally dump --filter ---------------------------------------------------------------------------

trace_here() {
  "$TALLY" record --on kunpeng,load=nvme -e hisi_ptt0_2/filter=00:10.0,type=p+np+cpl,direction=2/ --duration 2 -o t.data 2>/dev/null
}

@test "a description that lacks its provider is told how many parts it needs, and which provider may be meant" {
  run vm -n 'a:b:c { }'
  [ "$status" -eq 1 ]
  has '"a" stands for a module; with a provider it is PROVIDER:MODULE:FUNCTION:NAME'
  run vm -n 'b:c { }'
  has '"b" stands for a function; with a provider it is PROVIDER:MODULE:FUNCTION:NAME'
  run vm -n 'syscall:read:entri { }'
  has 'syscall is a provider, and a description with one has four parts; did you mean syscall::read:entri?'
  run vm -n 'pid123:main:entry { }'
  has 'did you mean pid123::main:entry?'
  run vm -n 'cpc:nosuch { }'
  has 'did you mean cpc:::nosuch?'
}

@test "dump --filter: an id as dump prints it, 01:00.0, is no syntax error" {
  trace_here
  "$TALLY" dump --filter 'requester == 0x100' t.data >number 2>/dev/null
  [ "$(wc -l <number)" -gt 10 ]
  "$TALLY" dump --filter 'requester == 01:00.0' t.data >id 2>/dev/null
  cmp number id
  "$TALLY" dump --filter '0000:01:00.0==requester && requester_text != "02:00.0"' t.data >id 2>/dev/null
  cmp number id
  "$TALLY" dump --filter 'class==2?completer==00:10.0:0' t.data >id 2>/dev/null
  [ "$(wc -l <id)" -gt 10 ]
}

@test "dump --filter: an id with a segment, or that is none, is refused with the numbers to write" {
  trace_here
  run "$TALLY" dump --filter 'requester == 0001:01:00.1' t.data
  said 1 'tally: filter: 0001:01:00.1 has a segment, which is a field of its own: requester == 0x101 && segment == 0x1'
  run "$TALLY" dump --filter 'requester == 01:20.0' t.data
  said 1 'tally: filter: invalid id 01:20.0 (devices are 00 to 1f, functions 0 to 7)'
}

@test "dump --filter: a packet's name without quotes is refused without the field and the quotes" {
  trace_here
  run "$TALLY" dump --filter 'type == MWr' t.data
  said 1 'tally: filter: unknown field '\''MWr'\''; text is compared so: type_name == "MWr32" or type_name == "MWr64"'
  run "$TALLY" dump --filter 'status == UR' t.data
  said 1 'tally: filter: unknown field '\''UR'\''; text is compared so: statusname == "UR"'
}

@test "dump --filter: len is taken for ln, where length_dw is meant" {
  trace_here
  run "$TALLY" dump --filter 'len > 4' t.data
  said 1 "tally: filter: unknown field 'len'; did you mean length_dw? ('tally dump -h' lists them)"
}

@test "dump -h and tally-dump(1) do not say which fields a filter may name" {
  "$TALLY" dump -h | sed -n '/^Fields for --filter/,/^$/s/^  \([a-z_0-9]*\) .*/\1/p' | grep . >fields
  [ "$(wc -l <fields)" -gt 40 ]
  while read -r field; do
    grep -q "\`$field\`" "$BATS_TEST_DIRNAME/../doc/verb/dump.md" || { echo "not in dump.md: $field"; false; }
  done <fields
  trace_here
  "$TALLY" dump --json t.data 2>/dev/null | head -1 | grep -o '"[a-z_0-9]*":' | tr -d '":' | sort >json
  [ -z "$(sort fields | comm -13 - json)" ]
}

# ---- words of D ---------------------------------------------------------------------------------------

@test "\$target without -c or -p: what defines it is not said" {
  run vm -n 'BEGIN /pid == $target/ { exit(0); }'
  has "macro variable \$target is not defined: -c COMMAND or -p PID of 'tally trace' defines it"
  run vm -n 'BEGIN /pid == $nosuch/ { exit(0); }'
  has 'macro variable $nosuch is not defined'
  [[ "$output" != *defines* ]]
}

@test "cpu_clock-all-99Hz is refused where profile-99Hz is not" {
  run "$TALLY" trace --dump=parse -n 'cpc:::cpu_clock-all-99Hz { @ = count(); }'
  [ "$status" -eq 0 ]
  run "$TALLY" trace -ln 'cpc:::cpu_clock-all-99Hz'
  said 0 "$("$TALLY" trace -ln 'cpc:::cpu_clock-all-99hz' | sed 's/99hz/99Hz/')"
  run "$TALLY" trace -ln 'cpc:::cpu_clock-all-99x'
  has 'count "99x" is not a decimal number (or a rate: 99hz)'
}

@test "the hint for kstack is printed with a blank: stack( )" {
  run vm -n 'BEGIN { kstack(); }'
  has 'did you mean stack()?'
  run vm -n 'BEGIN { pritnf("x"); }'
  has 'did you mean printf()?'
}

# ---- a terminal ------------------------------------------------------------------------------------------

# on_terminal COMMAND: the words of a shell, run where all three streams are a terminal.
on_terminal() { TALLY=$(realpath "$TALLY") SHELL=/bin/bash TERM=xterm script -qec "$1" /dev/null </dev/null | tr -d '\r'; }
needs_terminal() { command -v script >/dev/null || skip "no script(1) to make a terminal"; }

@test "stat without a command waits on a terminal and does not say for what" {
  needs_terminal
  on_terminal 'echo $$ >pid; exec "$TALLY" stat -e task-clock -p $$' >said &
  script=$!
  for _ in $(seq 600); do grep -q 'counting until Ctrl-C' said && break; sleep 0.05; done
  kill -INT "$(cat pid)"
  wait $script || [ $? -eq 130 ]
  grep -q 'tally: counting until Ctrl-C, or until all counted tasks have ended' said
  grep -q 'task-clock' said
  # With an end, or without a terminal, nothing is said.
  run on_terminal '"$TALLY" stat -e task-clock -- true'
  [[ "$output" != *Ctrl-C* ]]
  run "$TALLY" stat -e gpci/entitled/ --on power --duration 1
  [[ "$output" != *Ctrl-C* ]]
}

@test "stat of a slow model is silent for seconds: on a terminal it says how far it is" {
  needs_terminal
  run on_terminal '"$TALLY" stat -e mmustat/all/ --on niagara,load=chase --count 1 2>&1 | cat' # no terminal: no line
  [[ "$output" != *'of model time'* ]]
  run on_terminal '"$TALLY" stat -e mmustat/all/ --on niagara,load=chase --count 1'
  has '% of 1 s of model time; -I 10 makes it 0.01 s'
  run on_terminal '"$TALLY" stat -e mmustat/all/ --on niagara,load=chase --count 1 -I 1000'
  has '% of 1 s of model time'
  [[ "$output" != *'-I 10 makes it'* ]]
}

# ---- lists in pipes ----------------------------------------------------------------------------------------

@test "list events | grep loses what an event is: into a pipe a row is a line, on a terminal it fits" {
  unset COLUMNS
  "$TALLY" list events | grep '^cache_misses ' | grep -q 'misses of the last level cache'
  "$TALLY" list events >rows
  ! grep -q '^ ' rows
  "$TALLY" list vfalls --on batoka >rows
  [ "$(awk 'length > 80' rows | wc -l)" -gt 0 ]
  # COLUMNS is somebody's word, as of ls.
  COLUMNS=70 "$TALLY" list events >rows
  ! grep -E '^.{71}' rows
  needs_terminal
  run on_terminal 'stty cols 100; unset COLUMNS; "$TALLY" list requests'
  ! grep -E '^.{101}' <<<"$output"
  grep -qE '^.{81}' <<<"$output"
}

@test "list requests says of each that it has a record for each partition, and not what it counts" {
  unset COLUMNS
  "$TALLY" list requests | grep '^entitled ' | grep -q 'processor time of partitions: entitled, consumed, donated, idle; a record for each partition'
  "$TALLY" list requests | tail -n +2 | sed 's/.*--on power  //; s/; .*//' >texts
  [ "$(wc -l <texts)" -gt 20 ]
  [ -z "$(sort texts | uniq -d)" ]
}

# ---- trace -o ------------------------------------------------------------------------------------------------

@test "trace -o x.svg, x.pdf and x.gz write text under a name that says something else" {
  for suffix in svg pdf gz; do
    run vm -o "x.$suffix" -qn 'BEGIN { trace(1); exit(0); }'
    said 2 "tally: -o x.$suffix: unknown suffix for trace (expected .json, .html, .htm, .folded, .pb.gz, .txt, .log, .out, .stacks); .html is a flame graph, .folded the input of tools for those"
    [ ! -e "x.$suffix" ]
  done
  for name in x.txt x.log x x.2 json x.folded x.stacks; do vm -o "$name" -qn 'BEGIN { trace(1); exit(0); }'; done
  [ "$(cat x.txt)" = 1 ]
  vm -o x.json -qn 'BEGIN { trace(1); exit(0); }'
  grep -q '^{' x.json
  vm --json -o y.txt -qn 'BEGIN { trace(1); exit(0); }'
  grep -q '^{' y.txt
  # dtrace(1) has no forms, and any name.
  as_dtrace --on=vm -o x.pdf -qn 'BEGIN { trace(1); exit(0); }'
  [ "$(cat x.pdf)" = 1 ]
}

# ---- scripts ---------------------------------------------------------------------------------------------------

@test "--on given to a script whose first line has one is refused as given twice" {
  PATH=$(realpath "$(dirname "$TALLY")"):$PATH
  printf '#!/usr/bin/env -S tally trace --on niagara -s\nBEGIN { trace(1); exit(0); }\n' >script.d
  chmod +x script.d
  run ./script.d --on vm -q
  said 0 1
  run ./script.d --on vm --on vm
  has '--on can be given only once'
  run vm --on vm -n BEGIN
  has '--on can be given only once'
}

@test "ptt-failures.d prints one empty line where nothing failed" {
  trace_here
  run "$TALLY" trace -s "$BATS_TEST_DIRNAME/../examples/ptt-failures.d" --on ./t.data
  [ "$status" -eq 0 ]
  has 'no completion has an error'
}

@test "gpci-wait.d prints zeros on the model's usual load and does not say what makes partitions wait" {
  run "$TALLY" trace -s "$BATS_TEST_DIRNAME/../examples/gpci-wait.d" --on power
  [ "$status" -eq 0 ]
  has 'nobody waited'
  has contended
  run "$TALLY" trace --on power,load=contended -s "$BATS_TEST_DIRNAME/../examples/gpci-wait.d"
  [[ "$output" != *'nobody waited'* ]]
}

# ---- a machine that serves -------------------------------------------------------------------------------------------

# Wakes per second of the process: what it waits for is over so often.
wakes() { awk '/^voluntary_ctxt_switches/ { print $2 }' "/proc/$1/status"; }
uptime_ms() { awk '{ print int($1 * 1000) }' /proc/uptime; }

@test "machine kunpeng with nobody connected wakes 500 times a second and uses a tenth of a CPU" {
  "$TALLY" machine kunpeng --listen k.sock 3>&- 2>said &
  machine=$!
  for _ in $(seq 600); do grep -q listens said && break; sleep 0.05; done
  "$TALLY" list --on unix:k.sock ptt >/dev/null # who was there and has gone leaves it idle, too
  before=$(wakes $machine) start=$(uptime_ms)
  sleep 1
  after=$(wakes $machine) end=$(uptime_ms)
  kill $machine
  wait $machine
  echo "$((after - before)) wakes in $((end - start)) ms"
  [ $(((after - before) * 1000)) -lt $((50 * (end - start))) ]
}

# ---- names of events ---------------------------------------------------------------------------------------------------

@test "foo:bar and sched:nosuch are called tracepoints though the kernel has none of the name, syscalls:sys_enter_* is not" {
  for event in foo:bar sched:nosuch 'syscalls:sys_enter_*'; do
    run "$TALLY" stat -e "$event" -- true
    [ "$status" -eq 2 ]
    has "$event looks like a tracepoint (SYSTEM:NAME)"
    has "if the kernel has it, perf stat -e '$event' counts it"
  done
}

@test "the reason for a PAPI name without a mapping has the name twice, and what counts instead twice" {
  run "$TALLY" stat -e PAPI_fma_ins -- true
  [ "$status" -eq 0 ] && skip "this CPU counts it"
  [ "$(grep -o PAPI_fma_ins <<<"$(grep ^tally: <<<"$output")" | wc -l)" -eq 1 ] || { echo "$output"; false; }
  [ "$(grep -o 'software events' <<<"$output" | wc -l)" -le 1 ]
}

@test "a PAPI name in PAPI's own letters, PAPI_L1_DCM, is answered with the one to write" {
  run "$TALLY" stat -e PAPI_L1_DCM -- true
  has 'no event "PAPI_L1_DCM"; did you mean PAPI_l1_dcm?'
  run "$TALLY" trace -n 'cpc:::PAPI_L1_DCM-user-10000 { @ = count(); }'
  has 'no event "PAPI_L1_DCM"; did you mean PAPI_l1_dcm?'
}

@test "stat -e page-faults: is refused as \"\" is no modifier" {
  run "$TALLY" stat -e page-faults: -- true
  [ "$status" -eq 2 ]
  has 'no modifier after the colon of page-faults: (expected u for user mode or k for the kernel)'
}

# ---- SQL ----------------------------------------------------------------------------------------------------------------

@test "a query of a table that is not there is answered with pg_class, and not with tlp" {
  ldconfig -p | grep -q libduckdb || [ -n "${TALLY_DUCKDB:-}" ] || [ -e "$HOME/.local/lib/libduckdb.so" ] || [ -e "$BATS_TEST_DIRNAME/../build/libduckdb.so" ] ||
    skip "no DuckDB"
  [ ! -e "$BATS_TEST_DIRNAME/../build/libduckdb.so" ] || export TALLY_DUCKDB=$BATS_TEST_DIRNAME/../build/libduckdb.so
  run "$TALLY" export "$BATS_TEST_DIRNAME/fixture/ptt-8dw-golden.perf.data" --sql 'SELECT * FROM tpl'
  [ "$status" -eq 1 ]
  has "Table with name tpl does not exist: the trace is the table tlp"
  [[ "$output" != *pg_class* ]]
}

# ---- tools ------------------------------------------------------------------------------------------------------------

@test "tree.sh copy by another caller removes the copy in which a run is going" {
  [ "$(id -u)" -eq 0 ] || skip "a tree is entered as root"
  unshare --mount true 2>/dev/null || skip "no mounts of one's own here"
  export XDG_CACHE_HOME=$PWD/cache
  tree=$BATS_TEST_DIRNAME/../tools/tree.sh
  sh -c 'echo $$' >dead # whoever asked for the copies is gone
  wait
  for copy in used left new; do
    mkdir -p "cache/tally/tree/run.$(cat dead).$copy/root"
    [ $copy = new ] || touch -d '2 hours ago' "cache/tally/tree/run.$(cat dead).$copy"
  done
  used=cache/tally/tree/run.$(cat dead).used
  mkfifo go
  # Its root is this machine's, in mounts of its own.
  unshare --mount --propagation private sh -c 'mount --rbind / "$1/root" && exec "$2" run "$1" "echo in; read -r x <$3/go; echo out"' \
    sh "$PWD/$used" "$tree" "$PWD" >said 3>&- &
  run=$!
  for _ in $(seq 600); do grep -q in said && break; sleep 0.05; done
  touch -d '2 hours ago' "$used"
  "$tree" clean
  [ -d "$used" ] && [ ! -e "cache/tally/tree/run.$(cat dead).left" ] && [ -d "cache/tally/tree/run.$(cat dead).new" ]
  echo >go
  wait $run
  grep -q out said
  "$tree" clean
  [ ! -e "$used" ]
}
