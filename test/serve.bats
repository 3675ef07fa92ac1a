#!/usr/bin/env bats
# tally serve: D programs as a service, and their aggregations as metrics.

bats_require_minimum_version 1.5.0
load common
load service

# The metrics have this line.
counts() { metrics | grep -qxF -- "$1" || { echo "not there: $1"; metrics; return 1; }; }

# One program that needs no event, whose numbers are known.
known_program() {
  cat >known.d <<'D'
/* Things that happened. */
BEGIN
{
	@things[execname == "" ? "" : "a\"b", 7] = count();
	@things["c", -1] = count();
	@things["c", -1] = count();
	@amount = sum(40);
	@amount = sum(2);
	@least = min(3);
	@most = max(-5);
	@mean_us = avg(10);
	@mean_us = avg(20);
	@spread_ms = quantize(3);
	@spread_ms = quantize(100, 2);
	@steps = lquantize(25, 0, 40, 10);
}
D
}

@test "each aggregating function becomes the metric that fits it, with exact numbers" {
  needs_http
  known_program
  serve -s known.d
  counts 'tally_things_total{program="known",execname_a_b="a\"b",key="7"} 1' 2>/dev/null || metrics | grep -E '^tally_things_total.*a\\"b.* 1$'
  metrics | grep -E '^tally_things_total.*"c".*"-1"} 2$'
  counts 'tally_amount{program="known"} 42'
  counts 'tally_least{program="known"} 3'
  counts 'tally_most{program="known"} -5'
  counts 'tally_mean_seconds_sum{program="known"} 3e-05'
  counts 'tally_mean_seconds_count{program="known"} 2'
  counts 'tally_spread_seconds_bucket{program="known",le="0.003"} 1'
  counts 'tally_spread_seconds_bucket{program="known",le="0.127"} 3'
  counts 'tally_spread_seconds_bucket{program="known",le="+Inf"} 3'
  counts 'tally_spread_seconds_sum{program="known"} 0.203'
  counts 'tally_steps_bucket{program="known",le="29.0"} 1'
  counts 'tally_steps_sum{program="known"} 25'
  counts '# HELP tally_things_total Things that happened.'
  counts 'tally_up{program="known"} 1'
  counts 'tally_drops_total{program="known",kind="aggregation"} 0'
}

@test "what was counted before the first scrape has counted since the program began" {
  needs_http
  known_program
  serve -s known.d
  before=$(date +%s.%N)
  metrics -H 'Accept: application/openmetrics-text; version=1.0.0' >open
  grep '_created{' open
  [ "$(grep -c '_created{' open)" = 5 ]
  awk -v before="$before" '/_created[{]/ && $NF + 0 > before + 0 { late = 1 } END { exit late }' open
}

@test "a counter that was cleared has a new beginning, also when it is more than it was" {
  needs_http
  cat >reads.d <<'D'
syscall::read:entry /execname == "serve-reader" && arg0 == 0/ { @reads[execname] = count(); @sizes[arg2] = count(); }
syscall::read:entry /execname == "serve-clear" && arg0 == 0/ { clear(@reads); trunc(@sizes, 1); printf("cleared\n"); }
D
  serve -s reads.d
  reads() { ./serve-reader if=/dev/zero of=/dev/null bs="$1" count="$2" 2>/dev/null; }
  value() { sed -n "s/^tally_$2{.*\(execname=\"serve-reader\"\|arg2=\"$3\"\)} //p" "$1"; } # FILE NAME [SIZE]
  scrape() { metrics -H 'Accept: application/openmetrics-text; version=1.0.0' >"$1"; }
  cp "$(command -v dd)" serve-reader
  cp serve-reader serve-clear
  reads 1 300
  reads 7 20
  before=$(date +%s.%N)
  scrape first
  [ "$(value first reads_total)" = 320 ]
  ./serve-clear if=/dev/zero of=/dev/null bs=1 count=1 2>/dev/null
  until_log 'reads: cleared$'
  reads 7 400
  scrape second
  [ "$(value second reads_total)" = 400 ]
  [ "$(value second sizes_total 7)" = 400 ]
  awk -v a="$(value second reads_created)" -v b="$(value second sizes_created 7)" -v t="$before" 'BEGIN { exit !(a > t - 0.002 && b > t - 0.002) }'
  [ "$(value second sizes_total 1)" = 300 ] # trunc() left it
  [ "$(value second sizes_created 1)" = "$(value first sizes_created 1)" ]
  scrape third
  [ "$(value third reads_created)" = "$(value second reads_created)" ]
}

@test "what /metrics counts of system calls is what a program made" {
  needs_http
  echo 'syscall::read:entry /execname == "serve-reader" && arg0 == 0/ { @reads[execname] = count(); }' >reads.d
  serve -s reads.d
  read_calls 20000
  counts 'tally_reads_total{program="reads",execname="serve-reader"} 20000'
  read_calls 2345
  counts 'tally_reads_total{program="reads",execname="serve-reader"} 22345'
}

@test "promtool and the reference parser of OpenMetrics take both formats" {
  needs_http
  known_program
  serve -s known.d
  metrics >text
  metrics -H 'Accept: application/openmetrics-text; version=1.0.0' >open
  [ "$(tail -n 1 open)" = '# EOF' ]
  run ! grep -q '# EOF' text
  [[ "$(curl -sI "$at/metrics")" == *"text/plain; version=0.0.4"* ]]
  [[ "$(curl -sI -H 'Accept: application/openmetrics-text' "$at/metrics")" == *"application/openmetrics-text; version=1.0.0"* ]]
  checked=
  if command -v promtool >/dev/null; then
    promtool check metrics <text
    checked=1
  fi
  export PYTHONPATH=$BATS_TEST_DIRNAME/../build/prometheus/usr/lib/python3/dist-packages
  if /usr/bin/python3 -c 'import prometheus_client' 2>/dev/null; then
    /usr/bin/python3 - open <<'P'
import sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families
family = {f.name: f for f in text_string_to_metric_families(open(sys.argv[1]).read())}
assert family['tally_things'].type == 'counter', family['tally_things']
assert sum(s.value for s in family['tally_things'].samples if s.name == 'tally_things_total') == 3
assert family['tally_spread_seconds'].type == 'histogram' and family['tally_spread_seconds'].unit == 'seconds'
P
    checked=1
  fi
  [ -n "$checked" ] || skip "neither promtool nor python3-prometheus-client"
}

@test "--check says which metrics there will be, and what is none" {
  needs_bpf
  known_program
  echo 'profile-97 { @s[stack()] = count(); } BEGIN { @x[pid] = count(); }' >stacks.d
  run --separate-stderr "$TALLY" serve --check -s known.d -s stacks.d
  [ "$status" -eq 0 ]
  grep -qx 'known: tally_amount{program} gauge' <<<"$output"
  grep -qx 'stacks: tally_x_total{program,pid} counter' <<<"$output"
  [[ "$stderr" == *"stacks: @s has a stack in its key: stacks are no labels, and become no metric; /folded has them"* ]]
  echo 'BEGIN { nonsense' >broken.d
  run --separate-stderr "$TALLY" serve --check -s known.d -s broken.d
  [ "$status" -eq 1 ]
  [[ "$stderr" == *"broken: failed to compile script broken.d"* ]]
}

@test "a program that fails does not end the others, and says why" {
  needs_http
  known_program
  echo 'BEGIN { nonsense' >broken.d
  serve -s known.d -s broken.d
  counts 'tally_up{program="known"} 1'
  counts 'tally_up{program="broken"} 0'
  curl -sf "$at/status" | grep -q '"program":"broken","file":"broken.d","state":"failed","reason":"failed to compile script broken.d'
}

@test "a program with destructive actions says which option allows them, and with that it runs" {
  needs_http
  echo 'BEGIN { system("true"); @n = count(); }' >bare.d
  (echo '#pragma D option destructive' && cat bare.d) >allowed.d
  serve -s bare.d -s allowed.d
  counts 'tally_up{program="bare"} 0'
  counts 'tally_n_total{program="allowed"} 1'
  curl -sf "$at/status" | grep -qF "'#pragma D option destructive' in it allows them"
  run -1 "$TALLY" serve -s bare.d --check
  [[ $output == *"'#pragma D option destructive' in it allows them"* ]]
  "$TALLY" serve -s allowed.d --check
  cp bare.d allowed.d # what ran goes on
  kill -HUP "$server"
  until_log 'reloaded: 2 programs, 2 failed'
  counts 'tally_up{program="allowed"} 1'
  counts 'tally_n_total{program="allowed"} 1'
}

@test "what is lost for ever is logged at once, and not each second" {
  needs_http
  cat >full.d <<'D'
#pragma D option aggsize=4k
profile-97 { @n[timestamp] = count(); }
tick-1s { printf("turn"); }
D
  serve -s full.d
  until_log 'full: [0-9]+ aggregation drops?$'
  : >log
  until [ "$(grep -ac 'full: turn' log)" -ge 4 ]; do kill -0 "$server"; done
  run ! grep -a drop log
  curl -sf "$at/metrics" | grep -q '^tally_drops_total{program="full",kind="aggregation"} [1-9]'
  ends_with 0 "$server" kill "$server"
  server=
  [ "$(grep -acE 'full: [0-9]+ aggregation drops$' log)" -eq 1 ] # those since
}

@test "a program that calls exit() has ended, and keeps what it counted" {
  needs_http
  echo 'BEGIN { @n = count(); } tick-10ms { exit(3); }' >short.d
  serve -s short.d
  until_log 'short: ended'
  counts 'tally_up{program="short"} 0'
  counts 'tally_n_total{program="short"} 1'
  curl -sf "$at/status" | grep -qF '"state":"ended","reason":"it called exit(3)"'
}

@test "SIGHUP reads the programs again; one that did not change counts on, and a broken new text changes nothing" {
  needs_http
  mkdir d
  echo 'syscall::read:entry /execname == "serve-reader" && arg0 == 0/ { @reads = count(); }' >d/reads.d
  echo 'BEGIN { @old = count(); }' >d/other.d
  serve -d d
  read_calls 100
  echo 'BEGIN { @new = count(); }' >d/other.d
  echo 'BEGIN { @third = count(); }' >d/third.d
  kill -HUP "$server"
  until_log 'reloaded: 3 programs, 0 failed'
  read_calls 23
  counts 'tally_reads_total{program="reads"} 123'
  counts 'tally_new_total{program="other"} 1'
  counts 'tally_third_total{program="third"} 1'
  run ! grep -q tally_old <<<"$(metrics)"
  echo 'BEGIN {' >d/other.d
  rm d/third.d
  kill -HUP "$server"
  until_log 'reloaded: 2 programs, 1 failed'
  counts 'tally_new_total{program="other"} 1'
  counts 'tally_up{program="other"} 1'
  run ! grep -q tally_third <<<"$(metrics)"
  curl -sf "$at/status" | grep -q '"program":"other",.*"state":"running","reason":"failed to compile'
  curl -sf "$at/status" | grep -qF '"reload":{"reason":""}'
  chmod go+w d
  kill -HUP "$server"
  until_log 'reload: d: its group or others may write it'
  curl -sf "$at/status" | grep -qF '"reload":{"reason":"d: its group or others may write it'
}

@test "a program of -s whose file is gone counts on and says so, also when nohup had SIGHUP ignored" {
  needs_http
  echo 'BEGIN { @kept = count(); }' >one.d
  trap '' HUP # what nohup does
  serve -s one.d
  trap - HUP
  rm one.d
  kill -HUP "$server"
  until_log 'reloaded: 1 program, 1 failed'
  counts 'tally_kept_total{program="one"} 1'
  counts 'tally_up{program="one"} 1'
  curl -sf "$at/status" | grep -qF '"state":"running","reason":"one.d: No such file or directory"'
}

@test "only files that nobody else may write are taken" {
  needs_bpf
  known_program
  chmod o+w known.d
  run "$TALLY" serve --check -s known.d
  [ "$status" -eq 1 ]
  has "known.d: its group or others may write it; as its owner: chmod go-w known.d"
  chmod 644 known.d
  chown 65534 known.d
  run "$TALLY" serve --check -s known.d
  [ "$status" -eq 1 ]
  has "known.d belongs to user 65534: it must belong to root"
  mkfifo pipe.d
  run "$TALLY" serve --check -s pipe.d
  [ "$status" -eq 1 ]
  has "pipe.d is not a regular file"
  mkdir all
  chmod 777 all
  run "$TALLY" serve --check -d all
  said 4 "tally: all: its group or others may write it; as its owner: chmod go-w all"
}

@test "it listens on the loopback network alone, and says who has the port" {
  known_program
  run "$TALLY" serve -s known.d --listen 0.0.0.0:0
  said 2 "tally: 0.0.0.0:0 is no loopback address: that requires TLS and users, which a file of --web.config.file has (tls_server_config and basic_auth_users)"
  run "$TALLY" serve -s known.d --listen localhost
  said 2 "tally: invalid address 'localhost' (expected e.g. 127.0.0.1:7347)"
  needs_http
  serve -s known.d
  run "$TALLY" serve -s known.d --listen "${at#http://}"
  said 1 "tally: failed to listen on ${at#http://}: another process has the port; choose one with --listen"
}

@test "keys beyond maxseries are one series, and are counted" {
  needs_http
  echo 'BEGIN { @k[1] = sum(1); @k[2] = sum(20); @k[3] = sum(300); @k[4] = sum(4000); }' >keys.d
  serve -x maxseries=2 -s keys.d
  metrics | grep -q '^tally_k{program="keys",.*="4"} 4000$'
  metrics | grep -q '^tally_k{program="keys",.*="3"} 300$'
  metrics | grep -q '^tally_k{program="keys",.*other="true"} 21$'
  counts 'tally_series_folded{program="keys",metric="tally_k"} 2'
}

@test "keys that come and go: each is counted, and neither series nor memory stays behind" {
  needs_http
  command -v perl >/dev/null || skip "no perl"
  cp "$(command -v perl)" serve-seeker
  cat >keys.d <<'D'
syscall::lseek:entry /execname == "serve-seeker" && arg2 == 0 && arg1 > 0/ { @seeks[arg1] = count(); }
syscall::lseek:entry /execname == "serve-seeker" && arg2 == 1 && arg1 == 77/ { trunc(@seeks); }
D
  serve -s keys.d
  resident() { awk '/^VmRSS/ { print $2 }' "/proc/$server/status"; }
  for round in $(seq 24); do
    ./serve-seeker -e 'for my $i (1 .. 2000) { sysseek(STDIN, $ARGV[0] * 2000 + $i, 0) }' "$round" <keys.d
    metrics | grep '^tally_seeks_total' >came
    [ "$(wc -l <came)" -eq 1001 ] # a thousand, and one for the others
    [ "$(awk '{ n += $2 } END { print n }' came)" -eq 2000 ]
    counts 'tally_series_folded{program="keys",metric="tally_seeks"} 1000'
    ./serve-seeker -e 'sysseek(STDIN, 77, 1)' <keys.d
    while metrics | grep -q '^tally_seeks_total'; do kill -0 "$server"; done
    [ "$round" -ne 8 ] || before=$(resident)
  done
  echo "$before kB, $(resident) kB"
  [ "$(resident)" -le $((before + 1024)) ]
}

@test "two programs share a metric's name when its type is the same" {
  needs_http
  echo 'BEGIN { @n = count(); }' >a.d
  echo 'BEGIN { @n = count(); @n = count(); }' >b.d
  echo 'BEGIN { @n = sum(1); }' >c.d
  serve -s a.d -s b.d -s c.d
  counts 'tally_n_total{program="a"} 1'
  counts 'tally_n_total{program="b"} 2'
  [ "$(metrics | grep -c '^# TYPE tally_n_total ')" -eq 1 ]
  run ! grep -q 'tally_n{program="c"}' <<<"$(metrics)"
  grep -q 'c: tally_n is left out: another program has a metric of this name and another type' log
}

@test "a series stands once, though two aggregations or events make one name" {
  needs_http
  echo 'BEGIN { @n_ns = sum(7000000000); @n_ms = sum(5000); }' >twice.d
  serve -s twice.d --on local -e cpu-clock,cpu_clock
  [ "$(metrics | grep '^tally_n_seconds{')" = 'tally_n_seconds{program="twice"} 7.0' ]
  [ "$(metrics | grep -c '^tally_cpc_cpu_clock_seconds_total{')" -eq 1 ]
  grep -q 'twice: tally_n_seconds of @n_ms is left out: @n_ns has this name already; rename one of the two' log
  grep -q 'local: tally_cpc_cpu_clock_seconds of cpc_cpu_clock is left out: cpc_cpu-clock has this name already$' log
}

# PCP's collector with its agent for OpenMetrics and no other, on a name space of its own: nothing needs to be installed as a service.
@test "the OpenMetrics agent of PCP reads what the service counts" {
  needs_http
  agent=/var/lib/pcp/pmdas/openmetrics/pmdaopenmetrics.python
  [ -f /etc/pcp.env ] && [ -f "$agent" ] && /usr/bin/python3 -c 'import pcp, requests' 2>/dev/null ||
    skip "no PCP with its OpenMetrics agent (apt-get install pcp python3-requests)"
  pmcd=$(. /etc/pcp.env && echo "$PCP_BINADM_DIR/pmcd")
  echo 'BEGIN { @things["a b"] = count(); @things["c"] = count(); @things["c"] = count(); @spread = quantize(5); @spread = quantize(300); }' >known.d
  serve -s known.d
  mkdir config.d
  echo "$at/metrics" >config.d/tally.url
  printf 'root {\n\topenmetrics\t144:*:*\n}\n' >root
  printf 'openmetrics\t144\tpipe\tbinary notready\t%s\n' "/usr/bin/python3 $agent -c $PWD/config.d -l $PWD/agent.log -t 30" >pmcd.conf
  PCP_RUN_DIR=$PWD PCP_TMP_DIR=$PWD PCP_LOG_DIR=$PWD "$pmcd" -f -A -U "$(id -un)" -i 127.0.0.1 -p 0 -s "$PWD/pmcd.socket" -n "$PWD/root" -c "$PWD/pmcd.conf" -l "$PWD/pmcd.log" -x "$PWD/fatal" 3>&- &
  collector=$!
  shown() { pminfo -h "local:/$PWD/pmcd.socket" -f openmetrics.tally.tally_things_total openmetrics.tally.tally_spread_sum 2>&1; }
  until [[ "$(shown)" == *value* ]]; do kill -0 "$collector" || { cat pmcd.log agent.log; return 1; }; done
  shown
  [[ "$(shown)" == *'key:a b program:known"] value 1'* ]]
  [[ "$(shown)" == *'key:c program:known"] value 2'* ]]
  [[ "$(shown)" == *'program:known"] value 305'* ]]
}

@test "no metric is called as the samples of another one" {
  needs_http
  echo 'BEGIN { @read = quantize(4); @read_sum = sum(5); @lat = avg(3); @lat_count = max(6); @lat_most = max(7); @n = count(); @n_sum = sum(8); }' >samples.d
  serve -s samples.d
  [ "$(metrics | grep '^tally_read_sum{')" = 'tally_read_sum{program="samples"} 4' ]
  [ "$(metrics | grep '^tally_lat_count{')" = 'tally_lat_count{program="samples"} 1' ]
  counts 'tally_lat_most{program="samples"} 7'
  counts 'tally_n_sum{program="samples"} 8'
  grep -q 'samples: tally_read_sum is left out: tally_read of samples has samples of this name; rename the aggregation' log
  grep -q 'samples: tally_lat_count is left out: tally_lat of samples has samples of this name; ' log
  if command -v promtool; then # it advises against names like n_sum
    [[ "$(promtool check metrics <<<"$(metrics)" 2>&1)" != *'parsing error'* ]]
  fi
}

@test "a program has no metric by a name of the service's own" {
  needs_http
  echo 'BEGIN { @up = sum(7); @scrapes = count(); @ups = sum(8); }' >mine.d
  serve -s mine.d
  counts 'tally_ups{program="mine"} 8'
  counts 'tally_up{program="mine"} 1'
  [ "$(metrics | grep -c '^# TYPE tally_up ')" -eq 1 ]
  grep -q 'mine: tally_up is left out: the service itself has a metric of this name; rename the aggregation' log
  grep -q 'mine: tally_scrapes is left out: ' log
}

@test "requests that change something are refused, and nothing else is there" {
  needs_http
  known_program
  serve -s known.d
  [ "$(curl -s -o /dev/null -w '%{http_code}' -X POST -d x=1 "$at/metrics")" = 405 ]
  [ "$(curl -s -o /dev/null -w '%{http_code}' "$at/../etc/passwd")" = 404 ]
  [ "$(curl -s -o /dev/null -w '%{http_code}' "$at/nothing")" = 404 ]
  for host in localhost 127.0.0.1 '[::1]' "${at#http://}"; do
    [ "$(curl -s -o /dev/null -w '%{http_code}' -H "Host: $host" "$at/metrics")" = 200 ]
  done
  [ "$(curl -s -o page -w '%{http_code}' -H 'Host: rebound.example' "$at/metrics")" = 421 ]
  grep -qF "without users this service has the names localhost, 127.0.0.1 and [::1] only" page
  curl -sf -x "$at" http://127.0.0.1/help | grep -q '^/metrics ' # as a proxy is asked
  [ "$(curl -s -o /dev/null -w '%{http_code}' -I "$at/metrics")" = 200 ]
  printf 'GET /metrics HTTP/1.1\r\nHost' >"/dev/tcp/127.0.0.1/${at##*:}" # half a request
  counts 'tally_up{program="known"} 1'
}

@test "what a program prints goes to the log with its name in front" {
  needs_http
  echo 'BEGIN { printf("hello %d\n", 5); @n = count(); }' >talk.d
  serve -s talk.d
  until_log '^tally: talk: hello 5$'
  kill "$server"
  wait "$server"
  server=
  [ "$(grep -c hello log)" -eq 1 ]
}

@test "what END prints when a program ends goes to the log, by itself, by a reload and with the service; aggregations only by printa()" {
  needs_http
  mkdir d
  talks() { echo "BEGIN { @n[\"$1\"] = sum(41); @kept[\"$1 kept\"] = count(); $2 } END { printf(\"bye \"); printf(\"of $1\\n\"); @n[\"$1\"] = sum(1); printa(\"$1 %s %@d\\n\", @n); }" >"d/$1.d"; }
  talks exits 'exit(3);'
  talks replaced
  talks removed
  talks stays
  serve -d d
  until_log 'exits: ended'
  metrics | grep -q '^tally_n{program="exits",.*="exits"} 42$'
  talks replaced 'trace(1);'
  rm d/removed.d d/exits.d
  kill -HUP "$server"
  until_log 'reloaded: 2 programs, 0 failed'
  for name in exits replaced removed; do
    grep -qx "tally: $name: bye of $name" log
    grep -qx "tally: $name: $name $name 42" log
  done
  run ! grep -q 'stays' log
  ends_with 0 "$server" kill "$server"
  server=
  grep -qx 'tally: stays: bye of stays' log
  grep -qx 'tally: stays: stays stays 42' log
  [ "$(grep -c 'bye of replaced' log)" -eq 2 ] # its old text and its new one
  [ "$(grep -c 'bye of' log)" -eq 5 ]
  run ! grep -q kept log
}

# A program whose three families have a firing for each fault of test/prog/storm, by keys of three kinds.
storm_program() {
  cat >storm.d <<'D'
#pragma D option dcpc_min_overflow=1
cpc:::page_faults-all-1
/arg2 >= 0x600000000000 && arg2 < 0x600001000000/
{ @by_number[cpu] = count(); @by_name[execname] = count(); @by_function[ufunc(arg1)] = count(); }
D
}

# What the storm counted and the sum of a family differ by less than was lost, and what was lost is told to the last firing.
storm_adds_up() { # TRUTH SUM LOST
  echo "truth $1, sum $2, lost $3"
  [ "$2" -le "$1" ]
  [ $(($2 + $3)) -ge "$1" ]
  [ "$3" -le $(($1 / 200)) ] # of what every other process lost there is little
}

@test "under a storm with a scrape each 100 ms, sums and losses are what the program counted" {
  needs_http
  storm_program
  serve -s storm.d
  mkfifo ticks
  "$TALLY" trace -q -x switchrate=10ms -n 'tick-100ms { printf("\n"); }' >ticks &
  clock=$!
  (while read -r _; do metrics >>scrapes; done <ticks) &
  scraper=$!
  "$PROGS/storm" 500000 >one &
  "$PROGS/storm" 500000 >two
  wait $!
  ends_with 0 "$clock" kill "$clock"
  wait "$scraper"
  [ "$(grep -c '^tally_firings_lost_total' scrapes)" -ge 2 ] # while it counted
  metrics >last
  cat one two last
  lost=$(sed -n 's/^tally_firings_lost_total{program="storm"} //p' last)
  for family in number name function; do
    sum=$(awk "/^tally_by_${family}_total/ { n += \$2 } END { print n }" last)
    storm_adds_up 1000000 "$sum" "$lost"
  done
  red=$(awk '/^tally_by_function_total.*storm_red/ { n += $2 } END { print n }' last)
  [ "$red" -le 500000 ] && [ $((red + lost)) -ge 500000 ]
}

@test "Prometheus scrapes it, and has stored what was counted" {
  needs_http
  command -v prometheus >/dev/null || skip "no prometheus"
  known_program
  serve -s known.d
  start_prometheus 1s
  until_stored 'sum(tally_things_total)' 3
  health=$(curl -s "http://127.0.0.1:$api/api/v1/targets")
  [[ "$health" == *'"health":"up"'* ]]
}

# ---- TLS and users ------------------------------------------------------------------------

certificate() { # FILE DAYS: FILE.crt and FILE.key, for 127.0.0.1
  openssl req -newkey rsa:2048 -nodes -keyout "$1.key" -out "$1.csr" -subj /CN=tally 2>/dev/null
  openssl x509 -req -in "$1.csr" -signkey "$1.key" -out "$1.crt" -days "$2" -extfile <(echo subjectAltName=IP:127.0.0.1) 2>/dev/null
}

# alice's password is "secret".
web_config() { # FILE OF THE CERTIFICATE
  cat >web.yml <<Y
tls_server_config:
  cert_file: $1.crt
  key_file: $1.key
basic_auth_users:
  # htpasswd -nBC 5 alice
  alice: \$2b\$05\$abcdefghijklmnopqrstuuOQiyCxlgf/oeuTqixKmWdcYUh4Hjl0a
Y
}

needs_openssl() {
  needs_http
  command -v openssl >/dev/null || skip "no openssl"
}

serve_tls() { # ARGUMENTS...
  certificate one 2
  web_config one
  serve --web.config.file web.yml "$@"
  at=https${at#http}
}

@test "with a file of TLS and users only those get an answer, encrypted, from any address" {
  needs_openssl
  known_program
  listen=0.0.0.0:0 serve_tls -s known.d
  at=https://127.0.0.1:${at##*:}
  [ "$(curl -s --cacert one.crt -o body -w '%{http_code}' "$at/metrics")" = 401 ]
  run ! grep -q tally_ body
  [ "$(curl -s --cacert one.crt -u alice:wrong -o body -w '%{http_code}' "$at/metrics")" = 401 ]
  [ "$(curl -s --cacert one.crt -u bob:secret -o body -w '%{http_code}' "$at/metrics")" = 401 ]
  for _ in 1 2 3 4 5 6 7 8; do # a password that was right once costs no more time
    metrics --cacert one.crt -u alice:secret | grep -qx 'tally_amount{program="known"} 42'
  done
  run ! curl -sf "http://${at#https://}/metrics"
  run ! curl -sf --tls-max 1.1 --cacert one.crt -u alice:secret "$at/metrics"
}

# Wrong passwords from 127.0.0.2, until no more are checked: twice, with its next turn in between.
flood() {
  for code in 503 401 503; do
    until [ "$(curl -s --interface 127.0.0.2 -u alice:wrong -o /dev/null -w '%{http_code}' "$at/metrics")" = $code ]; do :; done
  done
}

@test "who tries passwords from one address keeps no other from a first log-in, nor from the next one after SIGHUP" {
  needs_http
  known_program
  for user in alice bob; do echo "  $user: \$2b\$05\$abcdefghijklmnopqrstuuOQiyCxlgf/oeuTqixKmWdcYUh4Hjl0a"; done >users
  (echo basic_auth_users: && cat users) >web.yml
  serve --web.config.file web.yml -s known.d
  answer() { curl -s -u "$1:secret" -o /dev/null -w '%{http_code}' "$at/metrics"; }
  flood
  [ "$(answer alice)" = 200 ]
  kill -HUP "$server"
  until_log 'reloaded: 1 program, 0 failed'
  flood
  [ "$(answer alice)" = 200 ]
  [ "$(answer bob)" = 200 ]
}

@test "other addresses than the loopback network's are refused without TLS and users" {
  needs_openssl
  known_program
  certificate one 2
  printf 'basic_auth_users: # nobody encrypts\n  alice: "%s"\n' '$2b$05$abcdefghijklmnopqrstuuOQiyCxlgf/oeuTqixKmWdcYUh4Hjl0a' >web.yml
  run "$TALLY" serve -s known.d --listen 0.0.0.0:0 --web.config.file web.yml
  said 1 "tally: 0.0.0.0:0 is no loopback address: that requires TLS and users, which a file of --web.config.file has (tls_server_config and basic_auth_users)"
  printf 'tls_server_config:\n  cert_file: one.crt\n  client_ca_file: ca.crt\n' >web.yml
  run "$TALLY" serve -s known.d --web.config.file web.yml
  said 1 "tally: web.yml: line 3: unknown key 'client_ca_file' of tls_server_config (expected cert_file or key_file)"
  run "$TALLY" serve --check -s known.d --web.config.file web.yml
  said 1 "$output"
  printf 'basic_auth_users:\n  alice: "%s"\n' '$2b$05$abcdefghijklmnopqrstuuOQiyCxlgf/oeuTqixKmWdcYUh4Hjl0a' >web.yml
  run "$TALLY" serve --check -s known.d --listen 0.0.0.0:0 --web.config.file web.yml
  [ "$status" -eq 1 ]
  has "0.0.0.0:0 is no loopback address"
  printf 'tls_server_config:\n  cert_file: one.crt\n' >web.yml
  run "$TALLY" serve -s known.d --web.config.file web.yml
  said 1 "tally: web.yml: tls_server_config has no key_file"
  printf 'tls_server_config: {cert_file: one.crt}\n' >web.yml
  run "$TALLY" serve -s known.d --web.config.file web.yml
  said 1 "tally: web.yml: line 1: a section's keys stand in lines of their own"
  printf 'basic_auth_users:\n  alice: secret\n' >web.yml
  run "$TALLY" serve -s known.d --web.config.file web.yml
  said 1 'tally: web.yml: line 2: no hash of a password (expected $2y$..., as htpasswd -nB makes it)'
  printf 'basic_auth_users:\n  alice: $2b$05$abcdefghijklmnopqrstuuOQiyCxlgf/oeuTqixKmWdcYUh4Hjl0\n' >web.yml # a letter is missing
  run "$TALLY" serve --check -s known.d --web.config.file web.yml
  said 1 "tally: web.yml: line 2: the hash of user 'alice' is malformed (expected \$2y\$, a cost from 04 to 31, \$ and 53 letters, as htpasswd -nB makes it)"
  web_config one
  cp one.crt one.key
  run "$TALLY" serve -s known.d --web.config.file web.yml
  said 1 "tally: failed to start TLS: one.crt and one.key are no certificate with its key"
  run "$TALLY" serve --check -s known.d --web.config.file web.yml
  said 1 "$output"
  certificate one -1
  run --separate-stderr "$TALLY" serve --check -s known.d --web.config.file web.yml
  [ "$status" -eq 0 ]
  [[ "$stderr" == "tally: one.crt: certificate expired at "*" UTC: clients refuse it" ]]
  certificate one 2
  web_config one
  chmod 644 one.key
  run --separate-stderr "$TALLY" serve --check -s known.d --web.config.file ./web.yml
  [ "$status" -eq 0 ]
  [ "$stderr" = "tally: ./one.key: others may read the key; as its owner: chmod o-r ./one.key" ]
  serve -s known.d --web.config.file web.yml
  [ "$(grep -c 'one.key: others may read the key' log)" -eq 1 ]
  chmod 640 one.key # a group of those who may is no stranger
  run --separate-stderr "$TALLY" serve --check -s known.d --web.config.file web.yml
  [ -z "$stderr" ]
  chmod go+w one.key
  run "$TALLY" serve -s known.d --web.config.file web.yml
  said 4 "tally: one.key: its group or others may write it; as its owner: chmod go-w one.key"
}

@test "an expired certificate is refused by clients, and the next one is taken by SIGHUP: nothing counted is lost" {
  needs_openssl
  echo 'syscall::read:entry /execname == "serve-reader" && arg0 == 0/ { @reads = count(); }' >reads.d
  serve_tls -s reads.d
  reads() { metrics --cacert "$1.crt" -u alice:secret | sed -n 's/^tally_reads_total{program="reads"} //p'; }
  read_calls 100
  [ "$(reads one)" = 100 ]
  curl -sN --cacert one.crt -u alice:secret "$at/live" >events & # a page that is open, and one that waits: both are closed
  curl -s --cacert one.crt -u alice:secret "$at/folded?seconds=60" >folded &
  until grep -q '^event: state' events; do kill -0 "$server"; done
  certificate old -1
  web_config old
  kill -HUP "$server"
  until_log 'reloaded: 1 program, 0 failed'
  until_log '^tally: old.crt: certificate expired at .* UTC: clients refuse it$'
  run curl -s --cacert old.crt -u alice:secret "$at/metrics"
  [ "$status" -eq 60 ]
  read_calls 20
  echo nonsense >old.crt # and what is no certificate changes nothing
  : >log
  kill -HUP "$server"
  until_log 'reload: failed to start TLS'
  refused() { curl -sk -u alice:secret "$at/status" | grep -qF "\"reload\":{\"reason\":\"$1"; }
  refused 'failed to start TLS: old.crt and old.key are no certificate with its key"'
  certificate old -1 # a later refusal is shown, too, until a reload is taken
  echo '  x_file: y' >>web.yml
  kill -HUP "$server"
  until_log 'reload: web.yml: line [0-9]+: no hash'
  refused 'web.yml: line 7: no hash'
  certificate new 2
  web_config new
  : >log
  kill -HUP "$server"
  until_log 'reloaded: 1 program, 0 failed'
  read_calls 3
  [ "$(reads new)" = 123 ]
  refused '"'
}

# ---- a service manager --------------------------------------------------------------------------

@test "a service manager hands over a socket, and hears that the service is ready, reloads, lives and stops" {
  needs_http
  [ -x /usr/bin/python3 ] || skip "no python3"
  known_program
  cat >manager.py <<'P'
import os, signal, socket, subprocess, sys, urllib.request
said = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
said.bind('said')
said.settimeout(60)
listener = socket.socket()
listener.bind(('127.0.0.1', 0))
listener.listen()
port = listener.getsockname()[1]
pid = os.fork()
if not pid:
    os.dup2(listener.fileno(), 3)
    os.set_inheritable(3, True)
    os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS='1', NOTIFY_SOCKET=os.path.abspath('said'),
                      WATCHDOG_USEC='200000', WATCHDOG_PID=str(os.getpid()))
    os.execv(sys.argv[1], sys.argv[1:])
def hear(what):
    while True:
        words = said.recv(4096).decode()
        if what in words:
            return words
assert 'STATUS=1 program, 0 failed' in hear('READY=1')
hear('WATCHDOG=1'); hear('WATCHDOG=1')
assert 'tally_amount{program="known"} 42' in urllib.request.urlopen(f'http://127.0.0.1:{port}/metrics').read().decode()
os.kill(pid, signal.SIGHUP)
hear('RELOADING=1')
hear('READY=1')
os.kill(pid, signal.SIGTERM)
hear('STOPPING=1')
assert os.waitpid(pid, 0)[1] == 0
P
  /usr/bin/python3 manager.py "$(realpath "$(command -v "$TALLY")")" serve -s known.d 2>log || { cat log; return 1; }
}

@test "with --drop no capability is left, and what did not change counts on" {
  needs_http
  echo 'syscall::read:entry /execname == "serve-reader" && arg0 == 0/ { @reads[execname] = count(); }' >reads.d
  echo 'BEGIN { @old = count(); }' >other.d
  serve --drop -s reads.d -s other.d
  grep -qx 'CapEff:.0000000000000000' "/proc/$server/status"
  grep -qx 'CapPrm:.0000000000000000' "/proc/$server/status"
  read_calls 100
  counts 'tally_reads_total{program="reads",execname="serve-reader"} 100'
  echo 'syscall::write:entry { @new = count(); }' >other.d
  kill -HUP "$server"
  until_log 'reloaded: 2 programs, 1 failed'
  curl -sf "$at/status" | grep -q '"program":"other",.*"state":"running","reason":"it changed, and the capabilities to load it were given up (--drop): start the service again'
  read_calls 23
  counts 'tally_reads_total{program="reads",execname="serve-reader"} 123'
  counts 'tally_old_total{program="other"} 1'
}

# ---- what goes wrong ----------------------------------------------------------------------------------

@test "SIGHUP under load, and a file that changes its owner: no count is lost" {
  needs_http
  echo 'syscall::read:entry /execname == "serve-reader" && arg0 == 0/ { @reads = count(); }' >reads.d
  echo 'BEGIN { @n = count(); }' >other.d
  serve -s reads.d -s other.d
  read_calls 1000000 &
  load=$!
  for i in $(seq 20); do
    echo "BEGIN { @n$i = count(); }" >other.d
    : >log
    kill -HUP "$server"
    until_log 'reloaded: 2 programs, 0 failed'
  done
  wait $load
  counts 'tally_reads_total{program="reads"} 1000000'
  counts 'tally_n20_total{program="other"} 1'
  chown 65534 reads.d
  kill -HUP "$server"
  until_log 'reads.d belongs to user 65534: it must belong to root'
  read_calls 5
  counts 'tally_reads_total{program="reads"} 1000005'
  curl -sf "$at/status" | grep -q '"program":"reads",.*"state":"running","reason":"reads.d belongs to user 65534'
}

@test "after kill -9 the next service has the port and the probes at once, and begins at nothing" {
  needs_http
  echo 'syscall::read:entry /execname == "serve-reader" && arg0 == 0/ { @reads = count(); }' >reads.d
  serve -s reads.d
  read_calls 77
  counts 'tally_reads_total{program="reads"} 77'
  port=${at##*:}
  ends_with 137 "$server" kill -9 "$server"
  "$TALLY" serve -s reads.d --listen "127.0.0.1:$port" 2>log &
  server=$!
  until_log 'on port [0-9]+$'
  read_calls 5
  counts 'tally_reads_total{program="reads"} 5'
}

# ---- Prometheus -----------------------------------------------------------------------------------------

start_prometheus() { # INTERVAL: $prom, $api
  printf 'global: { scrape_interval: %s, scrape_timeout: %s }\nscrape_configs: [ { job_name: t, static_configs: [ { targets: ["%s"] } ] } ]\n' "$1" "$1" "${at#http://}" >prom.yml
  : >prom.log # a port in it is that of one before
  prometheus --config.file=prom.yml --storage.tsdb.path=data --web.listen-address=127.0.0.1:0 >prom.log 2>&1 &
  prom=$!
  until api=$(sed -n 's/.*address=127.0.0.1:\([1-9][0-9]*\).*/\1/p;T;q' prom.log) && [ -n "$api" ]; do
    kill -0 "$prom" || { cat prom.log; return 1; }
  done
}

# Waits until a query's answer is this number.
until_stored() { # QUERY NUMBER
  for _ in $(seq 20000); do # it may not answer yet, or no more
    answer=$(curl -s "http://127.0.0.1:$api/api/v1/query" --data-urlencode "query=$1") || kill -0 "$prom" || break
    [[ "$answer" != *"\"$2\"]"* ]] || return 0
  done
  echo "$1 is not $2: $answer"
  cat prom.log
  return 1
}

@test "two million events by keys of three kinds: Prometheus has stored what the program counted, less the losses told" {
  needs_http
  command -v prometheus >/dev/null || skip "no prometheus"
  storm_program
  serve -s storm.d
  start_prometheus 200ms
  "$PROGS/storm" 1000000 >one &
  "$PROGS/storm" 1000000 >two
  wait $!
  metrics >last
  lost=$(sed -n 's/^tally_firings_lost_total{program="storm"} //p' last)
  for family in number name function; do
    sum=$(awk "/^tally_by_${family}_total/ { n += \$2 } END { print n }" last)
    until_stored "sum(tally_by_${family}_total)" "$sum"
    storm_adds_up 2000000 "$sum" "$lost"
  done
  until_stored "sum(tally_firings_lost_total) >= bool $lost" 1
}

@test "Prometheus goes and comes back: it has all that was counted meanwhile" {
  needs_http
  command -v prometheus >/dev/null || skip "no prometheus"
  echo 'syscall::read:entry /execname == "serve-reader" && arg0 == 0/ { @reads = count(); }' >reads.d
  serve -s reads.d
  start_prometheus 1s
  read_calls 1000
  until_stored tally_reads_total 1000
  ends_with 137 "$prom" kill -9 "$prom"
  read_calls 500
  start_prometheus 1s
  until_stored tally_reads_total 1500
  until_stored 'max_over_time(tally_reads_total[10m]) - min_over_time(tally_reads_total[10m])' 500
}

@test "promtool takes the alerts: each comes of the figures that it is for, and of no others" {
  command -v promtool >/dev/null || skip "no promtool"
  cp "$BATS_TEST_DIRNAME"/../examples/prometheus/tally-alerts.yml "$BATS_TEST_DIRNAME"/fixture/tally-alerts.test.yml .
  promtool check rules tally-alerts.yml
  promtool test rules tally-alerts.test.yml
}

@test "the dashboard's expressions are what Prometheus reads, and it and the alerts speak of nothing that is not served" {
  needs_http
  command -v promtool >/dev/null || skip "no promtool"
  [ -x /usr/bin/python3 ] || skip "no python3"
  known_program
  serve -s known.d --on power -e gpci/entitled/ --on kunpeng -e hisi_ptt0_2/filter=0x80001,type=7/
  metrics >page
  /usr/bin/python3 - "$BATS_TEST_DIRNAME/../examples/prometheus" "$BATS_TEST_DIRNAME/../src/serve/own.def" <<'P'
import json, re, sys
board = json.load(open(sys.argv[1] + '/tally-dashboard.json'))
exprs = [t['expr'] for p in board['panels'] for t in p['targets']]
assert len(exprs) == len(board['panels']) > 5
for p in board['panels']:
    assert p['title'] and p['description'] and p['gridPos']['x'] + p['gridPos']['w'] <= 24
with open('dashboard.yml', 'w') as f: # JSON is YAML
    json.dump({'groups': [{'name': 'dashboard', 'rules': [{'record': f'panel:{i}', 'expr': e.replace('$__rate_interval', '5m').replace('$instance', '.*')}
                                                          for i, e in enumerate(exprs)]}]}, f)
served = set(re.findall(r'^# TYPE (\S+) ', open('page').read(), re.M))
served |= {'tally_' + n + ('_total' if t == 'COUNTER' else '') for n, t in re.findall(r'^OWN\((\w+), (\w+)', open(sys.argv[2]).read(), re.M)} # of --push, --archive, too
said = re.findall(r'\btally_\w+', ' '.join(exprs) + board['templating']['list'][1]['query'] + ' '.join(re.findall(r'expr:(.*?)\n +(?:for|labels):', open(sys.argv[1] + '/tally-alerts.yml').read(), re.S)))
assert len(set(said)) >= 6 and set(said) <= served, set(said) - served
P
  promtool check rules dashboard.yml
}
