#!/usr/bin/env bats
# The cpc provider's names: what is accepted, listed and refused, word for word.
load common

# refuses NAME REASON: dtrace's first line, ours as the second, status 1.
refuses() {
  run as_dtrace -n "cpc:::$1"
  said 1 "dtrace: invalid probe specifier cpc:::$1: probe description cpc:::$1 does not match any probes
dtrace: cpc: $2" || { echo "$1"; return 1; }
}

@test "a refused name says which part is wrong and how it would be right" {
  refuses cpu_clock-both-10000 'mode "both" is not user, kernel or all'
  refuses cpu_clock-all-10000- '"cpu_clock-all-10000-" has an empty part; write EVENT-MODE-COUNT'
  refuses cpu_clock-all-10000x 'count "10000x" is not a decimal number'
  refuses cpu_clock-all-100 'count 100 is below the minimum of 5000 (-x dcpc_min_overflow=N lowers it)'
  refuses cpu_clock-all-4999 'count 4999 is below the minimum of 5000 (-x dcpc_min_overflow=N lowers it)'
  refuses cpu_clock-all-0 'count 0 would never fire'
  refuses cpu_clock-all-99999999999999999999999 'count 99999999999999999999999 does not fit in 64 bits'
  refuses CPU_CLOCK-all-10000 'no event "CPU_CLOCK"; did you mean cpu_clock?'
  refuses cpu-clock-all-10000 'no event "cpu-clock"; did you mean cpu_clock?'
  refuses cpu_clock-all 'no count; did you mean cpu_clock-all-1000000?'
  refuses cycles-all-0x1e-10000 "cycles is a generic event and takes no mask; only the CPU's own events do"
}

@test "an unknown event is refused" {
  run as_dtrace -n cpc:::nosuch_event-all-10000
  [ "$status" -eq 1 ]
  has 'dtrace: cpc: no event "nosuch_event"'
}

@test "a script is named with the line of the probe" {
  printf '/* first */\ncpc:::cpu_clock-all-100\n{\n\t@ = count();\n}\n' >"$BATS_TEST_TMPDIR/low.d"
  run as_dtrace -s "$BATS_TEST_TMPDIR/low.d"
  said 1 "dtrace: failed to compile script $BATS_TEST_TMPDIR/low.d: line 2: probe description cpc:::cpu_clock-all-100 does not match any probes
dtrace: cpc: count 100 is below the minimum of 5000 (-x dcpc_min_overflow=N lowers it)"
}

@test "patterns find only what is there already" {
  run as_dtrace -n 'cpc:::cpu_clock-*'
  [ "$status" -eq 1 ]
  has "cpc: patterns match only probes that exist"
}

@test "events that never fire in user mode are refused with the reason" {
  run as_dtrace -n cpc:::context_switches-user-10000
  [ "$status" -eq 1 ]
  has "cpc: context_switches never fires in user mode"
}

@test "a count above 32 bits is not cut" {
  run "$TALLY" trace -ln cpc:::cpu_clock-all-4294972296
  [ "$status" -eq 0 ]
  has "cpu_clock-all-4294972296"
}

@test "-x lowers the minimum" {
  run "$TALLY" trace -x dcpc_min_overflow=100 -ln cpc:::cpu_clock-all-100
  [ "$status" -eq 0 ]
}

@test "-l lists one probe per event, with module and function blank" {
  run "$TALLY" trace -lP cpc
  [ "$status" -eq 0 ]
  [ "${lines[0]}" = "   ID   PROVIDER            MODULE                          FUNCTION NAME" ]
  [ "$(printf '%s\n' "${lines[@]}" | grep -c 'cpc .* cpu_clock-all-1000000000$')" -eq 1 ]
  names=$(printf '%s\n' "${lines[@]:1}" | awk '{ print $3 }')
  [ "$(sort <<<"$names" | uniq -d)" = "" ]
}

@test "-lv tells stability and source" {
  run "$TALLY" trace -lvn cpc:::cpu_clock-user-70000
  said 0 "   ID   PROVIDER            MODULE                          FUNCTION NAME
    4        cpc                                                     cpu_clock-user-70000

	Probe Description Attributes
		Identifier Names: Evolving
		Data Semantics:   Evolving
		Dependency Class: CPU

	Argument Attributes
		Identifier Names: Evolving
		Data Semantics:   Evolving
		Dependency Class: Common

	Argument Types
		None

	Source
		perf software event cpu-clock"
}

@test "a script's own pragma lowers the minimum count" {
  printf '#pragma D option dcpc_min_overflow=500\ncpc:::page_faults-user-503 { @ = count(); }\n' >"$BATS_TEST_TMPDIR/p.d"
  run "$TALLY" trace -e -s "$BATS_TEST_TMPDIR/p.d"
  [ "$status" -eq 0 ]
}
