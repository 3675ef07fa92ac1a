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
  example kerncycprof -c 'brendan 100000' -- 'vmlinux`|[a-z_]+`[a-z_]+ +[0-9]+$'
  example user-insts -c 'brendan 300000' -- '^ +brendan +[0-9]+$'
  example cpu-share -- 'USER ms' 'KERNEL ms'
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
    grep -qE "^ *example $name( |\$)" "$BATS_TEST_DIRNAME"/*.bats || { echo "$name is run by no test"; return 1; }
  done
}
