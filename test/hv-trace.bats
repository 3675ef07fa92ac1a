#!/usr/bin/env bats
# D over what a model's hypervisor counts: tally trace --on power, batoka, niagara.  Needs no privileges.
load common

@test "the question of the manual is answered, and the answer is the same each time" {
  D='gpci:::entitled-1s /args[0]->id != 1/ { @[args[0]->id] = sum(args[0]->d_uncapped); @n[arg1] = count(); } tick-10s { exit(0); }'
  run "$TALLY" trace --on power -qn "$D"
  [ "$status" -eq 0 ]
  [ "$(grep -cE '^ +[2-6] +10 ?$' <<<"$output")" -eq 5 ]
  once=$output
  run "$TALLY" trace --on power -qn "$D"
  said 0 "$once"
  run "$TALLY" trace --on power,seed=2 -qn "$D"
  [ "$status" -eq 0 ] && [ "$output" != "$once" ]
}

@test "a listing has the probes of the platform, and -v their members" {
  run "$TALLY" trace -l --on power
  has gpci
  has dispatch_purr-1s
  [[ "$output" != *vfalls* && "$output" != *mmustat* && "$output" != *"cpc "* ]]
  run "$TALLY" trace -l --on batoka
  has mem_reads-1s
  has sample-1s
  [[ "$output" != *gpci* && "$output" != *mmustat* ]]
  run "$TALLY" trace -l --on niagara
  has mmustat
  run "$TALLY" trace -lv --on power -n gpci:::links_wxyz-100ms
  has "args[0]: struct gpci_links_wxyz *"
  has "uint64_t d_idle_w"
  has "string request"
  run "$TALLY" trace -lv --json --on niagara -n mmustat:::sample-1s
  has '"args":[{"type":"struct mmustat_slot","members":[{"name":"ns","type":"uint64_t"}'
}

@test "what can't be had is refused with the reason" {
  refused() {
    run "$TALLY" trace --on "$1" -n "$2"
    [ "$status" -ne 0 ] || { echo "$2 runs on $1"; return 1; }
    has "$3"
  }
  refused power gpci:::entitled-0s "0s is no interval"
  refused power gpci:::entitled-1x 'unknown unit "x"'
  refused power gpci:::entilted-1s "did you mean entitled?"
  refused power,firmware=8 gpci:::links_abc-1s "not on this firmware or machine (H_Not_Available)"
  refused power,rights=none gpci:::dispatch_purr-1s H_Authority
  refused power vfalls:::sample-1s "'--on batoka'"
  refused batoka gpci::: "--on power"
  refused batoka,rights=perf-counters=strand vfalls:::mem_reads-1s ENOACCESS
  refused niagara vfalls:::sample-1s EBADTRAP
  refused local gpci:::entitled-1s "--on power"
  refused vm vfalls:::sample-1s "--on batoka"
  refused power,load=mixd BEGIN "did you mean 'mixed'?"
}

@test "a command ends the run, with its status" {
  run "$TALLY" trace --on power -qn 'gpci:::entitled-1s { @ = count(); }' -c false
  [ "$status" -eq 1 ]
}

@test "an interrupt ends a run without exit" {
  "$TALLY" trace --on power -qn 'gpci:::capabilities-1s { @ = count(); } END { printf("over\n"); }' >"$BATS_TEST_TMPDIR/said" 3>&- &
  pid=$!
  sleep 0.5
  kill -TERM $pid
  wait $pid
  grep -qx over "$BATS_TEST_TMPDIR/said"
}

# example NAME TEXT...: it runs on the platform that its first line names, and each text is in what it says.
example() {
  file=$BATS_TEST_DIRNAME/../examples/$1.d
  on=$(sed -n '1s/.*--on \([^ ]*\) .*/\1/p' "$file")
  run timeout 60 "$TALLY" trace --on "$on" -s "$file"
  [ "$status" -eq 0 ] || { echo "$1: status $status: $output"; return 1; }
  for text in "${@:2}"; do
    grep -qE "$text" <<<"$output" || { echo "$1: no $text in: $output"; return 1; }
  done
}

@test "a trace whose server goes ends with what it counted, and says why" {
  cd "$BATS_TEST_TMPDIR"
  for what in power:gpci:::entitled niagara:mmustat:::sample batoka:vfalls:::sample; do
    rm -f socket
    "$TALLY" machine "${what%%:*}" --listen socket 2>machine.log 3>&- &
    machine=$!
    until [ -S socket ]; do kill -0 "$machine"; done
    status=0
    timeout 60 "$TALLY" trace -q --on unix:socket -n "${what#*:}-1ms { @ = count(); } ${what#*:}-1ms /!n++/ { system(\"kill -KILL $machine\"); }
      END { printf(\"the end\\n\"); }" -w >out 2>err || status=$?
    [ "$status" -eq 1 ] || { cat out err; return 1; }
    grep -q "unix:socket: the server has gone" err || { cat err; return 1; }
    grep -q 'the end' out
    grep -qE '^ +[1-9][0-9]*$' out
  done
}

@test "each example answers its question" {
  example gpci-consumed 'SEC PARTITION +CONSUMED' '^ +3 +6 +400 '
  example gpci-links '^  X +[0-9]' 'Distribution'
  example gpci-wait 'PARTITION +WAITED' '^ +2 +[1-9][0-9]{5}'
  example vfalls-memory 'mem_reads +node3_mcu1_pcr +[1-9]' 'mem_writes +node0_mcu0_pcr +[1-9]'
  example vfalls-sharing 'node 0 strand 0 +[1-9]' 'zam3_lpu_[a-d]_pcr +[1-9]'
  example mmustat-pages '^4M +D +ctxnon0 +[1-9]' '^8K +I +ctxnon0'
  example mmustat-strands '^ +24 +[1-9]'
  [ "$(find "$BATS_TEST_DIRNAME/../examples" -name 'gpci-*.d' -o -name 'vfalls-*.d' -o -name 'mmustat-*.d' | wc -l)" -eq 7 ]
}
