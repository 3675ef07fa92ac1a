#!/usr/bin/env bats
# D over the records of a trace: tally trace --on FILE.  Needs no privileges, and is run without them.
load common
GOLDEN=$BATS_TEST_DIRNAME/fixture/ptt-8dw-golden.perf.data

# on OPTION...: a trace of the golden file, as nobody when that can be had.
on() {
  cp "$GOLDEN" "$BATS_TEST_TMPDIR/golden" && chmod -R a+rX "$BATS_TEST_TMPDIR"
  cp "$TALLY" "$BATS_TEST_TMPDIR/tally"
  if [ "$(id -u)" -eq 0 ]; then
    chmod a+x "$BATS_TEST_TMPDIR" "$BATS_FILE_TMPDIR" "$BATS_RUN_TMPDIR"
    setpriv --reuid=65534 --regid=65534 --clear-groups "$BATS_TEST_TMPDIR/tally" trace "$@" <"$BATS_TEST_TMPDIR/golden" 2>&1
  else
    "$TALLY" trace "$@" <"$BATS_TEST_TMPDIR/golden" 2>&1
  fi
}

@test "records are counted, without privileges and from a pipe too" {
  n=$("$TALLY" dump "$GOLDEN" 2>/dev/null | tail -n +2 | wc -l)
  run on --on - -qn 'tlp { @ = count(); } END { printa("%@d\n", @); }'
  said 0 "$n"
  [ "$(cat "$GOLDEN" | "$TALLY" trace --on - -qn 'tlp { @ = count(); }' | tr -d ' \n')" = "$n" ]
  [ "$("$TALLY" trace --on "$GOLDEN" -qn 'tlp { @ = count(); }' | tr -d ' \n')" = "$n" ]
}

@test "a dump with a filter and a trace with the same predicate agree" {
  for e in 'class == 1' 'requester == 0x100 && length_dw > 4' 'name == "CplD"' 'time % 2 && tag >> 1 == 3'; do
    p=$(sed -E 's/\b(class|requester|length_dw|name|time|tag)\b/args[0]->\1/g' <<<"$e")
    n=$("$TALLY" dump --filter "$e" "$GOLDEN" 2>/dev/null | tail -n +2 | wc -l)
    t=$("$TALLY" trace --on "$GOLDEN" -qn "BEGIN { n = 0; } tlp /$p/ { n++; } END { printf(\"%d\", n); }")
    [ "$n" = "$t" ] || { echo "$e: $n and $t"; return 1; }
  done
}

@test "the default action prints what dtrace prints" {
  run "$TALLY" trace --on "$GOLDEN" -n 'tlp /args[0]->offset > 0/ { exit(4); }'
  said 4 "tally: description 'tlp ' matched 1 probe
CPU     ID                    FUNCTION:NAME
  0      4                             :tlp "
}

@test "an empty name means all probes of ptt, and a listing has what can fire" {
  run "$TALLY" trace --on "$GOLDEN" -qn 'ptt::: { @[probename] = count(); } END { printa("%s %@d\n", @); }'
  [ "$status" -eq 0 ]
  has "transaction 6701"
  has "tlp 25600"
  run "$TALLY" trace --on "$GOLDEN" -l
  [ "$status" -eq 0 ]
  has "transaction"
  has "tick-1"
  [[ "$output" != *profile-* ]] && [[ "$output" != *cpc* ]]
}

@test "a key behind the name of a trace that is none is named" {
  run "$TALLY" trace --on "$GOLDEN,time=abs,format=5dw" -qn tlp
  said 1 "tally: $GOLDEN: no key behind a name is ,format=5dw (keys: format=4dw format=8dw time=abs time=delta tag14)"
}

@test "args[] of a listing say what they are" {
  run "$TALLY" trace --on "$GOLDEN" -lvn ptt:::transaction
  [ "$status" -eq 0 ]
  has "args[1]: struct tlp_transaction *"
}

@test "requests whose answers the trace never has are not said to be given up, but what they are in a report" {
  t=$BATS_TEST_TMPDIR/nvme.data
  "$TALLY" record --on kunpeng,load=nvme --duration 5 -e hisi_ptt0_2/filter=00:10.0,type=p+np+cpl,direction=2/ -o "$t"
  n=$("$TALLY" report "$t" --json | sed -n 's/.*"unanswerable":\([0-9]*\),"unexpected_completions.*/\1/p' | head -n 1)
  [ "$n" -gt 16 ]
  run "$TALLY" trace --on "$t" -n 'ptt:::transaction { @ = count(); }'
  [ "$status" -eq 0 ]
  has "$n requests of 1 requester fired no transaction: none was answered"
  [[ $output != *"given up"* ]]
}

@test "what can't be is refused with the reason" {
  run "$TALLY" trace -qn ptt:::tlp
  [ "$status" -eq 1 ]
  has "ptt: tlp fires for records, and there are none: give a trace with --on FILE"
  run "$TALLY" trace --on "$GOLDEN" -qn 'tlp { trace(args[1]->latency); }'
  [ "$status" -eq 1 ]
  has "index 1 is out of range for"
  run "$TALLY" trace --on /no/such/file -qn tlp
  [ "$status" -eq 1 ]
  has "/no/such/file"
  run "$TALLY" trace --on "$TALLY" -qn tlp
  [ "$status" -eq 1 ]
  run "$TALLY" trace --on "$GOLDEN" -c true -qn tlp
  [ "$status" -eq 2 ]
  run "$TALLY" trace --on "$GOLDEN" -qn 'cpc:::cpu_clock-all-1000000 { @ = count(); }'
  [ "$status" -eq 3 ]
}
