#!/bin/bash
# ptt.sh [-q] - traces of PCIe packets: what is counted per second of CPU time, beside a plain read of the same mapped
# file, and beside `perf report -D` where perf is installed (it prints; nothing else of perf reads these records).
#
# Generated traces, the same each time. Of three turns the best counts, and in each the best of many rounds, of one thread the
# best of each MiB, since a busy neighbour can only slow one down; a turn waits for a calm CPU, for a while.  Each target is
# said to be met or not.  Exit 1 when one is not.  -q: small traces, for a quick look.
#
#   count   statistics without matching      match   requests with their completions, latency
#   record  device, driver, AUX ring, perf.data writer and a file on a tmpfs, beside a plain write of as many bytes there
#   model   packets that the model of the devices' machine makes, under the fullest load and of one kind only
#   2 CPUs  the same in two threads, by the clock on the wall; beside two runs at once of one thread each, which is what
#           two CPUs of this machine can give (they may be halves of one core)
set -u
cd "$(dirname "$0")/.." || exit 1
mib=256 perf_mib=16 patience=10
[ "${1:-}" = -q ] && mib=32 perf_mib=4 patience=1
ptt=build/bench/ptt record=build/bench/record
for b in $ptt $record build/bench/kunpeng; do [ -x $b ] || { echo "bench/ptt.sh: no $b (make bench)" >&2; exit 3; }; done
work=$(mktemp -d) memory=$(mktemp -d -p /dev/shm)
trap 'rm -rf "$work" "$memory"' EXIT
trap 'exit 130' INT TERM
. bench/table.sh

cpu() { best 3 1 1 "${calm[@]}" "$ptt" "$@"; }
wall() { best 3 1 2 "${all_calm[@]}" "$ptt" "$@"; }
# Two runs at once: the sum of both.
at_once() { "${all_calm[@]}" bash -c '"$@" & "$@"; wait' at_once "$ptt" "$@" | awk '{ s += $2 } END { print s }'; }
twice() { best 3 1 1 at_once "$@"; }

format_rows() { # FORMAT COUNT-TARGET MATCH-TARGET
  local file=$work/$1.raw read
  "$ptt" make "$1" $mib "$file" || { echo "bench/ptt.sh: no trace" >&2; exit 1; }
  read=$(cpu read "$1" "$file")
  figure "$1: count" "$(cpu count "$1" "$file")" MiB/s "$read" "plain read" ">= $2"
  figure "$1: match" "$(cpu match "$1" "$file")" MiB/s "$read" "plain read" ">= $3"
  figure "$1: count on 2 CPUs" "$(wall count2 "$1" "$file")" MiB/s "$(twice count "$1" "$file")" "two runs at once" -
  figure "$1: match on 2 CPUs" "$(wall match2 "$1" "$file")" MiB/s "$(twice match "$1" "$file")" "two runs at once" -
  rm -f "$file"
  perf_row "$1"
  program_rows "$1"
}
user() { local TIMEFORMAT=%U; { time "$@" >/dev/null 2>&1; } 2>&1; }    # COMMAND...: its seconds of user time
per() { awk -v n="$1" -v s="$2" 'BEGIN { print (s > 0 ? n / s : 0) }'; }
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
figure_end
