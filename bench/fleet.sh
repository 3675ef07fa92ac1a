#!/bin/bash
# fleet.sh [-q] - what a fleet of services costs the Prometheus that scrapes it: memory and CPU time by series and by sample.
#
# One process stands for all hosts: behind a path for each it answers what one `tally serve` said. 100 hosts are scraped, then 1,000, by a Prometheus of its own
# each; the difference is the slope that doc/fleet.md reckons with. -q: 20 and 200 hosts.
set -u
cd "$(dirname "$0")/.." || exit 1
few=100 many=1000 series=100 interval=10
[ "${1:-}" = -q ] && few=20 many=200
[ -x build/tally ] || { echo "bench/fleet.sh: no build/tally (make)" >&2; exit 3; }
for b in curl perl prometheus python3; do command -v $b >/dev/null || { echo "bench/fleet.sh: no $b" >&2; exit 3; }; done
work=$(mktemp -d)
server='' hosts='' prom=''
trap 'for p in $server $hosts $prom; do kill $p; done; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
. bench/table.sh

said() { # FILE PATTERN PID: what the pattern's group matches there, once it does
  local got
  until got=$(sed -n "s/$2/\\1/p;T;q" "$work/$1" 2>/dev/null) && [ -n "$got" ]; do kill -0 "$3" || { cat "$work/$1" >&2; exit 3; }; done
  echo "$got"
}
page_of_one_host() {
  printf 'syscall::lseek:entry /execname == "perl" && arg2 == 0 && arg1 > 0/ { @seeks[arg1] = count(); }\n' >"$work/seeks.d"
  build/tally serve -s "$work/seeks.d" --listen 127.0.0.1:0 2>"$work/log" &
  server=$!
  local port
  port=$(said log '.* on port \(.*\)' $server)
  perl -e 'for my $i (1 .. $ARGV[0]) { sysseek(STDIN, $i, 0) }' $series <"$work/seeks.d"
  curl -sf -o "$work/page" "http://127.0.0.1:$port/metrics"
  kill $server
  wait $server
  server=
}
stand_for_hosts() {
  python3 - "$work/page" >"$work/hosts" <<'P' &
import asyncio, sys
page = open(sys.argv[1], 'rb').read()
answer = b'HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: %d\r\n\r\n' % len(page) + page
async def serve(reader, writer):
    try:
        while await reader.readuntil(b'\r\n\r\n'):
            writer.write(answer)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    writer.close()
async def main():
    s = await asyncio.start_server(serve, '127.0.0.1', 0, backlog=2000)
    print('port', s.sockets[0].getsockname()[1], flush=True)
    await s.serve_forever()
asyncio.run(main())
P
  hosts=$!
  at=127.0.0.1:$(said hosts 'port \(.*\)' $hosts)
}
query() { curl -s "http://127.0.0.1:$api/api/v1/query" --data-urlencode "query=$1" | sed -n 's/.*"value":\[[^,]*,"\([^"]*\)".*/\1/p'; }
cpu_ns() { awk '{ n += $1 } END { print n }' /proc/$prom/task/*/schedstat; }
# scrape HOSTS: $got_series, $got_mb, $got_us of CPU a second, $got_ms a scrape.
scrape() {
  local before after
  awk -v n="$1" -v at="$at" 'BEGIN { printf "["; for (i = 1; i <= n; i++) printf "%s{\"targets\":[\"%s\"],\"labels\":{\"host\":\"h%d\",\"__metrics_path__\":\"/%d\"}}", (i > 1 ? "," : ""), at, i, i; print "]" }' >"$work/hosts.json"
  printf 'global: { scrape_interval: %ss }\nscrape_configs: [ { job_name: tally, file_sd_configs: [ { files: [ hosts.json ] } ] } ]\n' $interval >"$work/prometheus.yml"
  prometheus --config.file="$work/prometheus.yml" --storage.tsdb.path="$work/data$1" --web.listen-address=127.0.0.1:0 >"$work/prom$1" 2>&1 &
  prom=$!
  api=$(said "prom$1" '.*address=127.0.0.1:\([1-9][0-9]*\).*' $prom)
  until [ "$(query 'count(up == 1)')" = "$1" ]; do sleep 1; done
  sleep $((2 * interval)) # each host was scraped again
  before=$(cpu_ns)
  sleep $((3 * interval))
  after=$(cpu_ns)
  [ "$(query 'count(up == 1)')" = "$1" ] || { echo "bench/fleet.sh: hosts were not scraped" >&2; exit 3; }
  got_series=$(query 'count({host!=""})')
  got_ms=$(query 'avg(scrape_duration_seconds) * 1000')
  got_mb=$(awk '/^VmRSS/ { print $2 / 1024 }' /proc/$prom/status)
  got_us=$(awk "BEGIN { print ($after - $before) / 1000 / (3 * $interval) }")
  kill $prom
  wait $prom
  prom=
}

figure_head "a fleet"
page_of_one_host
stand_for_hosts
scrape $few
less_series=$got_series less_mb=$got_mb less_us=$got_us
scrape $many
figure "$many hosts of $series keys: series" "$got_series" "" - - -
figure "$many hosts: Prometheus: resident" "$got_mb" MiB - - -
figure "$many hosts: a scrape" "$got_ms" ms - - -
figure "a series more: memory of Prometheus" "$(awk "BEGIN { print ($got_mb - $less_mb) * 1024 / ($got_series - $less_series) }")" KiB - - "<= 8"
figure "a sample more: CPU time of Prometheus" "$(awk "BEGIN { print ($got_us - $less_us) * $interval / ($got_series - $less_series) }")" us - - "<= 10"
figure_end
