#!/bin/bash
# serve.sh [-q] - `tally serve`: what a scrape of 1,000 and of 10,000 series costs, and what a service costs that nobody asks.
#
# A program counts one system call by its argument, so its series are as many as the arguments that a loop makes. CPU time is the service's own, user
# and system (the kernel's nanoseconds of /proc/PID/schedstat), over so many scrapes by one client. The answer is in text 0.0.4 and uncompressed.
# The best of three turns counts. Idle: the same program runs, and nothing that it counts happens. -q: fewer scrapes.
set -u
cd "$(dirname "$0")/.." || exit 1
scrapes=50 idle=20
[ "${1:-}" = -q ] && scrapes=10 idle=3
for b in build/tally build/bench/clock; do [ -x $b ] || { echo "bench/serve.sh: no $b (make bench)" >&2; exit 3; }; done
for b in curl perl; do command -v $b >/dev/null || { echo "bench/serve.sh: no $b" >&2; exit 3; }; done
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
. bench/table.sh

cpu_ns() { cut -d' ' -f1 "/proc/$server/schedstat"; }
resident_mb() { awk '/^VmRSS/ { print $2 / 1024 }' "/proc/$server/status"; }
start() { # SERIES
  printf 'syscall::lseek:entry /execname == "perl" && arg2 == 0 && arg1 > 0/ { @seeks[arg1] = count(); }\n' >"$work/seeks.d"
  build/tally serve -x maxseries="$1" -s "$work/seeks.d" --listen 127.0.0.1:0 2>"$work/log" &
  server=$!
  until port=$(sed -n 's/.* on port //p' "$work/log") && [ -n "$port" ]; do kill -0 "$server" || { cat "$work/log"; exit 3; }; done
}
stop() { kill "$server"; wait "$server"; server=; }
scrape() { curl -sf -o "$work/page" "http://127.0.0.1:$port/metrics"; }
scrape_ms() {
  local before after i
  before=$(cpu_ns)
  for ((i = 0; i < scrapes; i++)); do scrape; done
  after=$(cpu_ns)
  awk "BEGIN { print ($after - $before) / $scrapes / 1e6 }"
}
scrape_rows() { # SERIES MS LIMIT OF ITS SIZE
  start "$1"
  perl -e 'for my $i (1 .. $ARGV[0]) { sysseek(STDIN, $i, 0) }' "$1" <"$work/seeks.d"
  scrape
  [ "$(grep -c '^tally_seeks_total' "$work/page")" -eq "$1" ] || { echo "bench/serve.sh: not $1 series" >&2; exit 3; }
  figure "scrape of $1 series: CPU time" "$(best 3 0 1 scrape_ms)" ms - - "<= $2"
  figure "scrape of $1 series: answer" "$(awk "BEGIN { print $(wc -c <"$work/page") / 1048576 }")" MiB - - "$3"
  figure "after scrapes of $1 series: resident" "$(resident_mb)" MiB - - -
  stop
}
idle_rows() {
  local before after
  start 1000
  sleep 2 # what comes of starting is over
  before=$(cpu_ns)
  sleep $idle
  after=$(cpu_ns)
  figure "idle service: CPU" "$(awk "BEGIN { print ($after - $before) / ($idle * 1e9) * 100 }")" % - - "<= 0.1"
  figure "idle service: resident" "$(resident_mb)" MiB - - "<= 20"
  stop
}

figure_head "tally serve"
scrape_rows 1000 2 -
scrape_rows 10000 20 "<= 5"
idle_rows
figure_end
