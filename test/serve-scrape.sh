#!/bin/bash
# serve-scrape.sh - a real Prometheus scrapes `tally serve` each 2 seconds for SCRAPE_SECONDS (120), of programs, platforms and a PTT device, while
# a storm runs that counts itself.  No scrape fails, Prometheus complains of nothing, no counter falls, and what it has stored at the end is what
# the storm did, with the losses told.  Speaks TAP.
set -u
cd "$(dirname "$0")/.." || exit 1
PATH=$PATH:$PWD/build/prometheus/usr/bin # where check.sh unpacks it
seconds=${SCRAPE_SECONDS:-120} what="Prometheus scrapes for $seconds s, without a complaint, and has what was counted"
echo 1..1
skip() { echo "ok 1 $what # SKIP $1"; exit 0; }
[ "$(id -u)" -eq 0 ] || skip "loading BPF programs needs root here"
command -v prometheus >/dev/null && command -v promtool >/dev/null || skip "no prometheus with promtool"
ldconfig -p | grep -q libmicrohttpd.so.12 || skip "no libmicrohttpd"
dir=$(mktemp -d) server='' prom='' storm=''
finish() { touch "$dir/stop"; kill $server $prom 2>/dev/null; wait; rm -rf "$dir"; }
trap finish EXIT
fail() { echo "# $1"; tail -n 20 "$dir/log" "$dir/prom.log" | sed 's/^/# /'; echo "not ok 1 $what"; exit 1; }
cat >"$dir/scraped.d" <<D
syscall::read:entry /execname == "scraped-$$" && arg2 == 1/ { @storm = count(); @sizes = quantize(arg2); @by[pid] = count(); }
D
: >"$dir/log"
build/tally serve -s "$dir/scraped.d" --on local -e page-faults --on power --view partitions --on niagara -e mmustat/all/ \
  --on kunpeng,load=nvme -e hisi_ptt0_2/filter=00:10.0,type=7,direction=2/ --listen 127.0.0.1:0 2>"$dir/log" &
server=$!
until grep -q 'on port' "$dir/log"; do kill -0 $server || fail "the service did not begin"; done
at=127.0.0.1:$(sed -n 's/.* on port //p' "$dir/log")
cat >"$dir/prom.yml" <<Y
global: { scrape_interval: 2s, scrape_timeout: 2s }
scrape_configs: [ { job_name: t, static_configs: [ { targets: ["$at"] } ] } ]
Y
prometheus --config.file="$dir/prom.yml" --storage.tsdb.path="$dir/data" --web.listen-address=127.0.0.1:0 >"$dir/prom.log" 2>&1 &
prom=$!
until api=$(sed -n 's/.*address=127.0.0.1:\([1-9][0-9]*\).*/\1/p;T;q' "$dir/prom.log") && [ -n "$api" ]; do kill -0 $prom || fail "Prometheus did not begin"; done
stored() { promtool query instant "http://127.0.0.1:$api" "$1" 2>/dev/null | sed 's/.* => \([^ ]*\) @.*/\1/'; }
cp "$(command -v dd)" "$dir/scraped-$$"
for ((reads = 0; ; reads += 2000)); do
  echo $reads >"$dir/reads"
  [ ! -e "$dir/stop" ] && "$dir/scraped-$$" if=/dev/zero of=/dev/null bs=1 count=2000 2>/dev/null || break
  read -rt 0.5 <> <(:)
done &
storm=$!
until [ "$(stored 'count_over_time(up[2h])')" -ge $((seconds / 2)) ] 2>/dev/null; do
  kill -0 $server || fail "the service ended"
  kill -0 $prom || fail "Prometheus ended"
  read -rt 1 <> <(:)
done
touch "$dir/stop"
wait $storm
reads=$(cat "$dir/reads")
until [ "$(stored "tally_storm_total >= bool $reads - tally_firings_lost_total")" = 1 ]; do kill -0 $prom || fail "Prometheus ended"; done
have=$(stored tally_storm_total) lost=$(stored tally_firings_lost_total)
packets=$(stored 'sum(tally_ptt_packets_total)') series=$(stored 'count({job="t"})')
echo "# $(stored 'count_over_time(up[2h])') scrapes, the longest $(stored 'max_over_time(scrape_duration_seconds[2h])') s, $series series;" \
  "$reads reads, $have stored, $lost lost; $packets packets"
[ "$(stored 'min_over_time(up[2h])')" = 1 ] || fail "a scrape failed"
[ "$(stored 'count(tally_up == 1)')" = 5 ] || fail "not all programs and platforms run"
[ "$(stored 'sum(resets(tally_storm_total[2h])) + sum(resets(tally_ptt_packets_total[2h])) + sum(resets(tally_sizes_count[2h]))')" = 0 ] || fail "a counter fell"
[ "$have" -le "$reads" ] && [ $((have + lost)) -ge "$reads" ] && [ "${packets%.*}" != "" ] || fail "what is stored is not what was counted"
! grep -E 'level=(warn|error)' "$dir/prom.log" || fail "Prometheus complains"
curl -sf "http://$at/metrics" | promtool check metrics || fail "promtool complains"
echo "ok 1 $what"
