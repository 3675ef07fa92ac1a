#!/bin/bash
# serve-load.sh - `tally serve` under load for LOAD_SECONDS (60): 200 scrapers, a storm that counts itself, and amid it 10,000 connections that
# say nothing. Every scraper is answered, its counts never fall, the last one is the storm's own; memory and descriptors are flat. Speaks TAP.
set -u
cd "$(dirname "$0")/.." || exit 1
seconds=${LOAD_SECONDS:-60} what="200 scrapers and 10,000 connections: all are answered, memory and descriptors are flat"
echo 1..1
skip() { echo "ok 1 $what # SKIP $1"; exit 0; }
[ "$(id -u)" -eq 0 ] || skip "loading BPF programs needs root here"
command -v python3 >/dev/null || skip "no python3"
ldconfig -p | grep -q libmicrohttpd.so.12 || skip "no libmicrohttpd"
dir=$(mktemp -d) server='' storm=''
trap 'touch "$dir/stop"; kill $server 2>/dev/null; wait; rm -rf "$dir"' EXIT
cat >"$dir/load.d" <<D
syscall::read:entry { @n = count(); @by[execname] = count(); @sizes = quantize(arg2); }
syscall::read:entry /execname == "storm-$$" && arg2 == 1/ { @storm = count(); }
D
: >"$dir/log"
build/tally serve -s "$dir/load.d" --listen 127.0.0.1:0 2>"$dir/log" &
server=$!
until grep -q 'on port' "$dir/log"; do kill -0 $server || { cat "$dir/log"; echo "not ok 1 $what"; exit 1; }; done
port=$(sed -n 's/.* on port //p' "$dir/log")
cp "$(command -v dd)" "$dir/storm-$$"
for ((reads = 0; ; reads += 20000)); do
  echo $reads >"$dir/reads"
  [ ! -e "$dir/stop" ] && "$dir/storm-$$" if=/dev/zero of=/dev/null bs=1 count=20000 2>/dev/null || break
  read -rt 0.2 <> <(:)
done &
storm=$!
last() { curl -sf "http://127.0.0.1:$port/metrics" | sed -n "s/^tally_$1{program=\"load\"} //p"; }
python3 - "$port" $server "$seconds" <<'P' && touch "$dir/stop" && wait $storm && reads=$(cat "$dir/reads") counted=$(last storm_total) lost=$(last firings_lost_total) &&
import asyncio, os, re, resource, sys, time, urllib.request
port, pid, seconds = int(sys.argv[1]), sys.argv[2], float(sys.argv[3])
SCRAPERS, SILENT, PLACES = 200, 10000, 256
PLACE_KB, OPEN_NOW, FLAT_KB = 16 + 4, 4, 1024 # a place and its answer; what a scrape opens and closes; two scrapes are not alike to the page
PATIENCE = 20 # s: twice what 10,000 need who lose their places 256 at once, after a quarter of a second each
resource.setrlimit(resource.RLIMIT_NOFILE, (SILENT + 1000, max(SILENT + 1000, resource.getrlimit(resource.RLIMIT_NOFILE)[1])))
descriptors = lambda: len(os.listdir(f'/proc/{pid}/fd'))
resident = lambda: next(int(line.split()[1]) for line in open(f'/proc/{pid}/status') if line.startswith('VmRSS'))
urllib.request.urlopen(f'http://127.0.0.1:{port}/metrics').read() # a first reading opens what all later ones use
had, end, scrapes, longest, held = descriptors(), time.monotonic() + seconds, 0, 0, []
COUNT = re.compile(rb'tally_n_total\{program="load"\} (\d+)\n')
async def scrape():
    reader, writer = await asyncio.open_connection('127.0.0.1', port)
    writer.write(b'GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
    answer = await reader.read(-1)
    writer.close()
    return answer
async def scraper():
    global scrapes, longest
    before = 0
    while time.monotonic() < end:
        asked = time.monotonic()
        answer = await asyncio.wait_for(scrape(), PATIENCE)
        longest = max(longest, time.monotonic() - asked)
        now = int(COUNT.search(answer)[1])
        assert answer.startswith(b'HTTP/1.1 200') and now >= before, (before, answer[:200])
        before = now
        scrapes += 1
        await asyncio.sleep(1)
async def silent():
    await asyncio.sleep(seconds / 3)
    for _ in range(SILENT):
        held.append(await asyncio.wait_for(asyncio.open_connection('127.0.0.1', port), PATIENCE))
    await asyncio.sleep(seconds / 10)
    for _, writer in held:
        writer.close()
async def watch(): # descriptors; memory before the silent ones, and what was used at most
    most, kb, began = 0, 0, 0
    while time.monotonic() < end:
        await asyncio.sleep(1)
        most, kb = max(most, descriptors()), max(kb, resident())
        if end - time.monotonic() > seconds * 3 / 4:
            began = kb
    return most, began, kb
async def main():
    return (await asyncio.gather(watch(), silent(), *[scraper() for _ in range(SCRAPERS)]))[0]
most, began, kb = asyncio.run(main())
waits = time.monotonic() + PATIENCE
while descriptors() > had and time.monotonic() < waits:
    time.sleep(0.1)
print(f'# {scrapes} scrapes, the longest {longest:.1f} s; {len(held)} silent connections; descriptors {had}, at most {most}, then {descriptors()}; '
      f'kB {began}, at most {kb}, then {resident()}', flush=True)
assert len(held) == SILENT and scrapes >= SCRAPERS
assert descriptors() <= had and most <= had + PLACES + OPEN_NOW
assert kb <= began + PLACES * PLACE_KB + FLAT_KB
P
echo "# $reads reads of the storm, $counted counted, $lost of all firings lost" &&
[ "$reads" -gt 0 ] && [ "$counted" -le "$reads" ] && [ "$((counted + lost))" -ge "$reads" ] && echo "ok 1 $what" && exit
cat "$dir/log"
echo "not ok 1 $what"
exit 1
