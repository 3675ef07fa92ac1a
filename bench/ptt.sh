#!/bin/bash
# ptt.sh [-q] - traces of PCIe packets: what is counted per second of CPU time, beside a plain read of the same mapped
# file, and beside `perf report -D` where perf is installed (it prints; nothing else of perf reads these records).
#
# Generated traces, the same each time. Where nothing else is said, of three turns the best counts, and in each the best of
# many rounds, of one thread the best of each MiB, since a busy neighbour can only slow one down; a turn waits for a calm CPU,
# for a while.  Each target is said to be met or not.  Exit 1 when one is not.  -q: small traces, for a quick look.
#
#   count   statistics without matching      match   requests with their completions, latency
#   instructions a record of both, beside those before latencies were kept to 1 % and gaps ended what was open (commit
#           of 22 November 2026, gcc 12.2 on x86-64; elsewhere without a limit)
#   report  the tool on a long file, with matching, by the clock on the wall: the best of five; and the memory it takes
#   record  device, driver, AUX ring, perf.data writer and a file on a tmpfs, beside a plain write of as many bytes there
#   model   packets that the model of the devices' machine makes, under the fullest load and of one kind only
#   2 CPUs  count and match in two threads, beside one thread in turn, by the clock on the wall; the middle of three turns
set -u
cd "$(dirname "$0")/.." || exit 1
mib=256 perf_mib=16 long_mib=1024 patience=10
[ "${1:-}" = -q ] && mib=64 perf_mib=4 long_mib=128 patience=1
ptt=build/bench/ptt record=build/bench/record
for b in $ptt $record build/bench/{kunpeng,bench,clock}; do [ -x $b ] || { echo "bench/ptt.sh: no $b (make bench)" >&2; exit 3; }; done
work=$(mktemp -d) memory=$(mktemp -d -p /dev/shm)
trap 'rm -rf "$work" "$memory"' EXIT
trap 'exit 130' INT TERM
. bench/table.sh

cpu() { best 3 1 1 "${calm[@]}" "$ptt" "$@"; }
# "ONE TWO" of the turn in which two threads gained neither most nor least.
wall() {
  for _ in 1 2 3; do "${all_calm[@]}" "$ptt" "$@"; done | awk '{ print $2 / $1, $0 }' | sort -g | sed -n '2s/^[^ ]* //p'
}
two_cpus_row() { # FORMAT count|match FILE
  local one two
  read -r one two < <(wall "$2"2 "$1" "$3")
  figure "$1: $2 on 2 CPUs" "$two" MiB/s "$one" "one thread" ">= 1.3 x"
}

# Of two sizes, so that what a start takes falls out; each is gone through 41 times.
instruction_row() { # FORMAT count|match BEFORE
  local mib n=() limit='<= 1.05 x'
  command -v valgrind >/dev/null || { echo "$1: valgrind is not installed (tools/deps.sh bench)"; return; }
  [ "$(gcc -dumpversion) $(uname -m)" = "12 x86_64" ] || limit=-
  for mib in 1 3; do
    "$ptt" make "$1" $mib "$work/short" && n+=("$(instructions "$ptt" "$2" "$1" "$work/short")") || return
  done
  figure "$1: $2, instructions a record" "$(awk -v a="${n[0]}" -v b="${n[1]}" -v r=$((2 * 41 * 1048576 / ${1%dw} / 4)) \
    'BEGIN { printf "%.2f", (b - a) / r }')" "" "$3" before "$limit"
}

format_rows() { # FORMAT COUNT-TARGET MATCH-TARGET
  local file=$work/$1.raw read
  "$ptt" make "$1" $mib "$file" || { echo "bench/ptt.sh: no trace" >&2; exit 1; }
  read=$(cpu read "$1" "$file")
  figure "$1: count" "$(cpu count "$1" "$file")" MiB/s "$read" "plain read" ">= $2"
  figure "$1: match" "$(cpu match "$1" "$file")" MiB/s "$read" "plain read" ">= $3"
  two_cpus_row "$1" count "$file"
  two_cpus_row "$1" match "$file"
  rm -f "$file"
  perf_row "$1"
  program_rows "$1"
  report_rows "$1"
}
user() { # COMMAND...: the least seconds of user time of three runs; nothing when one failed
  local TIMEFORMAT=%U
  for _ in 1 2 3; do "${calm[@]}" true; { time "$@" >/dev/null 2>&1 || echo failed; } 2>&1; done |
    sort -g | awk '/failed/ { f = 1 } !f && NR == 1 { s = $1 } END { if (!f) print s }'
}
per() { awk -v n="$1" -v s="$2" 'BEGIN { print (n > 0 && s > 0 ? n / s : "-") }'; }
perf_row() { # FORMAT: perf's own text
  local data=$work/$1.data large=$work/$1.large perf=-
  "$ptt" data "$1" $perf_mib "$data" && "$ptt" data "$1" $mib "$large" || { missed=$((missed + 1)); return; }
  if command -v perf >/dev/null; then perf=$(per $perf_mib "$(user perf report -D -i "$data")")
  else echo "$1: perf is not installed (tools/deps.sh bench)"; fi
  figure "$1: dump --perf, of user time" "$(per $mib "$(user build/tally dump --perf "$large")")" MiB/s "$perf" "perf report -D" \
    "$([ "$perf" = - ] && echo - || echo ">= 8 x")"
}
# A D program over the same file.
program_rows() { # FORMAT
  local s
  s=$(user build/tally trace -q --on "$work/$1.large" -n 'ptt:::tlp /args[0]->bytes > 64/ { @[args[0]->requester] = count(); }')
  figure "$1: D, predicate and count by requester" "$(per $((mib * 1048576 / ${1%dw} / 4 / 1000)) "$s" | awk '{ print $1 / 1000 }')" M/s \
    - "" ">= 5"
  rm -f "$work/$1.large"
}
# Of a long file; a MB has 976.5625 KiB.
report_rows() { # FORMAT
  local file=$work/$1.long one two resident failed report=(build/tally report --json)
  "$ptt" data "$1" $long_mib "$file" || { missed=$((missed + 1)); return; }
  { read -r _ one _ resident failed && read -r _ two _ _ failed; } < <(
    "${all_calm[@]}" build/bench/bench 5 -- "${report[@]}" "$file" -- "${report[@]}" --threads=2 "$file")
  [ -n "$failed" ] && { echo "$1: a report failed"; missed=$((missed + 1)); }
  one=$(per $long_mib "${one}e-9") two=$(per $long_mib "${two}e-9")
  figure "$1: report of $long_mib MiB" "$one" MiB/s - "" -
  figure "$1: report of $long_mib MiB, --threads=2" "$two" MiB/s "$one" "one thread" ">= 1.2 x"
  figure "$1: report of $long_mib MiB, resident" "$(per "$resident" 976.5625)" MB - "" "<= 64"
  rm -f "$file"
}
record_row() { # FORMAT
  local file=$memory/$1.data plain recorded
  plain=$(best 3 1 1 "${all_calm[@]}" "$record" write "$1" $mib "$file")
  recorded=$(best 3 1 1 "${all_calm[@]}" "$record" "$1" $mib "$file")
  figure "$1: record" "${recorded:-0}" MiB/s "${plain:--}" "plain write" ">= 1024"
  rm -f "$file"
}

figure_head "the best of many rounds"
record_row 8dw
record_row 4dw
figure "model: load full" "$(best 3 1 1 "${calm[@]}" build/bench/kunpeng full)" M/s - "" ">= 10"
figure "model: load ingest" "$(best 3 1 1 "${calm[@]}" build/bench/kunpeng ingest)" M/s - "" -
format_rows 8dw 2048 800
format_rows 4dw 1228.8 400
for load in full ingest; do former_row "model: load $load" M/s 5 kunpeng $load; done
instruction_row 8dw count 103.55
instruction_row 8dw match 263.91
instruction_row 4dw count 95.94
instruction_row 4dw match 256.63
figure_end
