#!/usr/bin/env bats
# Each example of the README, of the manual pages and of the help runs; what needs hardware or a program that Debian 12
# has not is checked but for that (tools/transcript.sh).

load common

setup() {
  ROOT=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
  cd "$BATS_TEST_TMPDIR" || return 1
  PATH=$(realpath "$(dirname "$TALLY")"):$PROGS:$PATH
  ln -s "$ROOT"/* .
}

wait_for() { for _ in $(seq 100); do [ -S "$1" ] && return; sleep 0.05; done; return 1; }

@test "every example in the README is accepted as it stands" {
  COLUMNS=80 tools/transcript.sh README.md
}

@test "every example in the manual is accepted as it stands" {
  bad=0
  for page in doc/verb/*.md; do tools/transcript.sh -s "$page" || bad=1; done
  [ $bad -eq 0 ]
}

@test "every example in the pages of the models is accepted as it stands" {
  bad=0
  for page in doc/model/*.md; do tools/transcript.sh -s "$page" || bad=1; done
  [ $bad -eq 0 ]
}

@test "every example in the pages of the providers is accepted as it stands" {
  bad=0
  for page in doc/provider/*.md; do tools/transcript.sh "$page" || bad=1; done
  [ $bad -eq 0 ]
}

# names CLASSES: the names of such rows that the compiler has, one a line.
names() { sed -nE "s/^(CALL|BUILTIN)\(([a-z][a-z0-9_]*), ($1),.*/\2/p; s/^LATER\(([a-z0-9_]+),.*/\1 LATER/p" src/dlang/{call,builtin}.def |
  if [[ "$1" == *LATER* ]]; then sed 's/ LATER//'; else grep -v ' LATER'; fi; }

@test "the manual does not say of anything that runs that it is refused, and leaves out nothing that runs" {
  local runs refused name
  runs=$(sed -n '/^### What runs/,/^Code of a just-in-time/p' doc/verb/trace.md | tr '\n' ' ' | grep -o '`[^`]*`' | tr -d '`')
  refused=$(sed -n '/^### What does not run/,/^## /p' doc/verb/trace.md | tr '\n' ' ' | grep -o '`[^`]*`' | tr -d '`')
  [ -n "$runs" ] && [ -n "$refused" ]
  for name in $(names 'SUBR|ACT|STACK|SYM|AGG|INT|STR|ARRAY|LIBRARY|KERNEL' | grep -vE '^(panic|breakpoint|arg[1-8])$'); do
    grep -qw -- "$name" <<<"$runs" || { echo "not under What runs: $name"; return 1; }
    ! grep -qw -- "$name" <<<"$refused" || { echo "runs, and is said to be refused: $name"; return 1; }
  done
  for name in $(sed -nE 's/^PROVIDER\((.*)\)$/\1/p' src/provider/provider.def); do
    ! grep -qw -- "$name" <<<"$refused" || { echo "is there, and is said to be refused: $name"; return 1; }
  done
  for name in $(names LATER) panic breakpoint; do
    grep -qw -- "$name" <<<"$refused" || { echo "not under What does not run: $name"; return 1; }
    ! grep -qw -- "$name" <<<"$runs" || { echo "refused, and is said to run: $name"; return 1; }
  done
}

@test "a provider that takes its probes from the kernel has a page with its probes, arguments, cost and limits" {
  bad=0
  for page in doc/provider/*.md; do
    for part in Probes Arguments "What it costs" "What Linux can't give"; do grep -qx "## $part" "$page" || { echo "$page: no $part"; bad=1; }; done
    grep -qF "provider/$(basename "$page")" doc/spec-d.md || { echo "doc/spec-d.md: no link to $page"; bad=1; }
  done
  [ $bad -eq 0 ]
}

# named PAGE WORD...: the page has each word as code.
named() {
  local page=doc/model/$1.md word
  for word in "${@:2}"; do grep -qF -- "\`$word\`" "$page" || { echo "$page: no $word"; bad=1; }; done
}
json() { sed -n "s/.*$1.*/\\1/p"; }                          # PATTERN with one group

@test "a model has a page, which names its loads and all that it does not count" {
  bad=0
  declare -A page=([kunpeng]=kunpeng [power]=power [niagara]=sun4v [maramba]=sun4v [batoka]=sun4v)
  for model in $(tally list --json machines | json '"name":"\([^"]*\)"'); do
    [ -n "${page[$model]}" ] || { echo "no page for $model"; bad=1; continue; }
    named "${page[$model]}" $(tally list --json loads | grep "\"of\":\"$model\"" | json '"name":"\([^"]*\)"')
  done
  events=$(tally list --json --on batoka vfalls | grep '"modelled":false' | json '"name":"\([^"]*\)"')
  [ "$(wc -w <<<"$events")" -ge 20 ]
  named sun4v $events
  requests=$(for level in 0 3 5 6 8; do tally list --json requests --on power,firmware=$level | grep '"here":"yes"'; done |
    json '"name":"\([^"]*\)"' | sort -u)
  missing=$(tally list --json requests | json '"name":"\([^"]*\)"' | grep -vxF "$requests")
  [ "$(wc -w <<<"$missing")" -ge 2 ]
  named power $missing
  named kunpeng $(tally list --json tunables | json '"name":"\([^"]*\)"')
  for name in kunpeng power sun4v; do grep -q "doc/model/$name.md" README.md || { echo "README.md: no link to $name"; bad=1; }; done
  [ $bad -eq 0 ]
}

@test "every example that a verb's help names is accepted as it stands" {
  # What the examples of the help presume: traces, what 'tally get' printed, programs, a machine that listens.
  event=hisi_ptt0_2/filter=00:10.0,type=p+np+cpl,direction=2/
  tally record --on kunpeng,load=nvme --duration 2 -o perf.data -e $event
  for name in t before after; do cp perf.data $name.data; done
  cp test/fixture/faults.json .
  tally get --on kunpeng hisi_ptt0_2 >saved
  cp "$(command -v brendan)" program
  cp "$(type -P true)" request
  mkdir ptt
  bad=0
  for verb in $(tally help 2>&1 | awk '/^Verbs:/ { on = 1; next } on && NF == 0 { exit } on { print $1 }') completion; do
    tally "$verb" --help | awk -f tools/help-examples.awk >"$verb.help"
    [ -s "$verb.help" ] || { echo "$verb: no examples"; bad=1; }
    [ "$verb" != set ] || { tally machine kunpeng --listen kunpeng.sock >/dev/null 2>&1 3>&- & wait_for kunpeng.sock; }
    tools/transcript.sh "$verb.help" || bad=1
    [ "$verb" != set ] || ends_with 0 $! kill $!
  done
  [ $bad -eq 0 ]
}

@test "a command on a page stands where it is run: in a block of console or sh" {
  # Other blocks hold D, C, text that is read; lines of them, and indented ones, that would be commands are found out.
  ! awk '
    FNR == 1 { block = "" }
    /^```/ { block = block == "" ? substr($0, 4) " " : ""; next }
    block ~ /^(console|sh) / { next }
    /^(    |\$ |)(sudo )?(tally [a-z]+ |make |qemu-|tools\/|\.\/)/ && (block != "" || /^    |^\$ /) { print FILENAME ": " $0 }
  ' README.md doc/verb/*.md doc/tutorial/*.md | grep .
}

@test "a page that needs what is not here is checked for all else" {
  page() { printf '```sh %s\n%s\n```\n' "$1" "$2" >page.md; tools/transcript.sh page.md; }
  page clickhouse 'clickhouse local -q "SELECT"'
  if ! ls -d /sys/bus/event_source/devices/hisi_ptt* >/dev/null 2>&1; then
    page ptt 'tally set hisi_ptt0_2/qos_tx_cpl=2'
    run page ptt 'tally set hisi_ptt0_2/qos_tx_cpx=2'
    [ "$status" -eq 1 ]
    run page ptt 'tally record -e hisi_ptt0_2/filter=00:10.0,type=p,format=8dw/ -o t.data -- ./nobody'
    [ "$status" -eq 1 ]
    has "direction"
  fi
  run page clickhouse 'clickhouse local -q "SELECT'
  command -v clickhouse || [ "$status" -eq 1 ]
  run page moon 'true'   # an unknown need
  [ "$status" -ne 0 ]
}

@test "a sentence of a page that begins with sh or console was run as a command" {
  printf 'What it\nshows is\nconsoles.\n\n```sh\ntrue\n```\n' >page.md
  run tools/transcript.sh page.md
  [ "$status" -eq 0 ]
  [ -z "$output" ]
}
