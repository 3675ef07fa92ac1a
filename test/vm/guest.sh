# guest.sh - what is checked inside the guest, by busybox sh; speaks TAP.
#
# `count` counts the same command's events beside tally, so what a probe should have fired is known:
# that count / period.
. test/vm/tap.sh                                # $n checks came before
# Whether A is within PERCENT of B.
within() { awk -v a="$1" -v b="$2" -v p="$3" 'BEGIN { d = a - b; exit !(b > 0 && (d < 0 ? -d : d) <= b * p / 100) }'; }
value() { printf '%s\n' "$2" | awk -v name="$1" '$1 == name { print $2; exit }'; }

echo "# $(uname -srm), $(grep -c arm-pmu /proc/interrupts) PMU interrupt"

# ---- a probe fires once every COUNT cycles ---------------------------------------------------------
period=100000
# The emulated PMU now and then stops interrupting before the end of a run, early or late.  What a probe missed must then be told as
# lost, no less than the command's.  It may have missed any process's firings, so what fired in all and what was lost are together what
# fires in all in a run that lost nothing; and such a run, the first of at most ten, must fire for the command as often as its cycles say.
cycles_run() { # sets $said, what fired for the command ($fired) and in all ($all), $want, $lost
  said=$(tally trace -qv -n "cpc:::$name { @all = count(); }
    cpc:::$name /execname == \"spin\"/ { @n = count(); }
    cpc:::$name /execname == \"spin\" && arg0 != 0/ { @k = count(); }
    cpc:::$name /execname == \"spin\" && arg1 != 0/ { @u = count(); }
    END { printa(\"all %@d\n\", @all); printa(\"fired %@d\n\", @n); printa(\"kernel %@d\n\", @k); printa(\"user %@d\n\", @u); }" \
    -c "count $event -- spin -k 100 10000000" 2>&1)
  fired=$(value fired "$said") all=$(value all "$said") want=$(($(value "$event" "$said") / period))
  lost=$(printf '%s\n' "$said" | awk '/ firings of / { n += $2 } END { print n + 0 }')
}
for mode in user:u kernel:k all:; do
  name=cycles-${mode%:*}-$period suffix=${mode#*:} told=0 totals=
  event=cycles${suffix:+:$suffix}
  cycles_run # whose programs are read for the first time
  for try in 1 2 3 4 5 6 7 8 9 10; do
    cycles_run
    [ $((${fired:-0} + lost)) -ge $((want * 98 / 100)) ] || told=1
    [ "$lost" -gt 5 ] || break
    totals="$totals $((${all:-0} + lost))"
  done
  for total in $totals; do within "$total" "${all:-0}" 2 || told=1; done
  check $told "$name: what fired and what was lost is what fires in all:$totals $all" "$said"
  in_kernel=$(value kernel "$said") in_user=$(value user "$said")
  within "${fired:-0}" "$want" 1
  check $? "$name fires as often as the cycles say: ${fired:-0} of $want" "$said"
  # An interrupt that is due in the kernel can be taken behind its end: that is skid, not a user-mode cycle.
  case $mode in
  user:u) [ "${fired:-0}" -gt 0 ] && within "${in_user:-0}" "$fired" 1 ;;
  kernel:k) [ "${fired:-0}" -gt 0 ] && [ "${in_kernel:-0}" -gt $((2 * ${in_user:-0})) ] ;;
  *) [ "${in_user:-0}" -gt 0 ] && [ "${in_kernel:-0}" -gt 0 ] && [ $((in_user + in_kernel)) -eq "$fired" ] ;;
  esac
  check $? "$name finds the PC in its mode but for skid: user ${in_user:-0}, kernel ${in_kernel:-0}" "$said"
  eval "fired_${mode%:*}=${fired:-0}"
done
within $((fired_user + fired_kernel)) "$fired_all" 2
check $? "user and kernel firings add up to those of both: $fired_user + $fired_kernel, $fired_all"

# ---- counters at any probe -----------------------------------------------------------------------------
# While another process has the CPU half of the time.
spin 1000000000 & other=$!
said=$(tally trace -q -n 'syscall::exit_group:entry /execname == "spin" && ppid != $1/ {
    printf("thread_instructions %d\nthread_cycles %d\nthread_faults %d\ncpu %d\n",
      vcounter("instructions:u"), vcounter("cycles:u"), vcounter("page-faults"), counter("instructions:u")); }' $$ \
  -c 'count instructions:u cycles:u page-faults -- spin 5000000' 2>&1)
kill $other
for e in instructions:u cycles:u; do
  own=$(value thread_${e%:u} "$said") want=$(value $e "$said")
  within "${own:-0}" "${want:-0}" 1
  check $? "vcounter(\"$e\") of a thread that shares its CPU is what perf counts of it: ${own:-0} of ${want:-0}" "$said"
done
within "$(value cpu "$said")" "$(value thread_instructions "$said")" 5
check $((! $?)) "counter(\"instructions:u\") has those of others, too: $(value cpu "$said")" "$said"
d='BEGIN { exit(0); }'
for i in 1 2 3 4 5 6 7 8; do d="$d BEGIN { trace(counter(\"r$i\")); }"; done
tally trace -q -n "$d" >/tmp/said 2>&1
[ $? -ne 0 ] && grep -q 'failed to count' /tmp/said && grep -q 'no counter left' /tmp/said
check $? "more counters than the CPU has are refused before the run, with who holds them" "$(cat /tmp/said)"

# ---- counters are finite -------------------------------------------------------------------------------
# Each probe of another COUNT takes a counter of its own.
script() { i=0; while [ $i -lt "$1" ]; do echo "cpc:::cycles-user-$((1000000 + i)) { }"; i=$((i + 1)); done; echo 'tick-1ms { exit(0); }'; }
most=0
while [ $most -lt 32 ] && script $((most + 1)) >/tmp/many.d && tally trace -q -s /tmp/many.d >/tmp/said 2>&1; do
  most=$((most + 1))
done
[ $most -gt 1 ] && [ $most -lt 32 ]
check $? "$most enablings fit, one more is refused" "$(cat /tmp/said)"
grep -q 'Failed to enable probe' /tmp/said && grep -q 'no counter left' /tmp/said
check $? "the refusal says that the counters are taken" "$(cat /tmp/said)"
{ script $((most + 1)); echo 'BEGIN { printf("began\n"); }'; } >/tmp/many.d
tally trace -q -s /tmp/many.d >/tmp/said 2>/tmp/why
[ $? -eq 1 ] && [ ! -s /tmp/said ]
check $? "one too many is refused whole: not even BEGIN runs" "$(cat /tmp/said /tmp/why)"
script "$most" >/tmp/many.d
tally trace -q -s /tmp/many.d >/tmp/said 2>&1
check $? "a refusal leaves no counter taken" "$(cat /tmp/said)"

. test/vm/count.sh
. test/vm/lease.sh
. test/vm/address.sh
SMOKE=1 && . test/vm/probe-guest.sh

# ---- this kernel accepts every program that the tests generate ---------------------------------------
export CMOCKA_MESSAGE_OUTPUT=TAP
for t in unit/*_test; do
  [ -x "$t" ] || continue
  said=$("$t" 2>&1)
  status=$?
  passed=$(printf '%s\n' "$said" | grep -c '^ok')
  skipped=$(printf '%s\n' "$said" | grep -c '# SKIP')
  [ $status -eq 0 ] || [ $status -eq "$skipped" ]
  check $? "${t#unit/} on this kernel: $passed passed, $skipped skipped" "$said"
done
# Those that are meant not to compile, or ask for events that this machine has not, do not get as far.
loaded=0 refused=
find examples test -name '*.d' | sort >/tmp/list
while read -r d; do
  timeout 20 tally trace -q -s "$d" -c 'spin 100000' >/tmp/said 2>&1 && loaded=$((loaded + 1))
  grep -q 'the kernel refused' /tmp/said && refused="$refused$d: $(cat /tmp/said)"
done </tmp/list
[ -z "$refused" ] && [ $loaded -gt 0 ]
check $? "$loaded of $(wc -l </tmp/list) scripts run, none is refused by the verifier" "$refused"
echo "1..$n"
[ $bad -eq 0 ]
