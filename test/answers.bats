#!/usr/bin/env bats
# tally export of what D programs answered: aggregations as tables of DuckDB, and as Parquet.

bats_require_minimum_version 1.5.0
load common

setup() { cd "$BATS_TEST_TMPDIR" || return 1; }

# The answer of a query over run.json, as CSV without its header.
ask() { "$TALLY" export -x , --sql "$1" "${2:-run.json}" | tail -n +2; }

# Answers of known numbers, one of each function.
known_answers() {
  vm -qo run.json -n 'BEGIN {
    @things["a\"b", 7] = count(); @things["c", -1] = count(); @things["c", -1] = count();
    @amount = sum(40); @amount = sum(-2); @least = min(3); @most = max(-5);
    @mean[1] = avg(10); @mean[1] = avg(25); @spread = quantize(3); @spread = quantize(100, 2);
    @steps["s"] = lquantize(25, 0, 40, 10); @steps["s"] = lquantize(-1, 0, 40, 10); exit(0); }'
}

@test "each aggregation is a table, with a column for each key and what its function counts" {
  needs_duckdb
  known_answers
  [ "$(ask 'FROM things ORDER BY count')" = '"a""b",7,1,1'$'\n''c,-1,2,1' ]
  [ "$(ask 'FROM amount')" = 38,1 ]
  [ "$(ask 'FROM least')" = 3,1 ]
  [ "$(ask 'FROM most')" = -5,1 ]
  [ "$(ask 'FROM mean')" = 1,35,2,1 ]
  [ "$(ask 'FROM spread ORDER BY low')" = 2,3,1,1$'\n'64,127,2,1 ]
  [ "$(ask 'FROM steps ORDER BY low NULLS FIRST')" = s,,-1,1,1$'\n's,20,29,1,1 ]
  [ -z "$(ask 'FROM losses')" ]
}

@test "columns are called as the program writes its keys, and none of them as another" {
  needs_duckdb
  vm -qo run.json -n 'int low; BEGIN { low = 3; self->ran = 2; @x[low, self->ran, probename, probename] = count(); @X = count(); @losses = count(); @ = count(); exit(0); }'
  [ "$("$TALLY" export -x , --sql 'FROM x' run.json | head -n 1)" = low_2,ran,probename,probename_2,count,printed ]
  [ "$(ask 'FROM x')" = 3,2,BEGIN,BEGIN,1,1 ]
  [ "$(ask 'FROM x_2')" = 1,1 ]
  [ "$(ask 'FROM losses_2')" = 1,1 ]
  [ "$(ask 'FROM aggregation')" = 1,1 ]
}

@test "what is printed several times says which time it is" {
  needs_duckdb
  vm -qo run.json -n 'BEGIN { @n["k"] = sum(5); printa(@n); @n["k"] = sum(2); @m = count(); exit(0); }'
  [ "$(ask 'SELECT k, sum, printed FROM n ORDER BY printed')" = k,5,1$'\n'k,7,2 ] || ask 'FROM n'
}

@test "numbers beyond 32 and 53 bits stay exact" {
  needs_duckdb
  vm -qo run.json -n 'BEGIN { @n[9007199254740993, -9223372036854775807] = sum(9007199254740995); exit(0); }'
  "$TALLY" export -o n.parquet run.json
  [ "$(ask "FROM 'n.parquet'")" = 9007199254740993,-9223372036854775807,9007199254740995,1 ]
}

@test "a partitioned export is whole files of all aggregations, and the same answers take their own place again" {
  needs_duckdb
  known_answers
  for _ in 1 2; do "$TALLY" export -o fleet --partition host,hour --host web1 --hour 2026-11-28T15 run.json; done
  "$TALLY" export -o fleet --partition host,hour --host 'a/b' --hour 2026-11-28T16 run.json
  [ "$(find fleet -path '*aggregation=things*' -name '*.parquet' | wc -l)" -eq 2 ]
  [ "$(find fleet -type f ! -name '*.parquet' | wc -l)" -eq 0 ]
  [ "$(ask "SELECT host, hour, sum(count) FROM 'fleet/aggregation=things/**/*.parquet' GROUP BY ALL ORDER BY ALL")" = a/b,2026-11-28T16,3$'\n'web1,2026-11-28T15,3 ]
  [ "$(ask "SELECT sum(sum), sum(count) FROM 'fleet/aggregation=mean/**/*.parquet'")" = 70,4 ]
  "$TALLY" export -o named --partition program,host --host h run.json
  [ "$(ask "SELECT program FROM 'named/aggregation=amount/**/*.parquet'")" = run ]
}

@test "several aggregations are refused as one file, and so are answers that contradict themselves" {
  needs_duckdb
  known_answers
  run "$TALLY" export -o x.parquet run.json
  said 2 "tally: run.json: several aggregations: things, amount, least, most, mean, spread, steps; choose one, as --sql 'FROM things', or --partition writes all"
  [ ! -e x.parquet ]
  printf '%s\n' '{"type":"aggregation","name":"a","function":"count","keys":[1],"value":1}' '{"type":"aggregation","name":"a","function":"sum","keys":[1],"value":1}' >run.json
  run "$TALLY" export run.json
  said 1 "tally: run.json: the aggregation a is of several kinds in this file: export each program's answers for itself"
  seq -f '{"type":"aggregation","name":"a%.0f","function":"count","keys":[1],"value":1}' 100000 >run.json
  run "$TALLY" export run.json
  said 1 "tally: run.json: more than 1024 aggregations: no program of D has so many"
  { printf '{"type":"aggregation","name":"a","function":"count","keys":[' && seq -s, 100000 && echo '],"value":1}'; } | tr -d '\n' >run.json
  run "$TALLY" export run.json
  said 1 "tally: run.json: 100000 keys of the aggregation a: at most 256 are taken"
  echo '{"type":"aggregation","name":"a","function":"evil","keys":[],"value":1}' >run.json
  run "$TALLY" export run.json
  said 1 "tally: run.json: unknown aggregating function 'evil'"
  echo '{"type":"matched","source":"BEGIN","probes":1}' >run.json
  run "$TALLY" export run.json
  said 1 "tally: run.json: there is no aggregation in this file"
  echo '{"type":"aggregation","name":"a","func' >run.json
  run "$TALLY" export run.json
  [ "$status" -eq 1 ]
  run "$TALLY" report run.json
  said 1 "tally: run.json: no PTT trace but answers of D programs, which 'tally export' reads"
  run "$TALLY" export - < <(cat run.json)
  said 2 "tally: -: answers of D programs are read from a file, not from a pipe"
}

@test "names of a hostile file stay names" {
  needs_duckdb
  echo "{\"type\":\"aggregation\",\"name\":\"a\\\"'; DROP TABLE answer; --\",\"function\":\"count\",\"keys\":[\"k\"],\"names\":[\"x') FROM y; --\"],\"value\":4}" >'we[i]rd*?.json'
  [ "$("$TALLY" export 'we[i]rd*?.json')" = $'x_FROM_y,count,printed\nk,4,1' ] || "$TALLY" export 'we[i]rd*?.json'
  "$TALLY" export -o d --partition host --host "../../it's" 'we[i]rd*?.json'
  [ "$(find . -name '*.parquet' | wc -l)" -eq 1 ]
  [ "$(find d -name '*.parquet' | wc -l)" -eq 1 ]
}

@test "the sum in Parquet is what a program did" {
  needs_duckdb
  needs_bpf
  cp "$(command -v dd)" reader
  "$TALLY" trace -qo run.json -n 'syscall::read:entry /execname == "reader" && arg0 == 0/ { @reads[execname, arg2] = count(); @bytes = sum(arg2); }' \
    -c './reader if=/dev/zero of=/dev/null bs=3 count=20000' 2>/dev/null
  "$TALLY" export -o d --partition host,hour run.json
  [ "$(ask "SELECT execname, arg2, sum(count) FROM 'd/aggregation=reads/**/*.parquet' GROUP BY ALL")" = reader,3,20000 ]
  [ "$(ask "SELECT sum(sum) FROM 'd/aggregation=bytes/**/*.parquet'")" = 60000 ]
  [ "$(ask 'SELECT coalesce(sum(count), 0) FROM losses')" = 0 ]
}

@test "losses are a table of their own, in Parquet, too" {
  needs_duckdb
  cp "$BATS_TEST_DIRNAME/fixture/faults.json" run.json
  echo '{"type":"drop","kind":"aggregation","cpu":0,"count":7}' >>run.json
  [ "$(ask 'SELECT kind, probe, cpu, count FROM losses ORDER BY kind')" = aggregation,,0,7$'\n'firings,cpc:::page_faults-user-1000,1,1 ]
  "$TALLY" export -o d --partition host run.json
  [ "$(ask "SELECT sum(count) FROM 'd/losses/**/*.parquet'")" = 8 ]
  [ "$(ask "SELECT sum(count) FROM 'd/aggregation=faults/**/*.parquet'")" = 493 ]
}

@test "a disk that is full leaves no part of a file" {
  needs_duckdb
  [ "$(id -u)" -eq 0 ] || skip "mounting a file system needs root"
  known_answers
  mkdir small && mount -t tmpfs -o size=64k none small
  disk_fill small/filler
  run "$TALLY" export -o small/d --partition host run.json
  left=$(find small -name '*.parquet' -o -name '.tally*' | wc -l)
  umount small
  [ "$status" -eq 1 ]
  [[ "$output" == *"No space left on device"* ]]
  [ "$left" -eq 0 ]
}
