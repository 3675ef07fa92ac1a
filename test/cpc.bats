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
  refuses cpu_clock-all-10000x 'count "10000x" is not a decimal number (or a rate: 99hz)'
  refuses cpu_clock-all-100 'count 100 is below the minimum of 5000 (-x dcpc_min_overflow=N lowers it; write 100hz for 100 firings a second)'
  refuses cpu_clock-all-4999 'count 4999 is below the minimum of 5000 (-x dcpc_min_overflow=N lowers it; write 4999hz for 4999 firings a second)'
  refuses cpu_clock-all-0 'count 0 would never fire'
  refuses cpu_clock-all-99999999999999999999999 'count 99999999999999999999999 does not fit in 64 bits'
  refuses CPU_CLOCK-all-10000 'no event "CPU_CLOCK"; did you mean cpu_clock?'
  refuses cpu-clock-all-10000 'no event "cpu-clock"; did you mean cpu_clock?'
  refuses cpu_clock-all 'no count; did you mean cpu_clock-all-10000000?'
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
dtrace: cpc: count 100 is below the minimum of 5000 (-x dcpc_min_overflow=N lowers it; write 100hz for 100 firings a second)"
}

@test "a pattern finds what a listing shows; another one is refused with what to write" {
  run "$TALLY" trace -ln 'cpc:::cpu_clock-*'
  [ "$status" -eq 0 ]
  has "cpu_clock-all-10000000"
  run as_dtrace -n 'cpc:::cpu_clock-user-*'
  [ "$status" -eq 1 ]
  has "cpc: patterns match what tally trace -l -P cpc lists"
  has "EVENT-MODE-COUNT"
}

@test "-P cpc and -P profile enable what their listings show, instead of matching nothing" {
  needs_bpf
  [ ! -d /sys/bus/event_source/devices/cpu ] || skip "with hardware counters -P cpc names more events than there are counters"
  run "$TALLY" trace -P 'cpc { @[probename] = count(); }' -c true
  [ "$status" -eq 0 ]
  has "matched 1"
  run "$TALLY" trace -xaggsortkey -P 'profile { @[probename] = count(); }' -n 'profile:::tick-10 { exit(0); }'
  [ "$status" -eq 0 ]
  has "matched 13 probes"
  has "  tick-5000 "
}

@test "an empty name lists all probes of its provider, as in cpc::: and profile:::" {
  for provider in cpc profile; do
    run "$TALLY" trace -ln "$provider:::"
    [ "$status" -eq 0 ]
    [ "$output" = "$("$TALLY" trace -lP $provider)" ]
    [ "${#lines[@]}" -gt 8 ]
  done
}

@test "actions in an argument of their own behind -P are refused with where they belong" {
  run "$TALLY" trace -P cpc '{ @ = count(); }'
  [ "$status" -eq 1 ]
  has "predicate and actions belong to the argument before: 'cpc { @ = count(); }'"
}

@test "a listed count is one that an event comes to: no thousand million of page faults" {
  run "$TALLY" trace -lP cpc
  has "page_faults-all-5000"
  has "cpu_clock-all-10000000"
  [[ "$output" != *1000000000* ]]
  run "$TALLY" trace -x dcpc_min_overflow=6000 -l
  has "page_faults-all-6000"
}

@test "each of PAPI's names is known, and refused as what it is where this CPU has no event for it" {
  run "$TALLY" list --names events
  [ "$(grep -c '^PAPI_' <<<"$output")" -ge 103 ]
  for name in PAPI_fp_ops PAPI_ld_ins PAPI_l1_tcm PAPI_ca_snp; do
    run "$TALLY" trace -n "cpc:::$name-user-10000"
    [ "$status" -ne 0 ]
    [[ "$output" != *"did you mean"* && "$output" != *"no event"* ]]
    [ ! -d /sys/bus/event_source/devices/cpu ] || continue
    has "$name ("
    has ") is a generic event that this CPU has no mapping for"
  done
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
  [ "$(printf '%s\n' "${lines[@]}" | grep -c 'cpc .* cpu_clock-all-10000000$')" -eq 1 ]
  names=$(printf '%s\n' "${lines[@]:1}" | awk '{ print $3 }')
  [ "$(sort <<<"$names" | uniq -d)" = "" ]
}

@test "-lv tells stability, also of provider, module, function, name and arguments, and source" {
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

	Stability
		Provider   Evolving/Evolving/Common
		Module     Private/Private/Unknown
		Function   Private/Private/Unknown
		Name       Evolving/Evolving/CPU
		Arguments  Evolving/Evolving/Common

	Source
		perf software event cpu-clock"
  run "$TALLY" trace --json -lvn cpc:::cpu_clock-user-70000
  has '"provider_stability":{"names":"Evolving","data":"Evolving","class":"Common"}'
  has '"function_stability":{"names":"Private","data":"Private","class":"Unknown"}'
}

@test "a script's own pragma lowers the minimum count" {
  printf '#pragma D option dcpc_min_overflow=500\ncpc:::page_faults-user-503 { @ = count(); }\n' >"$BATS_TEST_TMPDIR/p.d"
  run "$TALLY" trace -e -s "$BATS_TEST_TMPDIR/p.d"
  [ "$status" -eq 0 ]
}

@test "index() in the kernel finds what begins with what the place before began with" {
  needs_bpf
  script='BEGIN { printf("%d %d %d\n", index("aabaabaaabaab", "aaab"), index("aabaabaabaaabaabaabaabaac", "aabaabaac"), index("aabaab", "aabb")); exit(0); }'
  run "$TALLY" trace -qn "$script"
  said 0 "6 16 -1"
  [ "$(vm -qn "$script")" = "6 16 -1" ]
}

@test "arg2 of a page fault is the address that was touched; of an event without data it is 0" {
  needs_bpf
  run "$TALLY" trace -q -x dcpc_min_overflow=1 -c "$PROGS/threads 1 3 200" \
    -n 'syscall::mmap:entry /pid == $target && arg1 == 200 * 4096/ { self->len = arg1; }' \
    -n 'syscall::mmap:return /self->len/ { self->at = arg1; self->len = 0; }' \
    -n 'cpc:::page_faults-all-1 /self->at && arg2 >= self->at && arg2 < self->at + 200 * 4096/ { @["there"] = count(); @pages[(arg2 - self->at) >> 12] = count(); }' \
    -n 'syscall::munmap:entry /self->at/ { self->at = 0; }' \
    -n 'cpc:::cpu_clock-all-1000000 { @clock = sum(arg2 != 0 || arg3 != 0 || arg9 != 0); }' \
    -n 'END { printa("%s %@d\n", @); printa("page %d %@d\n", @pages); printa("clock %@d\n", @clock); }'
  [ "$status" -eq 0 ]
  grep -q '^clock 0$' <<<"$output"
  # A fault is missing only where it is told.
  [[ $output == *"of cpc:::page_faults"* || $output == *lost* ]] || [ "$(grep '^there' <<<"$output")" = "there 600" ]
  [ "$(grep -cE '^page [0-9]+ [1-3]$' <<<"$output")" -ge 195 ]
}
