#!/bin/bash
# storms: more events than anybody can take: every page fault of a program that does nothing else, forks and execs without a pause.
#
# SECONDS SEED ROUND DIR, as torture.h has it.  A round traces a storm with buffers that are far too small.  It ends in time, also when it is
# interrupted in the middle; and what arrived and what is said to be lost add up to what is known: the lines and the drops to the firings that
# one counter saw, the keys and the drops of an aggregation to the same, to the last one; the samples of a count to the faults of the program.
# A CPU that is in the middle of a firing when the trace ends is waited for by the kernel: disabling an event returns after it.
set -u
seconds=$1 seed=$2 only=$3 dir=$4
[ "$(id -u)" -eq 0 ] || { echo "skip loading BPF programs needs root here"; exit 77; }
progs=${TALLY%/*}/prog storm=$TORTURE/storm
end=$((SECONDS + seconds))
n=0 events=0 told=0 storms=0 fell=0
fell() { fell=$((fell + 1)); echo "fell $n $*"; }

# trace OPTION... : $status, $dir/out, $dir/err; 60 s at most.
trace() {
  timeout -k 1 60 "$TALLY" trace -q -x dcpc_min_overflow=1 "$@" >"$dir/out" 2>"$dir/err" </dev/null
  status=$?
  [ $status -eq 0 ] || fell "status $status: $*: $(head -n 1 "$dir/err")"
}
# drops WORDS: the sum of what was dropped.  A CPU with one of them has a "drop".
drops() { awk -v w="$1" '$0 ~ "^tally: [0-9]+ " w "s? on CPU" { s += $2 } END { print s + 0 }' "$dir/err"; }
number() { sed -n "s/^$1 //p" "$dir/out"; }
# adds_up WHAT ARRIVED LOST KNOWN
adds_up() {
  events=$((events + $4)) told=$((told + $3))
  [ $(($2 + $3)) -eq "$4" ] || fell "$1: $2 arrived and $3 are told as lost, but there were $4"
}

# Each is traced with `pid == $target` where its own processes are not of interest.
lines() {
  trace -x bufsize=$((16 << RANDOM % 6))k -c "$progs/pf $((20000 + RANDOM * 8))" \
    -n 'cpc:::page_faults-user-1 /pid == $target/ { @n = count(); printf("x\n"); } END { printa("n %@d\n", @n); }'
  adds_up lines "$(grep -c '^x' "$dir/out")" "$(drops drop)" "$(number n)"
}
keys() {
  trace -x aggsize=$((4 << RANDOM % 6))k -c "$storm $1 $((200 + RANDOM % 1000))" \
    -n 'cpc:::page_faults-user-1 { @a[arg1, pid] = count(); @n = count(); } END { printa("n %@d\n", @n); printa("a %@d\n", @a); }'
  adds_up keys "$(awk '/^a/ { s += $2 } END { print s + 0 }' "$dir/out")" "$(drops 'aggregation drop')" "$(number n)"
}
names() {
  trace -c "$storm execs $((100 + RANDOM % 400))" \
    -n 'cpc:::page_faults-user-1 { @[execname, ufunc(arg1)] = count(); @s[ustack()] = count(); @n = count(); } END { printa("n %@d\n", @n); printa(@); }'
  [ "$(number n)" -gt 100 ] || fell "names: only $(number n) firings"
}
samples() {
  local period=$((1 + RANDOM % 50)) faults=$((50000 + RANDOM * 10)) got most
  trace -c "$progs/pf $faults" -n "cpc:::page_faults-user-$period /pid == \$target/ { @n = count(); } END { printa(\"n %@d\\n\", @n); }"
  got=$(($(number n) * period)) most=$((faults + 3000))
  events=$((events + faults))
  # A CPU counts the faults of all its processes towards the next sample, so that some of this one's are in samples of others; the start
  # of a process has some hundred faults of its own.
  [ $got -ge $((faults - faults / 100 - 10 * period * $(nproc))) ] && [ $got -le $most ] ||
    grep -q 'lost\|throttled' "$dir/err" || fell "samples: $got of $faults faults at a period of $period, and nothing is said to be lost"
}
interrupted() {
  local began tracer
  env --default-signal=INT "$TALLY" trace -q -x dcpc_min_overflow=1 -c "$storm forever" \
    -n 'cpc:::page_faults-user-1 { @a[arg1, execname] = count(); printf("%d\n", pid); } tick-1ms { printa(@a); }' >/dev/null 2>"$dir/err" </dev/null &
  tracer=$!
  sleep "0.$((RANDOM % 10))$((RANDOM % 10))"
  began=$SECONDS
  kill -INT $tracer 2>/dev/null
  while kill -0 $tracer 2>/dev/null && [ $((SECONDS - began)) -lt 20 ]; do sleep 0.02; done
  kill -0 $tracer 2>/dev/null && { kill -9 $tracer; fell "an interrupt doesn't end it within 20 s"; }
  wait $tracer 2>/dev/null
}

while :; do
  n=$((n + 1))
  [ "$only" -ne 0 ] && n=$only
  RANDOM=$(((seed * 31 + n * 7919) % 32768))
  : $RANDOM
  case $((RANDOM % 6)) in
    0) lines ;; 1) keys forks ;; 2) keys execs ;; 3) names ;; 4) samples ;; 5) interrupted ;;
  esac
  storms=$((storms + 1))
  [ "$only" -ne 0 ] && break
  [ $SECONDS -ge $end ] && break
  [ $fell -lt 20 ] || break
done
echo "count $storms storms"
echo "count $events events that were accounted for"
echo "count $told of them told as lost"
[ $fell -eq 0 ]
