#!/usr/bin/env bats
# tally serve --on: counters of platforms as metrics. The truth is `tally stat --json` of the same model over the same time.

bats_require_minimum_version 1.5.0
load common
load service

# Serves models, and holds the first page on which the time of each went on against what `tally stat` says of each.
same_as_stat() { # MODEL EVENTS|--view=VIEW ...
  local args=() i
  for ((i = 1; i <= $#; i += 2)); do
    j=$((i + 1))
    [[ "${!j}" == --view=* ]] && args+=(--on "${!i}" "${!j}") || args+=(--on "${!i}" -e "${!j}")
  done
  serve "${args[@]}"
  passed() { sed -n "s/^tally_platform_seconds_total{platform=\"$1\"} //p" page; }
  while [ "$(ls page.* 2>/dev/null | wc -l)" -lt $(($# / 2)) ]; do # of each the first page, for a view is of the time since the one before
    metrics >page
    for ((i = 1; i <= $#; i += 2)); do
      [ -e "page.$i" ] || [ "$(passed "${!i}")" = 0.0 ] || cp page "page.$i"
    done
  done
  for ((i = 1; i <= $#; i += 2)); do
    j=$((i + 1))
    cp "page.$i" page
    ms=$(passed "${!i}" | awk '{ printf "%d", $1 * 1000 + 0.5 }')
    [[ "${!j}" == --view=* ]] && what=("${!j}") || what=(-e "${!j}")
    "$TALLY" stat --on "${!i}" "${what[@]}" --duration "$ms" --json >truth
    python3 - "${!i}" page truth <<'P'
import json, math, re, sys
on, page, truth = sys.argv[1:]
have = {}
for line in open(page):
    m = re.fullmatch(r'(tally_(?:gpci|vfalls|mmustat|partition|processor|cec|links)_\w+)\{platform="([^"]*)"(?:,(.*))?\} (\S+)\n', line)
    if m and m[2] == on:
        have[m[1], frozenset(re.findall(r'(\w+)="([^"]*)"', m[3] or ''))] = float(m[4])
want = {}
keys = {'partition': ['partition'], 'processor': ['processor', 'node', 'chip'], 'links': ['chip', 'node'], 'mmustat': ['cpu', 'context', 'size'], 'cec': []}
shares = {'entc', 'idle', 'busy', 'utilisation', 'pool', *'abcwxyz'}
for row in map(json.loads, open(truth)):
    t = row.pop('type')
    if t == 'count':
        first, last = row['name'].split('.')
        labels = [tuple(row['id'].split('='))]
        vfalls = row['selector'].startswith('vfalls/')
        if vfalls:
            labels.append(('register', first))
        want[f'tally_vfalls_{last}_total' if vfalls else f'tally_gpci_{first}_{last}_total', frozenset(labels)] = row['value']
        continue
    labels = frozenset((k, '' if row[k] is None else str(row[k])) for k in keys[t])
    for k, v in row.items():
        if k in ['time', 'kind', 'owner', 'state', 'hottest', *keys[t]] or v is None or t == 'mmustat' and not k.endswith('_total'):
            continue
        share = k in shares and (t, k) != ('cec', 'busy')
        want[f'tally_{t}_{k}' + ('_ratio' if share else ''), labels] = v
assert want and have.keys() == want.keys(), (have.keys() ^ want.keys())
for k, v in want.items():
    assert math.isclose(have[k], v, rel_tol=1e-8), (k, have[k], v)
assert any(want.values())
print(on, len(want), 'figures are the same')
P
  done
}

@test "counters of models are what tally stat counts in the same time" {
  needs_http
  needs_python
  same_as_stat power gpci/entitled/,gpci/dispatch_purr/,gpci/run_instructions/ niagara mmustat/all/ \
    batoka vfalls/node0_mcu0,event=mem_reads/,vfalls/zam0_lpu_a,event=clock_cycles/
}

@test "views are what tally stat shows of the same time" {
  needs_http
  needs_python
  same_as_stat power --view=partitions power,seed=2 --view=cec power,seed=3 --view=processors power,seed=4 --view=links
}

# Serves the packets of a model's device until there are some, and records as much of the same load: page, t.data.
same_packets() { # LOAD EVENT
  serve --on "kunpeng,load=$1" -e "$2"
  for _ in $(seq 100000); do
    metrics >page
    ! grep -q '^tally_ptt_packets_total{' page || break
  done
  ends_with 0 "$server" kill "$server"
  server=
  ms=$(sed -n 's/^tally_platform_seconds_total{.*} //p' page | awk '{ printf "%d", $1 * 1000 + 0.5 }')
  "$TALLY" record --on "kunpeng,load=$1" -e "$2" --duration "$ms" -m 4M -o t.data 2>/dev/null
  rm -f t.data.old
}

# The truth is counted apart: lib/ptt_count_truth.py.
@test "packets, bytes, latencies and losses of a PTT device are those of the packets that it recorded" {
  needs_http
  needs_python
  for load in nvme contended; do
    same_packets $load hisi_ptt0_2/filter=00:10.0,type=p+np+cpl,direction=2/
    "$TALLY" dump --json t.data 2>/dev/null >packets
    python3 "$BATS_TEST_DIRNAME/lib/ptt_count_truth.py" page packets
  done
}

@test "packets of a PTT device are those that D counts of the same records" {
  needs_http
  same_packets full hisi_ptt0_2/filter=00:10.0,type=7,direction=3/
  n=$(awk '/^tally_ptt_packets_total{/ { n += $2 } END { print n }' page)
  "$TALLY" trace --on ./t.data -q -n 'ptt:::tlp { n++; } ptt:::tlp /n <= $1/ { @[args[0]->requester_text, args[0]->name] = count(); }
    ptt:::transaction /n <= $1/ { @ticks = sum(args[1]->latency); } END { printa("%s %s %@d\n", @); printa("ticks %@d\n", @ticks); }' "$n" 2>/dev/null | sort >d
  {
    sed -nE 's/^tally_ptt_packets_total\{.*requester="(.*)",type="(.*)"\} /\1 \2 /p' page
    awk '/^tally_ptt_latency_ticks_sum/ { n += $2 } END { print "ticks", n + 0 }' page
  } | sort >served
  [ "$(wc -l <served)" -gt 4 ]
  diff served <(grep . d)
}

@test "a PTT device stands beside other events of its platform, and promtool takes its metrics" {
  needs_http
  command -v promtool >/dev/null || skip "no promtool"
  serve --on kunpeng,load=full -e hisi_ptt0_0/filter=00:08.0,type=np,direction=1/,page-faults,hisi_ptt0_2/filter=00:10.0,type=7,direction=2/ \
    -x maxseries=5
  for _ in $(seq 100000); do
    metrics >page
    ! grep -q '^tally_ptt_packets_total{.*other="true"' page || break
  done
  promtool check metrics <page
  [ "$(grep -c '^tally_ptt_packets_total{platform="kunpeng,load=full/hisi_ptt0_2"' page)" -eq 6 ]
  grep -qx 'tally_up{platform="kunpeng,load=full/hisi_ptt0_0"} 1' page
  grep -q '^tally_cpc_page_faults_total{platform="kunpeng,load=full"}' page
  grep -qE '^tally_series_folded\{platform="kunpeng,load=full/hisi_ptt0_2",metric="tally_ptt_packets"\} [1-9]' page
}

@test "records that a PTT device lost are on the page and in the log, as they are in the metrics" {
  needs_http
  "$TALLY" machine kunpeng,load=nvme --listen socket 2>machine.log & # more than goes through a socket
  machine=$!
  until [ -S socket ]; do kill -0 "$machine"; done
  serve --on unix:socket -e hisi_ptt0_2/filter=0x80001,type=7,direction=2/
  lost='s/^tally_ptt_lost_records_total{.*} //p'
  for _ in $(seq 100000); do
    [ "$(metrics | sed -n "$lost")" -eq 0 ] || break
  done
  least=$(metrics | sed -n "$lost")
  [ "$least" -gt 0 ]
  shown=$(curl -sN "$at/live" | sed -n '/^data:/{s/.*"lost":[^{]*\[0,"lost_records",\([0-9]*\)\].*/\1/p;q}')
  [ "$shown" -ge "$least" ]
  [ "$(metrics | sed -n "$lost")" -ge "$shown" ]
  ends_with 0 "$server" kill "$server"; server=
  told=$(sed -n 's/.*: records that the device is known to have lost: \([0-9]*\)$/\1/p' log)
  [ "$told" -ge "$shown" ]
  kill "$machine"
}

@test "promtool takes what a service of platforms says: each has a help text and a unit" {
  needs_http
  command -v promtool >/dev/null || skip "no promtool"
  serve --on power -e gpci/entitled/ --on power,seed=2 --view links --on niagara -e mmustat/all/ --on local -e cpu-clock,page-faults:u
  metrics >page
  promtool check metrics <page
  grep -qx '# HELP tally_gpci_entitled_capped_total what it consumed inside its entitlement; of a dedicated partition all (PURR cycles)' page
  grep -qE '^tally_cpc_cpu_clock_seconds_total\{platform="local"\} [0-9.e+]+$' page
  grep -qx 'tally_up{platform="power,seed=2"} 1' page
}

@test "this machine's CPU events are counted of all CPUs: a program's faults are among them" {
  needs_http
  serve -e page-faults
  faults() { metrics | awk '/^tally_cpc_page_faults_total/ { printf "%d", $2 }'; }
  before=$(faults)
  "$PROGS/storm" 100000 >one
  [ $(($(faults) - before)) -ge 100000 ]
}

@test "what a platform has not of what is asked for stands in its status" {
  needs_http
  "$TALLY" stat -e cycles true 2>&1 | grep -q 'not supported' || skip "this machine has cycles"
  serve -e cycles,page-faults
  metrics >page
  grep -qx 'tally_up{platform="local"} 1' page
  grep -q '^tally_cpc_page_faults_total{' page
  curl -sf "$at/status" | grep -qF '"platform":"local","state":"running","reason":"cycles: not supported on this machine'
}

@test "platforms that are silent are down before Prometheus gives a scrape up, and others are read" {
  needs_http
  "$TALLY" machine power --listen socket 2>machine.log &
  machine=$!
  until [ -S socket ]; do kill -0 "$machine"; done
  "$TALLY" machine niagara --listen other 2>other.log &
  other=$!
  until [ -S other ]; do kill -0 "$other"; done
  serve --on unix:socket -e gpci/entitled/ --on unix:other -e mmustat/all/ --on power -e gpci/entitled/
  [ "$(metrics | grep -c '^tally_up{platform="unix:.*"} 1$')" -eq 2 ]
  kill -STOP "$machine" "$other"
  curl -sf --max-time 10 "$at/metrics" >page # its scrape_timeout, unless it is told otherwise
  kill -CONT "$machine" "$other"
  ends_with 0 "$machine" kill "$machine"
  ends_with 0 "$other" kill "$other"
  [ "$(grep -c '^tally_up{platform="unix:.*"} 0$' page)" -eq 2 ]
  grep -qx 'tally_up{platform="power"} 1' page
  curl -sf "$at/status" | grep -qF '"reason":"unix:socket: no answer in 2500 ms"'
}

@test "a platform that goes away is down with the reason, the others go on, and it is found again when it is there" {
  needs_http
  "$TALLY" machine power --listen socket 2>machine.log &
  machine=$!
  until [ -S socket ]; do kill -0 "$machine"; done
  echo 'BEGIN { @n = count(); }' >known.d
  serve -s known.d --on unix:socket -e gpci/entitled/ --on power -e gpci/entitled/
  metrics >page
  grep -qx 'tally_up{platform="unix:socket"} 1' page
  grep -q '^tally_gpci_entitled_capped_total{platform="unix:socket",partition="1"}' page
  ends_with 0 "$machine" kill "$machine"
  metrics >page
  grep -qx 'tally_up{platform="unix:socket"} 0' page
  run ! grep -q '^tally_gpci_entitled_capped_total{platform="unix:socket"' page
  grep -q '^tally_gpci_entitled_capped_total{platform="power",partition="1"}' page
  grep -qx 'tally_n_total{program="known"} 1' page
  curl -sf "$at/status" >status
  grep -qF '"platform":"unix:socket","state":"failed","reason":"' status
  run ! grep -qF '"platform":"unix:socket","state":"failed","reason":""' status
  rm -f socket
  "$TALLY" machine power --listen socket 2>machine.log &
  machine=$!
  until [ -S socket ]; do kill -0 "$machine"; done
  until_log 'unix:socket: it is there again, and counts from 0'
  metrics >page
  ends_with 0 "$machine" kill "$machine"
  grep -qx 'tally_up{platform="unix:socket"} 1' page
  grep -q '^tally_gpci_entitled_capped_total{platform="unix:socket",partition="1"}' page
}

@test "what cannot be counted is said, and what is asked for twice is there once" {
  needs_http
  run "$TALLY" serve --check --on power -e gpci/nonsense/
  [ "$status" -eq 1 ]
  has "gpci/nonsense/"
  run "$TALLY" serve --check --on power -e gpci/entitled/ --view cec
  said 1 "tally: power: events and a view cannot be combined"
  run "$TALLY" serve --check --on power -e gpci/entitled/ --on power --view cec
  said 1 "tally: power: two of one name; give each platform once, with all its events"
  run "$TALLY" serve --on kunpeng -e hisi_ptt0_2/filter=0x80001,type=1/,hisi_ptt0_2/filter=0x80001,type=2/
  said 1 "tally: kunpeng/hisi_ptt0_2: two events; only one trace at a time runs on a device"
  run "$TALLY" serve --check -e cycles,page-faults # without counters in hardware there is a reason in place of a metric
  [ "$status" -eq 0 ]
  has "local: tally_cpc_page_faults_total{platform} counter"
  [[ "$output" == *"local: tally_cpc_cycles_total{platform} counter"* ]] || has "tally: local: cycles: "
  serve --on power -e gpci/entitled/ -e gpci/entitled/
  metrics >page
  [ -z "$(grep -v '^#' page | cut -d' ' -f1 | sort | uniq -d)" ]
  grep -q '^tally_gpci_entitled_capped_total{platform="power",partition="1"}' page
}
