#!/usr/bin/env bats
# tally serve --archive: what programs count, as Parquet that DuckDB reads, each count once.

bats_require_minimum_version 1.5.0
load common
load service

teardown() {
  [ -z "${server:-}" ] || ends_with 0 "$server" kill "$server"
  ! mountpoint -q full || umount full
}

# The answer of a query, as CSV without its header; the files of the archive are its tables.
ask() { "$TALLY" export -x , --sql "$1" "$BATS_TEST_DIRNAME/fixture/faults.json" | tail -n +2; }
whole() { ask "SELECT coalesce(sum(count), 0) FROM '${1:-archive}/aggregation=reads/**/*.parquet'"; } # what the archive has of @reads

needs_archive() {
  needs_http
  needs_duckdb
  echo 'syscall::read:entry /execname == "serve-reader" && arg0 == 0/ { @reads[execname] = count(); @bytes = sum(arg2); @sizes = quantize(arg2); @mean = avg(arg2); }' >reads.d
}

stops() { ends_with 0 "$server" kill "$server"; server=; }

# The archive has so many of @reads.
until_archived() { # COUNT [DIR]
  until_metric tally_archive_writes_total 1
  for _ in $(seq 1000); do
    [ "$(whole ${2:+"$2"})" != "$1" ] || return 0
  done
  return 1
}

# The service's own metric of that name is at least so much.
until_metric() { # NAME LEAST
  for _ in $(seq 100000); do
    [ "$(metrics | sed -n "s/^$1 //p")" -lt "$2" ] || return 0
  done
  return 1
}

@test "what the archive has adds up to what a program did, over files and over runs of the service" {
  needs_archive
  serve -s reads.d --archive archive --archive-every 1s
  read_calls 20000
  until_metric tally_archive_writes_total 1
  read_calls 3000
  stops
  serve -s reads.d --archive archive --archive-every 1h
  read_calls 400
  stops
  [ "$(whole)" = 23400 ]
  [ "$(ask "SELECT sum(sum) FROM 'archive/aggregation=bytes/**/*.parquet'")" = 23400 ]
  [ "$(ask "SELECT low, high, sum(count) FROM 'archive/aggregation=sizes/**/*.parquet' GROUP BY ALL")" = 1,1,23400 ]
  [ "$(ask "SELECT sum(sum), sum(count) FROM 'archive/aggregation=mean/**/*.parquet'")" = 23400,23400 ]
  [ "$(ask "SELECT DISTINCT execname, program, host FROM 'archive/aggregation=reads/**/*.parquet'")" = "serve-reader,reads,$(uname -n)" ]
  [ "$(ask "SELECT count(*) FROM 'archive/aggregation=reads/**/*.parquet' WHERE time < '2020-01-01' OR strftime(time - INTERVAL 1 HOUR, '%Y-%m-%dT%H') > hour")" = 0 ]
  [ "$(find archive -name '*.tmp' | wc -l)" -eq 0 ]
}

@test "a program whose text changes leaves in the archive what it counted" {
  needs_archive
  serve -s reads.d --archive archive --archive-every 1h
  read_calls 1000
  echo '/* changed */' >>reads.d
  kill -HUP "$server"
  until_log 'reloaded: '
  read_calls 50
  kill -HUP "$server" # unchanged: it counts on
  [ "$(metrics | sed -n 's/^tally_reads_total{.*} //p')" = 50 ]
  stops
  [ "$(whole)" = 1050 ]
}

@test "what is cleared counts anew, also when it is more than it was; minimum and maximum fold" {
  needs_archive
  cat >reads.d <<'D'
syscall::read:entry /execname == "serve-reader" && arg0 == 0/
{
	@reads[execname] = count();
	@least = min(arg2);
	@most = max(arg2);
}
syscall::read:entry /execname == "serve-clear" && arg0 == 0/
{
	clear(@reads);
	printf("cleared\n");
}
D
  serve -s reads.d --archive archive --archive-every 1s
  read_calls 5000
  until_archived 5000 # what is cleared before a file has it is in none
  cp serve-reader serve-clear
  ./serve-clear if=/dev/zero of=/dev/null bs=1 count=1 2>/dev/null
  until_log 'reads: cleared$'
  ./serve-reader if=/dev/zero of=/dev/null bs=7 count=6000 2>/dev/null
  stops
  [ "$(whole)" = 11000 ]
  [ "$(ask "SELECT min(min) FROM 'archive/aggregation=least/**/*.parquet'")" = 1 ]
  [ "$(ask "SELECT max(max) FROM 'archive/aggregation=most/**/*.parquet'")" = 7 ]
}

@test "what is lost is in the archive, too: rows and losses are all that happened" {
  needs_archive
  printf '#pragma D option aggsize=4k\nsyscall::read:entry /execname == "serve-reader" && arg0 == 0/ { @reads[timestamp] = count(); }\n' >reads.d
  serve -s reads.d --archive archive --archive-every 1h
  read_calls 20000
  stops
  rows=$(whole)
  lost=$(ask "SELECT sum(count) FROM 'archive/losses/**/*.parquet' WHERE kind = 'aggregation'")
  [ "$lost" -gt 0 ]
  [ $((rows + lost)) -eq 20000 ]
}

@test "a full disk loses nothing: what was counted waits, and is written once there is room" {
  needs_archive
  [ "$(id -u)" -eq 0 ] || skip "mounting a file system needs root"
  mkdir full && mount -t tmpfs -o size=256k none full
  serve -s reads.d --archive full --archive-every 1s
  read_calls 1000
  until_archived 1000 full
  disk_fill full/filler
  read_calls 2000
  until_log 'archive: what reads counted waits: .*No space left on device'
  [ "$(whole full)" = 1000 ] # whole files, of which none is partial
  curl -sf "$at/status" | grep -q '"waiting":1,"reason":".*No space left'
  read_calls 300
  rm full/filler
  until_log 'archive: what waited is written'
  stops
  [ "$(whole full)" = 3300 ]
  [ "$(ask "SELECT sum(sum) FROM 'full/aggregation=bytes/**/*.parquet'")" = 3300 ]
}

@test "a disk that is full when the service ends: the log says how much is lost" {
  needs_archive
  [ "$(id -u)" -eq 0 ] || skip "mounting a file system needs root"
  mkdir full && mount -t tmpfs -o size=64k none full
  serve -s reads.d --archive full --archive-every 1h
  disk_fill full/filler
  read_calls 10
  stops
  grep -qE 'archive: what reads counted is lost, 4 rows: .*No space left on device' log
  [ "$(find full -name '*.parquet' | wc -l)" -eq 0 ]
}

@test "kill -9 leaves only whole files, and the next service removes what was begun" {
  needs_archive
  # Many keys, so that writing takes a while.
  printf 'syscall::read:entry /execname == "serve-reader" && arg0 == 0/ { @reads[timestamp] = count(); }\n' >reads.d
  mkdir archive
  touch "archive/.tally-$(uname -n)-0123456789abcdef.tmp" archive/.tally-another-0123456789abcdef.tmp
  for round in 1 2 3 4; do
    serve -s reads.d --archive archive --archive-every 1s
    for _ in $(seq $((round * 9))); do read_calls 500; done
    ends_with 137 "$server" kill -9 "$server"
    server=
    [ "$(find archive -name '*.parquet' | wc -l)" -eq 0 ] || [ "$(whole)" -le $((round * (round + 1) / 2 * 4500)) ]
  done
  serve -s reads.d --archive archive --archive-every 1h
  read_calls 7
  stops
  [ "$(ask "SELECT sum(count) >= 7 AND count(*) = sum(count) FROM 'archive/aggregation=reads/**/*.parquet'")" = true ]
  [ "$(cd archive && find . -name '*.tmp')" = ./.tally-another-0123456789abcdef.tmp ]
}

@test "two services of a host do not share an archive" {
  needs_archive
  serve -s reads.d --archive archive
  run "$TALLY" serve -s reads.d --listen 127.0.0.1:0 --archive archive
  said 1 "tally: archive: another tally serve of this host archives there"
}

@test "without DuckDB, or with a directory that cannot be written, the service does not begin" {
  needs_archive
  run env TALLY_DUCKDB=/nowhere "$TALLY" serve -s reads.d --listen 127.0.0.1:0 --archive archive
  [ "$status" -eq 3 ]
  has "SQL and Parquet require DuckDB's library, and /nowhere cannot be loaded"
  touch file
  run "$TALLY" serve -s reads.d --listen 127.0.0.1:0 --archive file/archive
  said 1 "tally: failed to make the directory file/archive: Not a directory"
  run "$TALLY" serve -s reads.d --archive-every 0
  said 2 "tally: --archive-every: invalid time '0' (expected 1s to 24h, such as 10m or 1h)"
}

@test "the queries of doc/fleet.md and of the manual read an archive" {
  needs_duckdb
  sed 's/"places"/"fault_addresses"/' "$BATS_TEST_DIRNAME/fixture/faults.json" >answers.json
  for host in web1 web2; do "$TALLY" export -o archive --partition program,host,hour --host $host --hour 2026-11-27T09 answers.json; done
  mapfile -d '' -t queries < <(cd "$BATS_TEST_DIRNAME/../doc" && grep -hPzo 'duckdb -c "\K[^"]*aggregation=[^"]*|duckdb -c "\K[^"]*/losses/[^"]*' fleet.md verb/serve.md)
  [ ${#queries[@]} -eq 4 ]
  for i in "${!queries[@]}"; do
    [ $i -ne 0 ] || [ "$(ask "${queries[i]}" | sort | head -n 2)" = web1,bash,12$'\n'web1,gcc,481 ]
    [ -n "$(ask "${queries[i]//\/var\/lib\/tally\//}")" ] || { echo "no row: ${queries[i]}"; return 1; }
  done
}

@test "ClickHouse reads an archive: each count once, and the hour of a path is a column" {
  needs_archive
  command -v clickhouse >/dev/null || skip "no clickhouse: tools/fetch-clickhouse.sh DIR, with DIR in PATH"
  serve -s reads.d --archive archive --archive-every 1s
  read_calls 20000
  until_metric tally_archive_writes_total 1
  read_calls 300
  stops
  query=$(cd "$BATS_TEST_DIRNAME/../doc" && grep -Pzo 'clickhouse local -q "\K[^"]*aggregation=[^"]*' fleet.md | tr -d '\0')
  [ "$(clickhouse local -q "${query//faults\//reads/}" | tr '\t' ' ')" = "$(uname -n) serve-reader 20300" ]
  hour=$(basename "$(find archive -path '*aggregation=reads*' -name 'hour=*' | sort | head -n 1)")
  count="SELECT sum(count) FROM file('archive/aggregation=reads/**/*.parquet')"
  [ "$(clickhouse local -q "$count WHERE hour >= '${hour#hour=}'")" = 20300 ]
  [ "$(clickhouse local -q "$count WHERE hour < '${hour#hour=}'")" = '\N' ]
}
