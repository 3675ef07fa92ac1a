#!/bin/bash
# ptt.sh [-q] - traces of PCIe packets: what is counted per second of CPU time, beside a plain read of the same mapped
# file, and beside `perf report -D` where perf is installed (it prints; nothing else of perf reads these records).
#
# Generated traces, the same each time. The best of ten rounds counts, since a busy neighbour can only slow one down;
# each target is said to be met or not.  Exit 1 when one is not.  -q: small traces, for a quick look.
#
#   count   statistics without matching      match   requests with their completions, latency
#   record  device, driver, AUX ring, perf.data writer and a file on a tmpfs, beside a plain write of as many bytes there
#   2 CPUs  the same in two threads, by the clock on the wall; beside two runs at once of one thread each, which is what
#           two CPUs of this machine can give (they may be halves of one core)
set -u
cd "$(dirname "$0")/.." || exit 1
mib=256 perf_mib=16
[ "${1:-}" = -q ] && mib=32 perf_mib=4
ptt=build/bench/ptt record=build/bench/record
for b in $ptt $record; do [ -x $b ] || { echo "bench/ptt.sh: no $b (make bench)" >&2; exit 3; }; done
work=$(mktemp -d) memory=$(mktemp -d -p /dev/shm)
trap 'rm -rf "$work" "$memory"' EXIT
trap 'exit 130' INT TERM
missed=0

row() { # WHAT MIB/S TARGET [BESIDE]: MIB/S must reach TARGET; 0: only shown
  awk -v what="$1" -v a="$2" -v target="$3" -v beside="${4:-}" 'BEGIN {
    met = a + 0 >= target
    verdict = target + 0 == 0 ? "" : sprintf(">= %-6g %s", target, met ? "met" : "NOT MET")
    printf "%-32s %8.0f MiB/s  %s%s\n", what, a, verdict, beside
    exit !met }' || missed=$((missed + 1))
}
cpu() { "$ptt" "$@" | awk '{ print $1 }'; }
wall() { "$ptt" "$@" | awk '{ print $2 }'; }
over() { awk -v a="$1" -v b="$2" 'BEGIN { if (b > 0) printf "%.3g", a / b; else printf "?" }'; }
# Two runs at once: the sum of both.
twice() { { wall "$@" & wall "$@"; wait; } | awk '{ s += $1 } END { print s }'; }

format_rows() { # FORMAT COUNT-TARGET MATCH-TARGET
  local file=$work/$1.raw read count match both
  "$ptt" make "$1" $mib "$file" || { echo "bench/ptt.sh: no trace" >&2; exit 1; }
  read=$(cpu read "$1" "$file") count=$(cpu count "$1" "$file") match=$(cpu match "$1" "$file")
  row "$1: plain read" "$read" 0
  row "$1: count" "$count" "$2" ", $(over "$count" "$read") of a plain read"
  row "$1: match" "$match" "$3" ", $(over "$match" "$read") of a plain read"
  both=$(wall count2 "$1" "$file")
  row "$1: count, 2 CPUs" "$both" 0 "$(over "$both" "$count") of one; two runs at once: $(over "$(twice count "$1" "$file")" "$count")"
  both=$(wall match2 "$1" "$file")
  row "$1: match, 2 CPUs" "$both" 0 "$(over "$both" "$match") of one; two runs at once: $(over "$(twice match "$1" "$file")" "$match")"
  perf_row "$1" "$match"
  rm -f "$file"
}
perf_row() { # FORMAT MATCH
  local data=$work/$1.data s speed TIMEFORMAT=%U
  command -v perf >/dev/null || { echo "$1: perf is not installed (tools/deps.sh bench)"; return; }
  "$ptt" data "$1" $perf_mib "$data" || { missed=$((missed + 1)); return; }
  s=$({ time perf report -D -i "$data" >/dev/null 2>"$work/err"; } 2>&1)
  speed=$(awk -v m=$perf_mib -v s="$s" 'BEGIN { print (s > 0 ? m / s : 0) }')
  row "$1: perf report -D, user time" "$speed" 0 "; match is $(over "$2" "$speed") times as fast"
  dump_row "$1" "$speed"
}
# The program itself, on a file of perf's: what it prints for perf's own text, a D program, and the memory of a report.
dump_row() { # FORMAT PERF-SPEED
  local data=$work/$1.large s speed TIMEFORMAT=%U
  "$ptt" data "$1" $mib "$data" || { missed=$((missed + 1)); return; }
  s=$({ time build/tally dump --perf "$data" >/dev/null 2>&1; } 2>&1)
  speed=$(awk -v m=$mib -v s="$s" 'BEGIN { print (s > 0 ? m / s : 0) }')
  row "$1: tally dump --perf, user time" "$speed" "$(awk -v p="$2" 'BEGIN { print 8 * p }')" ", $(over "$speed" "$2") times perf"
  s=$({ time build/tally trace -q --on "$data" \
    -n 'ptt:::tlp /args[0]->bytes > 64/ { @[args[0]->requester] = count(); }' >/dev/null 2>&1; } 2>&1)
  awk -v what="$1: D, records a second" -v n=$((mib * 1048576 / ${1%dw} / 4)) -v s="$s" 'BEGIN {
    r = n / s / 1e6; met = r >= 5
    printf "%-32s %8.1f M      >= 5      %s\n", what, r, met ? "met" : "NOT MET"; exit !met }' || missed=$((missed + 1))
  rm -f "$data"
}
record_row() { # FORMAT
  local file=$memory/$1.data plain recorded
  plain=$("$record" write "$1" $mib "$file" | awk '{ print $1 }')
  recorded=$("$record" "$1" $mib "$file" | awk '{ print $1 }')
  row "$1: record" "${recorded:-0}" 1024 ", $(over "${recorded:-0}" "${plain:-0}") of a plain write"
  rm -f "$file"
}

record_row 8dw
record_row 4dw
format_rows 8dw 2048 800
format_rows 4dw 1228.8 400
if [ $missed -eq 0 ]; then echo "every target is met"; else echo "$missed targets are not met"; exit 1; fi
