#!/usr/bin/env bats
# Traces of PCIe packets: dump, report, export, and the page in a browser.  Needs no privileges.
bats_require_minimum_version 1.5.0
load common

TRACE=$BATS_TEST_DIRNAME/fixture/ptt-8dw-golden.perf.data

# number TYPE KEY: of the first object of that type in $report.
number() { grep -m 1 "\"type\":\"$1\"" "$report" | sed "s/.*\"$2\":\([0-9.]*\).*/\1/"; }
reported() { report=$BATS_TEST_TMPDIR/report.json; "$TALLY" report --json "$TRACE" >"$report"; }

# ---- dump ------------------------------------------------------------------------------------------

@test "dump prints a line for each packet under a header, and says how times are taken" {
  "$TALLY" dump "$TRACE" >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/notes"
  [ "$(wc -l <"$BATS_TEST_TMPDIR/out")" -eq 25601 ]
  [[ "$(head -n 1 "$BATS_TEST_TMPDIR/out")" == *TIME*TYPE*REQUESTER* ]]
  [ "$(cat "$BATS_TEST_TMPDIR/notes")" = "tally: hisi_ptt0_2: times are read as absolute" ]
}

@test "dump --perf has four lines of eight as perf prints them, and the older text on request" {
  "$TALLY" dump --perf "$TRACE" | sed -n 1,3p >"$BATS_TEST_TMPDIR/new"
  printf '. ... HISI PTT data: size 819200 bytes\n.  00000004: 00 00 00 00                                 Prefix\n' |
    diff - <(head -n 2 "$BATS_TEST_TMPDIR/new")
  [ "$("$TALLY" dump --perf=spec "$TRACE" | sed -n 2p)" = ".  00000000: 00 00 00 00                                 Prefix" ]
}

@test "dump --perf prints what perf prints, past the first window too" {
  command -v perf >/dev/null || skip "perf is not installed"
  cd "$BATS_TEST_TMPDIR"
  "$TALLY" record --on kunpeng,load=full -e hisi_ptt0_2/filter=0x80001,type=7,direction=2,format=1/ --duration 8 -m 4M -o t.data 2>/dev/null
  perf report -D -i t.data 2>/dev/null | grep -E '^\.( \.\.\. HISI|  [0-9a-f]{8}:)' >theirs || skip "this perf knows no PTT"
  grep -q '^\.  0010' theirs                       # more than a MiB in one buffer
  cut -c 1-13,26- theirs >places                    # the bytes of a word have another order in older ones
  "$TALLY" dump --perf t.data | cut -c 1-13,26- | cmp - places
}

@test "the forms of dump agree with each other" {
  json=$("$TALLY" dump --json "$TRACE" 2>/dev/null | sed -n 7p)
  row=$("$TALLY" dump -x ';' "$TRACE" 2>/dev/null | sed -n 8p)
  [ "$(echo "$json" | sed 's/"[a-z_0-9]*"://g; s/[{}"]//g; s/,/;/g')" = "$row" ]
  "$TALLY" dump -o "$BATS_TEST_TMPDIR/x.csv" "$TRACE" 2>/dev/null
  "$TALLY" dump -x , "$TRACE" 2>/dev/null | cmp - "$BATS_TEST_TMPDIR/x.csv"
}

@test "a filter is a D predicate" {
  all=$("$TALLY" dump --json "$TRACE" 2>/dev/null | grep '"requester":256,' | grep -c '"class":1,')
  [ "$all" -gt 100 ]
  [ "$("$TALLY" dump --json --filter 'args[0]->requester == 0x100 && args[0]->class == 1' "$TRACE" 2>/dev/null | wc -l)" -eq "$all" ]
  run "$TALLY" dump --filter 'requester ==' "$TRACE"
  said 1 "tally: filter: syntax error at the end ('tally dump -h' lists the fields)"
  run --separate-stderr "$TALLY" dump --json --filter 'bytes / length_dw == 2' "$TRACE"
  [ "$status" -eq 0 ]
  [[ "$stderr" == *"the filter failed for 252 records, which are left out: divide-by-zero"* ]]
}

@test "a filter takes an id next to any other sign, and leaves one in a string as it is" {
  all=$("$TALLY" dump --json --filter 'requester == 0x100' "$TRACE" 2>/dev/null | wc -l)
  [ "$all" -gt 100 ]
  [ "$("$TALLY" dump --json --filter '(requester==01:00.0)&&bytes>=0' "$TRACE" 2>/dev/null | wc -l)" -eq "$all" ]
  run "$TALLY" dump --filter 'requester == 01:20.0' "$TRACE"
  [ "$status" -ne 0 ]
  [[ "$output" == *"filter: invalid id 01:20.0 (devices are 00 to 1f, functions 0 to 7)" ]]
  run -0 "$TALLY" dump --json --filter 'message == "01:20.0" || message == "\" 01:20.0"' "$TRACE"
}

@test "a filter that has the name of a message names the field that it belongs to" {
  run "$TALLY" dump --filter Assert_INTA "$TRACE"
  [ "$status" -ne 0 ]
  [ "$output" = "tally: filter: unknown field 'Assert_INTA'; text is compared so: message == \"Assert_INTA\"" ]
}

@test "a trace compared with itself has no figure that differs" {
  run -0 "$TALLY" report "$TRACE" "$TRACE"
  [[ "$output" == *"No figure that is compared differs."* ]]
}

@test "fields of JSON have the same names in a filter and in D" {
  "$TALLY" dump --json "$TRACE" 2>/dev/null | sed -n 5p | tr -d '{}' | tr , '\n' | sed 's/^"\([a-z0-9_]*\)":/\1 == /' >"$BATS_TEST_TMPDIR/fields"
  [ "$(wc -l <"$BATS_TEST_TMPDIR/fields")" -eq 42 ]
  all=$(sed ':a; N; $!ba; s/\n/ \&\& /g' "$BATS_TEST_TMPDIR/fields")
  run --separate-stderr "$TALLY" dump --json --filter "$all" "$TRACE"
  [ "$status" -eq 0 ]
  [ "${#lines[@]}" -eq 1 ]
}

@test "a trace comes through a pipe as from a file" {
  # but for the device's name, which stands behind the records
  cut_name() { sed 's/,"device_name":.*//'; }
  cat "$TRACE" | "$TALLY" dump --json - 2>/dev/null | cut_name | cmp - <("$TALLY" dump --json "$TRACE" 2>/dev/null | cut_name)
  cat "$TRACE" | "$TALLY" dump --perf - | cmp - <("$TALLY" dump --perf "$TRACE")
}

@test "bare records are read when their format is said" {
  tail -c 819200 "$TRACE" >"$BATS_TEST_TMPDIR/tail"     # the last records and what follows them are not aligned
  dd if="$TRACE" of="$BATS_TEST_TMPDIR/raw" bs=32 skip=788 count=25600 2>/dev/null
  [ "$("$TALLY" dump --format=8dw --json "$BATS_TEST_TMPDIR/raw" 2>/dev/null | wc -l)" -eq 25600 ]
  run "$TALLY" dump "$BATS_TEST_TMPDIR/raw"
  [ "$status" -eq 1 ]
}

@test "a format of bare records that contradicts their marker is refused with the one that fits" {
  run -1 --separate-stderr "$TALLY" report --format=4dw <(head -c 6400 /dev/zero | tr '\0' '\377')
  [[ "$stderr" == *"records of 8DW"*"8dw, not 4dw"* ]]
  run -1 --separate-stderr "$TALLY" report --format=8dw <(head -c 6400 /dev/zero | tr '\0' '\101')
  [[ "$stderr" == *"not records of 8DW"*"format 4dw"* ]]
}

@test "a bad byte in the first marker of 8DW costs one record and is told, and doesn't turn the trace into 4DW" {
  cd "$BATS_TEST_TMPDIR"
  "$TALLY" record --on kunpeng,load=mixed,seed=5 --duration 30 -o good.data -e hisi_ptt0_2/filter=0x80005,type=7,direction=2,format=1/ 2>/dev/null
  first=$(LC_ALL=C grep -obUaP '\xff\xff\xff\xff\x00{4}' good.data | sed -n 2p | cut -d : -f 1)     # the first is AUXTRACE's thread and CPU
  cp good.data bad.data
  printf '\0' | dd of=bad.data bs=1 seek=$((first + 3)) conv=notrunc 2>/dev/null
  all=$("$TALLY" dump --json good.data 2>/dev/null | wc -l)
  "$TALLY" report --json bad.data >bad.json
  [ "$(grep -m 1 '"type":"summary"' bad.json | sed 's/.*"records":\([0-9]*\).*/\1/')" -eq $((all - 1)) ]
  grep -q '"type":"device".*"format_dw":8' bad.json
  grep -q '"type":"lost".*32 bytes between records have no marker of 8DW' bad.json
}

@test "what contradicts the event's format is told, and --format decides" {
  cd "$BATS_TEST_TMPDIR"
  "$TALLY" record --on kunpeng,load=mixed,seed=5 --duration 5 -o t.data -e hisi_ptt0_2/filter=0x80005,type=7,direction=2,format=0/ 2>/dev/null
  all=$("$TALLY" dump --json t.data 2>/dev/null | wc -l)
  at=$(LC_ALL=C grep -obUaP -m 1 '\x05\x00\x28\x07\x00\x00\x00\x00' t.data | head -n 1 | cut -d : -f 1)      # config 0x7280005
  printf '\1' | dd of=t.data bs=1 seek=$((at + 4)) conv=notrunc 2>/dev/null
  run -1 "$TALLY" report t.data
  has "the format is said to be 8DW, and no record of some AUX data begins with its marker: --format=4dw reads it as 4DW"
  [ "$("$TALLY" dump --json --format=4dw t.data 2>/dev/null | wc -l)" -eq "$all" ]
}

@test "bytes that were cut out of the middle of a trace of 4DW are told with their size and place, and cost the packets there" {
  cd "$BATS_TEST_TMPDIR"
  "$TALLY" record --on kunpeng,load=nvme,seed=3 --duration 20 -o whole.data -e hisi_ptt0_2/filter=0x80005,type=7,direction=2,format=0/ 2>/dev/null
  { head -c 400000 whole.data; tail -c +400101 whole.data; } >cut.data
  all=$("$TALLY" dump --json whole.data 2>/dev/null | wc -l)
  "$TALLY" report --json cut.data >cut.json
  grep -q '"type":"lost".*100 bytes are missing within AUX data' cut.json
  [ "$(grep -c '"type":"gap"' cut.json)" -eq 1 ]
  place=$(grep '"type":"gap"' cut.json | sed 's/.*"offset":\([0-9]*\),"bytes":100,.*/\1/')
  [ "$place" -gt 399900 ] && [ "$place" -lt 400100 ]
  [ "$("$TALLY" dump --json cut.data 2>/dev/null | wc -l)" -ge $((all - 10)) ]
  run -1 grep -E 'tag reused|unexpected completion|reserved type' cut.json
}

@test "a trace that was cut gives all whole packets and says what is missing" {
  head -c 600000 "$TRACE" >"$BATS_TEST_TMPDIR/cut"
  "$TALLY" dump --json "$BATS_TEST_TMPDIR/cut" >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/notes"
  [ "$(wc -l <"$BATS_TEST_TMPDIR/out")" -eq $(((600000 - 25216) / 32)) ]
  [ "$(wc -l <"$BATS_TEST_TMPDIR/notes")" -ge 2 ]
  "$TALLY" report --json "$BATS_TEST_TMPDIR/cut" | grep -q '"type":"lost"'
}

@test "what is no trace is refused with its name" {
  run "$TALLY" dump "$BATS_TEST_DIRNAME/common.bash"
  [ "$status" -eq 1 ]
  has "common.bash: "
  run "$TALLY" report /no/such/file
  [ "$status" -eq 1 ]
  has "/no/such/file"
  run "$TALLY" report /tmp
  said 1 "tally: /tmp: Is a directory"
}

@test "a file that holds no record is refused, whatever is wrong with it" {
  cd "$BATS_TEST_TMPDIR"
  : >empty; head -c 3200 /dev/zero >zeros
  head -c 50 "$TRACE" >header; head -c 500 "$TRACE" >attrs; head -c 25200 "$TRACE" >events
  for file in empty zeros header attrs events; do
    for verb in dump "report --json" "export"; do
      format=; [ $file = empty ] || [ $file = zeros ] && format=--format=8dw
      run "$TALLY" $verb $format $file
      [ "$status" -eq 1 ] || { echo "$verb $file: $status: $output"; return 1; }
      [ "${#lines[@]}" -eq 1 ] && has "tally: $file: "
    done
  done
  run "$TALLY" report "$TRACE" attrs
  [ "$status" -eq 1 ]
  has "attrs: no PTT records in this file: "
  run "$TALLY" trace --on ./zeros,format=8dw -qn tlp
  [ "$status" -eq 1 ]
  head -c 25300 "$TRACE" >two
  [ "$("$TALLY" dump two 2>/dev/null | wc -l)" -eq 3 ]
}

@test "a file that shrinks while it is read ends where it ends then" {
  dd if="$TRACE" of="$BATS_TEST_TMPDIR/once" bs=32 skip=788 count=25600 2>/dev/null
  for i in 1 2 3 4 5 6 7 8; do cat "$BATS_TEST_TMPDIR/once"; done >"$BATS_TEST_TMPDIR/raw"
  { "$TALLY" dump --format=8dw "$BATS_TEST_TMPDIR/raw" 2>"$BATS_TEST_TMPDIR/notes"; echo $? >"$BATS_TEST_TMPDIR/status"; } |
    { read -r line; truncate -s 100000 "$BATS_TEST_TMPDIR/raw"; cat >/dev/null; }
  [ "$(cat "$BATS_TEST_TMPDIR/status")" -eq 0 ]
  grep -q "bytes are missing at the end of the file" "$BATS_TEST_TMPDIR/notes"
}

@test "names that would drive a terminal are shown harmless" {
  name=$BATS_TEST_TMPDIR/$'a\e[31mb\xc2\x9bc'
  cp "$TRACE" "$name"
  "$TALLY" report "$name" >"$BATS_TEST_TMPDIR/out" 2>&1
  "$TALLY" dump "$name.x" >>"$BATS_TEST_TMPDIR/out" 2>&1 || [ $? -eq 1 ]
  "$TALLY" trace --on "$name.x" -qn tlp >>"$BATS_TEST_TMPDIR/out" 2>&1 || [ $? -eq 1 ]
  [ "$(grep -c 'a?\[31mb' "$BATS_TEST_TMPDIR/out")" -ge 3 ]
  run ! env LC_ALL=C grep -aq $'\e\|\xc2\x9b' "$BATS_TEST_TMPDIR/out"
  run "$TALLY" dump "$name.x"
  has 'a?[31mb?c.x: No such file'
}

@test "wrong options of dump, report and export end with status 2 and say what is wrong" {
  expect() { # TEXT VERB OPTIONS...
    run "$TALLY" "${@:2}"
    [ "$status" -eq 2 ] && [ "${lines[0]}" = "tally: $1" ] || { echo "${*:2}: $status: $output"; return 1; }
  }
  expect "no trace given: name a FILE" dump
  expect "only one FILE can be given" dump a b
  expect "no trace given: name a FILE" report
  expect "too many FILEs: two at most" report a b c
  expect "no trace given: name a FILE" export
  expect "--perf: invalid value 'x' (expected spec)" dump --perf=x "$TRACE"
  expect "--format: invalid value '2dw' (expected 4dw or 8dw)" dump --format=2dw "$TRACE"
  expect "--time: invalid value 'now' (expected abs or delta)" report --time=now "$TRACE"
  expect "--top: invalid value '0' (expected 1 to 100000)" report --top 0 "$TRACE"
  expect "-x: invalid separator 'ab' (expected one character)" dump -x ab "$TRACE"
  expect "--json and -x cannot be combined" dump --json -x , "$TRACE"
  expect "the perf formats show all records and take no filter" dump --perf --filter 1 "$TRACE"
  expect "--partition requires a directory: -o DIR" export --partition=host "$TRACE"
  expect "- (standard input) can be given only once" report - -
}

@test "a suffix of -o that can't be is refused" {
  cd "$BATS_TEST_TMPDIR"
  refused() { # TEXT VERB OPTIONS...
    run "$TALLY" "${@:2}" "$TRACE"
    [ "$status" -eq 2 ] && [ "$output" = "tally: $1" ] || { echo "${*:2}: $status: $output"; return 1; }
  }
  refused "-o x.parquet: dump cannot write that format; 'tally export' can" dump -o x.parquet
  refused "-o x.html: dump cannot write that format; 'tally report' can" dump -o x.html
  refused "-o x.csv: report cannot write that format; 'tally dump' can" report -o x.csv
  refused "-o x.htm: export cannot write that format; 'tally report' can" export -o x.htm
  refused "-o x.folded: report cannot write that format; 'tally trace' can" report --json -o x.folded
  refused "--json and -o x.csv cannot be combined" dump --json -o x.csv
  refused "--perf and -o x.json cannot be combined" dump --perf=spec -o x.json
  refused "--json and -o x.html cannot be combined" report --json -o x.html
  refused "-x and -o x.json cannot be combined" export -x ';' -o x.json
  refused "--json and -o x.parquet cannot be combined" export --json -o x.parquet
  refused "--partition and -o x.csv cannot be combined" export --partition host -o x.csv
  [ -z "$(ls)" ]
  "$TALLY" dump -x ';' -o x.csv "$TRACE" 2>/dev/null
}

@test "an unknown suffix of -o is refused with the list of known ones, and no file is made" {
  cd "$BATS_TEST_TMPDIR"
  unknown() { # LIST FILE VERB OPTION...
    run "$TALLY" "${@:3}" -o "$2"
    said 2 "tally: -o $2: unknown suffix for $3 (expected $1)" || { echo "$@"; return 1; }
  }
  unknown ".json, .csv, .parquet" t.pcap export "$TRACE"
  unknown ".json, .html, .htm, .txt, .log, .out" r.pdf report "$TRACE"
  unknown ".json, .csv, .txt, .log, .out" t.xls dump "$TRACE"
  unknown ".json, .csv, .txt, .log, .out" t.xml stat --on power --view cec --count 1
  unknown ".json, .csv, .txt, .log, .out" t.xml list ptt
  unknown ".data, .perf" t.pcap record --on kunpeng --duration 1 -e hisi_ptt0_2/filter=0x80001,type=1/
  run "$TALLY" record --on kunpeng --duration 1 -o t.json -e hisi_ptt0_2/filter=0x80001,type=1/
  said 2 "tally: -o t.json: record cannot write that format; 'tally dump' can"
  [ -z "$(ls)" ]
  for name in r r.txt r.2 tmp.Zq81AbCdEf .r; do
    "$TALLY" report -o "$name" "$TRACE"
    grep -q '^Summary$' "$name" || { echo "$name"; return 1; }
  done
  "$TALLY" dump -x '\t' -o t.tsv "$TRACE" 2>/dev/null
  [ "$(head -n 1 t.tsv | cut -f 1)" = time ] || { head -n 1 t.tsv; return 1; }
}

@test "a file that somebody else opened keeps what is in it, in every verb" {
  cd "$BATS_TEST_TMPDIR"
  kept() { # COMMAND: what is in `log` before stands at its beginning after, and more behind it
    echo precious >log
    bash -c "$1" || { echo "$1: $?"; return 1; }
    [ "$(head -n 1 log)" = precious ] && [ "$(wc -l <log)" -gt 1 ] || { echo "$1:"; head -n 3 log; return 1; }
  }
  for to in "-o /dev/stdout >>log" "-o /dev/stderr 2>>log" "-o log >>log" "-o /dev/fd/9 9>>log" "-o - >>log" ">>log"; do
    for verb in report dump export; do kept "'$TALLY' $verb '$TRACE' $to"; done
    kept "'$TALLY' stat --on power --view cec --count 1 $to"
    kept "'$TALLY' list --on power gpci $to"
    kept "'$TALLY' get --on power gpci/entitled/ $to"
  done
  for to in "-o log >>log" "-o /dev/stdout >>log" "-o /dev/fd/9 9>>log"; do
    echo precious >log
    bash -c "'$TALLY' record --on kunpeng --duration 1 -e hisi_ptt0_2/filter=0x80001,type=1/ $to" 2>/dev/null
    [ "$(head -c 9 log)" = "precious" ] && [ ! -e log.old ] || { echo "record $to"; ls; return 1; }
    tail -c +10 log >t.data
    "$TALLY" report t.data | grep -q '^Summary$'
  done
}

@test "a trace is never written over" {
  cd "$BATS_TEST_TMPDIR"
  cp "$TRACE" mine; cp "$TRACE" m.parquet; ln -s m.parquet link.parquet
  for verb in dump report "export"; do
    run "$TALLY" $verb -o mine mine
    said 2 "tally: -o mine would overwrite the trace"
    run "$TALLY" $verb -o mine - <mine
    said 2 "tally: -o mine would overwrite the trace"
    "$TALLY" $verb mine >>mine 2>err || [ $? -eq 2 ]
    [ "$(cat err)" = "tally: standard output would overwrite the trace" ]
  done
  for name in m link; do
    run "$TALLY" export -o $name.parquet m.parquet
    [ "$status" -eq 2 ]
    run "$TALLY" export -o $name.parquet --sql 'FROM tlp' m.parquet
    [ "$status" -eq 2 ]
  done
  for on in mine mine,time=abs -; do
    run "$TALLY" trace --on $on -o mine -n tlp <mine
    said 2 "tally: -o mine would overwrite the trace"
  done
  cmp "$TRACE" mine
  cmp "$TRACE" m.parquet
}

@test "a report that fails leaves the file as it was, and makes none" {
  cd "$BATS_TEST_TMPDIR"
  head -c 3200 /dev/zero >zeros
  echo old >page.html
  run "$TALLY" report --format=8dw -o page.html zeros
  [ "$status" -eq 1 ]
  [ "$(cat page.html)" = old ]
  run "$TALLY" report --format=8dw -o none.html zeros
  [ ! -e none.html ]
  head -c 900000 /dev/zero >page.html
  "$TALLY" report -o page.html "$TRACE" 2>/dev/null
  [ "$(tail -c 8 page.html)" = "</html>" ]
}

@test "an answer without a byte empties its file, and one that broke off stays as far as it came" {
  cd "$BATS_TEST_TMPDIR"
  echo old >t.json
  "$TALLY" dump --json --filter 0 -o t.json "$TRACE"
  [ -e t.json ] && [ ! -s t.json ] || { cat t.json; return 1; }
  (ulimit -f 4; run "$TALLY" dump -o t.txt "$TRACE"; [ "$status" -eq 1 ])
  [ -s t.txt ]
}

@test "a full disk is an error" {
  run "$TALLY" report -o /dev/full "$TRACE"
  [ "$status" -eq 1 ]
  has "failed to write to /dev/full"
}

@test "the answer of a query may lose its reader, too" {
  needs_duckdb
  for form in "" --json "-x ,"; do
    { status=0; "$TALLY" export $form --sql 'SELECT * FROM tlp' "$TRACE" 2>/dev/null || status=$?; echo $status >"$BATS_TEST_TMPDIR/status"; } |
      head -n 1 >/dev/null
    [ "$(cat "$BATS_TEST_TMPDIR/status")" -eq 141 ]
  done
}

@test "help of each verb has three examples or more, and its page each of its options" {
  for verb in dump report "export"; do
    [ "$("$TALLY" $verb -h | grep -c "^  tally $verb ")" -ge 3 ]
    "$TALLY" $verb -h | sed -n 's/^  *\(-[a-z],\)\{0,1\} *\(-[-a-z0-9]*\).*/\2/p' | while read -r option; do
      grep -qE -- "\`$option(\`|=| |\[)" "$BATS_TEST_DIRNAME/../doc/verb/$verb.md" || { echo "$verb: not in the page: $option"; return 1; }
    done
  done
}

# ---- report ------------------------------------------------------------------------------------------

@test "a report fits a terminal of 80 columns" {
  LC_ALL=C.UTF-8 "$TALLY" report "$TRACE" | sed "s,$TRACE,/a/trace," >"$BATS_TEST_TMPDIR/out" # a path is as long as it is
  ! LC_ALL=C.UTF-8 grep -E '.{81}' "$BATS_TEST_TMPDIR/out" || false
  for title in Summary "By TLP type" "By requester" "By completer" "By address page" "Latency in ticks" "Over time" Errors \
    Link "How packets are cut" "MSIs and doorbells" Messages; do
    grep -qx "$title" "$BATS_TEST_TMPDIR/out" || { echo "no $title"; return 1; }
  done
}

@test "without UTF-8 a report is ASCII" {
  ! LC_ALL=C "$TALLY" report "$TRACE" | LC_ALL=C grep -q '[^ -~]' || false
}

@test "a report counts what a dump shows" {
  reported
  "$TALLY" dump -x , "$TRACE" 2>/dev/null >"$BATS_TEST_TMPDIR/rows"
  column() { head -n 1 "$BATS_TEST_TMPDIR/rows" | tr , '\n' | grep -nx "$1" | cut -d : -f 1; }
  [ "$(number summary records)" -eq 25600 ]
  for class in 0:posted 1:non_posted 2:completions; do
    [ "$(number summary "${class#*:}")" -eq "$(awk -F, -v c="$(column class)" -v w="${class%:*}" 'NR > 1 && $c == w' "$BATS_TEST_TMPDIR/rows" | wc -l)" ]
  done
  awk -F, -v t="$(column type_name)" 'NR > 1 { n[$t]++ } END { for (i in n) print i, n[i] }' "$BATS_TEST_TMPDIR/rows" | sort >"$BATS_TEST_TMPDIR/types"
  sed -n 's/.*"type":"tlp_type","name":"\([^"]*\)","tlps":\([0-9]*\).*/\1 \2/p' "$report" | sort | diff - "$BATS_TEST_TMPDIR/types"
  [ "$(number time_line step)" -gt 0 ]
  sums=$(grep '"type":"time_line"' "$report" | sed 's/.*"name":"tlps","values":\[\([0-9,]*\)\].*/\1/' | tr , + | bc)
  [ "$sums" -eq 25600 ]
}

@test "JSON of a report is JSON, one object per line, the schema first" {
  needs_python
  reported
  python3 -c '
import json, sys
rows = [json.loads(line) for line in sys.stdin]
assert rows[0]["schema"] == 1 and list(rows[0])[0] == "schema"
assert all("type" in r for r in rows)
' <"$report"
}

@test "no object of JSON has a key twice" {
  needs_python
  head -c 300000 "$TRACE" >"$BATS_TEST_TMPDIR/half"
  { "$TALLY" report --json "$TRACE"; "$TALLY" report --json "$BATS_TEST_TMPDIR/half"; "$TALLY" report --json "$TRACE" "$BATS_TEST_TMPDIR/half"
    "$TALLY" dump --json "$TRACE"; } 2>/dev/null | python3 -c '
import json, sys
def once(pairs):
    keys = [k for k, v in pairs]
    assert len(keys) == len(set(keys)), keys
    return dict(pairs)
types = {json.loads(line, object_pairs_hook=once).get("type") for line in sys.stdin}
assert {"error_log", "page", "msi", "message_log", "perhaps_chance", "lost", "latency_heat"} <= types, types
'
}

@test "what became of requests adds up, and means the same for each requester and for D" {
  adds_up() {
    reported
    [ "$(number summary non_posted)" -eq $(($(number summary answered) + $(number summary unanswered) + $(number summary given_up) +
      $(number summary unanswerable))) ]
    for key in answered unanswered given_up unanswerable; do
      [ "$(grep '"type":"requester"' "$report" | sed "s/.*\"$key\":\([0-9]*\).*/\1/" | paste -sd + | bc)" -eq "$(number summary $key)" ]
    done
    run "$TALLY" trace --on "$TRACE" -qn 'transaction { @ = count(); }'
  }
  adds_up                                            # 8DW of direction 2, in which nobody can say what has no answer
  [ "$(number summary unanswerable)" -gt 0 ]
  has "tally: $(number summary unanswerable) requests fired no transaction: the event's direction can't show their completions"
  tail -c +25217 "$TRACE" | head -c 819200 >"$BATS_TEST_TMPDIR/bare"       # the same records, and no event
  "$TALLY" report --format=8dw --json "$BATS_TEST_TMPDIR/bare" >"$BATS_TEST_TMPDIR/bare.json"
  report=$BATS_TEST_TMPDIR/bare.json
  [ "$(number summary given_up)" -gt 0 ]
  run "$TALLY" trace --on "$BATS_TEST_TMPDIR/bare,format=8dw" -qn 'transaction { @ = count(); }'
  has "tally: $(number summary unanswered) unanswered requests fired no transaction"
  has "tally: $(number summary given_up) requests given up"
}

@test "--top cuts every table, and lengthens those of addresses beyond 64 rows" {
  "$TALLY" report --json --top=2 "$TRACE" >"$BATS_TEST_TMPDIR/two"
  for type in tlp_type requester completer page size error error_log; do
    [ "$(grep -c "\"type\":\"$type\"" "$BATS_TEST_TMPDIR/two")" -le 2 ]
  done
  "$TALLY" report --json --top=1000 "$TRACE" >"$BATS_TEST_TMPDIR/many"
  [ "$(grep -c '"type":"page"' "$BATS_TEST_TMPDIR/many")" -gt 64 ]
}

@test "what --top cuts is told by how many rows" {
  "$TALLY" report --json --top=2 "$TRACE" >"$BATS_TEST_TMPDIR/two"
  "$TALLY" report --json --top=100000 "$TRACE" >"$BATS_TEST_TMPDIR/many"
  tables=0
  while read -r of rows; do
    tables=$((tables + 1))
    [ "$(grep -c "\"type\":\"$of\"" "$BATS_TEST_TMPDIR/many")" -eq $((rows + 2)) ] || { echo "$of: $rows"; return 1; }
  done < <(sed -n 's/.*"type":"left_out".*"of":"\([^"]*\)","rows":\([0-9]*\).*/\1 \2/p' "$BATS_TEST_TMPDIR/two" | grep -E "^(page|requester|completer|size) ")
  [ $tables -gt 0 ]
}

@test "the first error of each kind comes before the second of any, and --errors lists them all" {
  "$TALLY" record --on kunpeng,load=faulty --duration 50 -o "$BATS_TEST_TMPDIR/d" -e hisi_ptt0_2/filter=00:11.0,type=p+np+cpl,direction=2/ 2>/dev/null
  "$TALLY" report --json --top=1000 "$BATS_TEST_TMPDIR/d" >"$BATS_TEST_TMPDIR/few"
  "$TALLY" report --json --errors "$BATS_TEST_TMPDIR/d" >"$BATS_TEST_TMPDIR/all"
  log() { grep '"type":"error_log"' "$1" | sed 's/.*"error":"\([^"]*\)".*"requester":"\([^"]*\)".*/\1 \2/'; }
  [ "$(log "$BATS_TEST_TMPDIR/all" | wc -l)" -eq "$(grep '"type":"error"' "$BATS_TEST_TMPDIR/all" | sed 's/.*"count":\([0-9]*\).*/\1/' | paste -sd + | bc)" ]
  kinds=$(log "$BATS_TEST_TMPDIR/all" | sort -u | wc -l)
  [ "$kinds" -ge 3 ]
  # Each kind of each requester once, but for those that may only have been under way.
  [ "$(log "$BATS_TEST_TMPDIR/few" | head -n "$kinds" | sort | uniq -d | grep -vc '^unanswered')" -eq 0 ]
  [[ "$(log "$BATS_TEST_TMPDIR/few" | head -n 1)" != "completion without"* ]]
}

@test "reads between devices, which 4DW of direction 2 holds twice, count once, with the latency that 8DW has" {
  for f in 4dw 8dw; do
    "$TALLY" record --on kunpeng,load=p2p --duration 20 -o "$BATS_TEST_TMPDIR/$f" -e hisi_ptt0_2/filter=00:11.0,type=p+np+cpl,direction=2,format=$f/ 2>/dev/null
    "$TALLY" trace --on "$BATS_TEST_TMPDIR/$f" -qn 'ptt:::np /args[0]->requester == 0x400/ { @all = count(); }
      transaction /args[0]->requester == 0x400 && args[0]->completer == 0x500/ { @done = count(); @s = sum(args[1]->latency); }' \
      >"$BATS_TEST_TMPDIR/$f.counts" 2>/dev/null
  done
  [ "$(wc -w <"$BATS_TEST_TMPDIR/4dw.counts")" -eq 3 ]
  diff "$BATS_TEST_TMPDIR"/4dw.counts "$BATS_TEST_TMPDIR"/8dw.counts
  TRACE=$BATS_TEST_TMPDIR/4dw reported
  [ "$(number summary unexpected_completions)" -eq 0 ]
  [ "$(number summary tag_reuse)" -eq 0 ]
  [ "$(number summary duplicates)" -gt 1000 ]
  reads=$(grep '"type":"requester","requester":"04:00.0"' "$report" | sed 's/.*"reads":\([0-9]*\).*/\1/')
  [ "$reads" -eq "$(awk 'NF { print $1; exit }' "$BATS_TEST_TMPDIR/8dw.counts")" ]
}

@test "posted writes between devices, which nothing pairs, are counted as often as they were seen, and how many may be duplicates is said" {
  for f in 4dw 8dw; do
    "$TALLY" record --on kunpeng,load=p2p --duration 20 -o "$BATS_TEST_TMPDIR/$f" -e hisi_ptt0_2/filter=00:11.0,type=p+np+cpl,direction=2,format=$f/ 2>/dev/null
    "$TALLY" report --json "$BATS_TEST_TMPDIR/$f" >"$BATS_TEST_TMPDIR/$f.report"
  done
  writes() { grep '"type":"requester","requester":"05:00.0"' "$BATS_TEST_TMPDIR/$1.report" | sed 's/.*"writes":\([0-9]*\).*/\1/'; }
  duplicates=$(($(writes 4dw) - $(writes 8dw)))
  [ "$duplicates" -gt 10000 ]
  report=$BATS_TEST_TMPDIR/4dw.report
  [ "$(number summary posted_duplicates_at_most)" -ge "$duplicates" ]
  [ "$(number summary posted_duplicates_at_most)" -le $(($(number summary posted) / 2)) ]
  grep -q '"cannot_tell".*posted requests may be duplicates' "$report"
  run -1 grep -E 'posted_duplicates_at_most":[1-9]' "$BATS_TEST_TMPDIR/8dw.report"
}

@test "a host's own reads, which direction 2 never sees answered, are neither outstanding nor errors" {
  "$TALLY" record --on kunpeng,load=nvme --duration 20 -o "$BATS_TEST_TMPDIR/d" -e hisi_ptt0_2/filter=00:10.0,type=p+np+cpl,direction=2/ 2>/dev/null
  TRACE=$BATS_TEST_TMPDIR/d reported
  [ "$(number summary unanswerable)" -eq 446 ]
  [ "$(number summary tag_reuse)" -eq 0 ]
  [ "$(number summary outstanding_peak)" -eq 17 ]
  [ "$(sed -n 's/.*"outstanding_mean":\([^,]*\),.*/\1/p' "$report" | head -n 1)" = null ] # the trace is sparse
  run -1 grep -c '"error_log".*"00:10.0"' "$report"
}

@test "a read of IO space asks for the bytes that are enabled, and not for the whole double word" {
  printf '\x00\x08\x00\x04\x03\x05\x00\x01\xf8\x03\x00\x00\x00\x00\x00\x00' >"$BATS_TEST_TMPDIR/io" # IORd, 01:00.0, first BE 3
  "$TALLY" report --json --format=4dw --time=abs "$BATS_TEST_TMPDIR/io" >"$BATS_TEST_TMPDIR/io.report"
  grep '"type":"requester"' "$BATS_TEST_TMPDIR/io.report" | grep -q '"asked_bytes":2,'
  grep '"type":"tlp_type","name":"IORd"' "$BATS_TEST_TMPDIR/io.report" | grep -q '"bytes":2,'
}

@test "a comparison has nothing for twice the same, and no change between two seeds of one load" {
  "$TALLY" report --json "$TRACE" "$TRACE" >"$BATS_TEST_TMPDIR/same"
  ! grep -qE '"type":"(change|perhaps_chance)"' "$BATS_TEST_TMPDIR/same" || false
  for seed in 1 2; do
    "$TALLY" record --on kunpeng,load=nvme,seed=$seed --duration 20 -o "$BATS_TEST_TMPDIR/d$seed" -e hisi_ptt0_2/filter=00:10.0,type=p+np+cpl,direction=2/ 2>/dev/null
  done
  "$TALLY" report --json --top=1000 "$BATS_TEST_TMPDIR/d1" "$BATS_TEST_TMPDIR/d2" >"$BATS_TEST_TMPDIR/seeds"
  ! grep -q '"type":"change"' "$BATS_TEST_TMPDIR/seeds" || false
  [ "$(grep -c '"type":"perhaps_chance"' "$BATS_TEST_TMPDIR/seeds")" -gt 10 ]
  grep -q 'Nothing differs by more than two traces of one load do' "$BATS_TEST_TMPDIR/seeds"
}

@test "what a setting changed is found, with its size and both distributions on the page" {
  for level in 0 2; do
    "$TALLY" machine kunpeng,load=mixed --listen "$BATS_TEST_TMPDIR/s$level" >/dev/null 2>&1 3>&- &
    for _ in $(seq 200); do [ -S "$BATS_TEST_TMPDIR/s$level" ] && break; sleep 0.02; done
    "$TALLY" set --on "unix:$BATS_TEST_TMPDIR/s$level" hisi_ptt0_2/tx_alloc_buf_level=$level >/dev/null
    "$TALLY" record --on "unix:$BATS_TEST_TMPDIR/s$level" --duration 100 -o "$BATS_TEST_TMPDIR/d$level" -e hisi_ptt0_2/filter=00:10.0,type=p+np+cpl,direction=2/ >/dev/null 2>&1
    kill %%
    wait %%
  done
  "$TALLY" report --json "$BATS_TEST_TMPDIR/d2" "$BATS_TEST_TMPDIR/d0" >"$BATS_TEST_TMPDIR/changes"
  grep '"type":"change"' "$BATS_TEST_TMPDIR/changes" | head -n 1 | grep -q '"what":"[^"]*\(latency\|completion\).*"change":-0\.[1-6].*"error":0\.0'
  "$TALLY" report -o "$BATS_TEST_TMPDIR/page.html" "$BATS_TEST_TMPDIR/d2" "$BATS_TEST_TMPDIR/d0"
  grep -q '"over":"latency"' "$BATS_TEST_TMPDIR/page.html"
  for threads in 1 3; do
    "$TALLY" report --threads=$threads --top=1000 --json "$BATS_TEST_TMPDIR/d2" "$BATS_TEST_TMPDIR/d0" |
      grep -E '"type":"(change|perhaps_chance)"' | grep -v peak | cut -d, -f2-5 | sort >"$BATS_TEST_TMPDIR/by$threads"
  done
  [ -s "$BATS_TEST_TMPDIR/by1" ] && diff "$BATS_TEST_TMPDIR/by1" "$BATS_TEST_TMPDIR/by3"
}

@test "no progress line where nobody looks" {
  run --separate-stderr "$TALLY" report "$TRACE"
  [ "$status" -eq 0 ]
  [ -z "$stderr" ]
}

@test "what a direction can't show is told by direction and kind of record, also of a requester that is answered in part" {
  one() { # LOAD SEED DIRECTION FORMAT
    "$TALLY" record --on "kunpeng,load=$1,seed=$2" --duration 20 -o "$BATS_TEST_TMPDIR/d" -e "hisi_ptt0_2/filter=0x80005,type=7,direction=$3,format=$4/" 2>/dev/null
    TRACE=$BATS_TEST_TMPDIR/d reported
    [ "$(number summary non_posted)" -eq $(($(number summary answered) + $(number summary unanswered) + $(number summary unanswerable))) ]
    [ "$(number summary unanswered)" -le 16 ]      # under way at the end
    for key in given_up unexpected_completions tag_reuse; do [ "$(number summary $key)" -eq 0 ] || { echo "$*: $key"; return 1; }; done
    run -1 grep -E '"error_log".*(tag reused|unexpected completion)' "$report"
  }
  one p2p 3 2 0
  answered=$(grep '"type":"requester","requester":"04:00.0"' "$report" | sed 's/.*"answered":\([0-9]*\).*/\1/')
  one p2p 3 2 1                                       # of what it asks the host, the completions go out
  mean=$(number summary outstanding_mean)
  grep -q '"cannot_tell".*Direction 2 of 8DW is inbound (P, NP, CPL B), so completions of [0-9]* requests cannot be in the trace' "$report"
  row=$(grep '"type":"requester","requester":"04:00.0"' "$report")
  [ "$(sed 's/.*"unanswerable":\([0-9]*\).*/\1/' <<<"$row")" -gt 1000 ]
  here=$(sed 's/.*"answered":\([0-9]*\).*/\1/' <<<"$row")
  [ "$here" -gt 1000 ] && [ "$here" -lt "$answered" ]
  grep -q '"outstanding_peak":null' <<<"$row"
  one p2p 3 0 0                                       # and here requests of completions, too
  [ "$(number summary answered)" -eq "$here" ]
  [ "$(number summary requestless)" -gt 500 ]
  grep -q '"cannot_tell".*Direction 0 of 4DW.*completions of [0-9]* requests and requests of [0-9]* completions' "$report"
  one nvme 4 3 0
  [ "$(number summary requestless)" -gt 20000 ]
  [ "$(number summary unanswerable)" -eq 0 ]
  [ "$(grep -c '"cannot_tell".*Direction 3 of 4DW' "$report")" -eq 1 ]
  awk "BEGIN { exit !($mean > 0.5 && $mean < 2) }"      # it was 8.7
}

@test "a comparison has no errors that the reports of its traces don't have" {
  cd "$BATS_TEST_TMPDIR"
  for seed in 1 2; do
    "$TALLY" record --on kunpeng,load=mixed,seed=$seed --duration 20 -o $seed.data -e hisi_ptt0_2/filter=0x80005,type=7,direction=2,format=0/ 2>/dev/null
    run -1 grep '"type":"error"' <("$TALLY" report --json $seed.data)
  done
  for threads in 1 2; do
    "$TALLY" report --json --top=1000 --threads=$threads 1.data 2.data >both.json
    grep -q '"type":"perhaps_chance"' both.json
    run -1 grep -E 'tag reused|unanswered' both.json
  done
}

@test "a requester whose writes may have been seen twice has them as an upper bound in its row, in each form" {
  cd "$BATS_TEST_TMPDIR"
  "$TALLY" record --on kunpeng,load=p2p,seed=3 --duration 5 -o t.data -e hisi_ptt0_2/filter=0x80005,type=7,direction=2,format=0/ 2>/dev/null
  [ "$("$TALLY" report --json t.data | grep '"type":"requester","requester":"05:00.0"' | sed 's/.*"posted_duplicates_at_most":\([0-9]*\).*/\1/')" -gt 1000 ]
  "$TALLY" report t.data | grep -E '^ *05:00.0 +<= [0-9,]+ +[0-9,]+ +<= [0-9,]+ .*<= [0-9.]+ MiB'
  "$TALLY" report -o t.html t.data
  grep -qE '05:00.0.*&lt;= [0-9.]+ MiB' t.html
}

# ---- the page --------------------------------------------------------------------------------------------

@test "the page asks the network for nothing and allows its own script only" {
  command -v openssl >/dev/null || skip "no openssl"
  page=$BATS_TEST_TMPDIR/report.html
  "$TALLY" report -o "$page" "$TRACE"
  ! grep -qE 'https?:|src=|@import|url\(' "$page" || false
  hash=$(sed -n 's/.*<script>\(.*\)<\/script>.*/\1/p' "$page" | tr -d '\n' | openssl dgst -sha256 -binary | base64)
  grep -qF "script-src 'sha256-$hash'" "$page"
  [ "$(wc -c <"$page")" -lt 1000000 ]
}

@test "a browser shows the figures of the report and draws its pictures" {
  browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || skip "no Chromium"
  reported
  "$TALLY" report -o "$BATS_TEST_TMPDIR/report.html" "$TRACE"
  timeout 60 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$BATS_TEST_TMPDIR/profile" \
    --virtual-time-budget=5000 --dump-dom "file://$BATS_TEST_TMPDIR/report.html" >"$BATS_TEST_TMPDIR/dom" 2>/dev/null
  for key in records span posted non_posted completions answered failed unanswered unexpected_completions unanswerable; do
    shown=$(sed -n "s/.*data-key=\"$key\" data-v=\"\([0-9]*\)\".*/\1/p" "$BATS_TEST_TMPDIR/dom" | head -n 1)
    [ -n "$shown" ] && [ "$shown" = "$(number summary $key)" ] || { echo "$key: $shown, not $(number summary $key)"; return 1; }
  done
  # every requester's row: its name, and its packets
  sed -n 's/.*"type":"requester","requester":"\([^"]*\)","tlps":\([0-9]*\).*/\1 \2/p' "$report" >"$BATS_TEST_TMPDIR/want"
  sed -n '/data-part="requester"/,/<\/table>/s/.*<tr><td class="t" data-v="\([^"]*\)">[^<]*<\/td><td data-v="\([0-9]*\)">.*/\1 \2/p' \
    "$BATS_TEST_TMPDIR/dom" | diff - "$BATS_TEST_TMPDIR/want"
  [ "$(wc -l <"$BATS_TEST_TMPDIR/want")" -ge 5 ]
  # the script has run: as many steps as the time line has
  steps=$(grep '"type":"time_line"' "$report" | sed 's/.*"name":"tlps","values":\[\([0-9,]*\)\].*/\1/' | tr , '\n' | grep -c .)
  grep -q "data-part=\"time_line\" data-drawn=\"$steps\"" "$BATS_TEST_TMPDIR/dom"
  grep -q "data-part=\"latency_heat\" data-drawn=\"$steps\"" "$BATS_TEST_TMPDIR/dom"
}

@test "the README's pictures are of the pages that report, trace and serve write today" {
  tools/picture.sh -c
}

# ---- export ----------------------------------------------------------------------------------------------

@test "CSV and JSON need no library" {
  export TALLY_DUCKDB=/nowhere
  "$TALLY" export "$TRACE" 2>/dev/null | cmp - <("$TALLY" dump -x , "$TRACE" 2>/dev/null)
  "$TALLY" export -o "$BATS_TEST_TMPDIR/x.json" "$TRACE" 2>/dev/null
  cmp "$BATS_TEST_TMPDIR/x.json" <("$TALLY" dump --json "$TRACE" 2>/dev/null)
}

@test "without DuckDB's library SQL says what to do, with status 3" {
  TALLY_DUCKDB=/nowhere run "$TALLY" export --sql 'SELECT 1' "$TRACE"
  [ "$status" -eq 3 ]
  has "tally doctor"
}

@test "SQL runs over the trace itself" {
  needs_duckdb
  reported
  run --separate-stderr "$TALLY" export -x , --sql 'SELECT type_name, count(*) AS n FROM tlp GROUP BY ALL ORDER BY n DESC, type_name;' "$TRACE"
  [ "$status" -eq 0 ]
  diff <(printf 'type_name,n\n'; sed -n 's/.*"type":"tlp_type","name":"\([^"]*\)","tlps":\([0-9]*\).*/\1,\2/p' "$report" | sort -t , -k 2nr,2 -k 1,1) <(echo "$output")
  run --separate-stderr "$TALLY" export --json --sql 'SELECT count(*) AS n, min(device_name) AS d, NULL AS x FROM tlp' "$TRACE"
  said 0 '{"n":25600,"d":"hisi_ptt0_2","x":null}'
  run --separate-stderr "$TALLY" export -x , --sql 'SELECT count(*) FROM tlp a JOIN tlp b USING ("offset")' "$TRACE"
  [ "${lines[1]}" = 25600 ]
}

@test "a query that is wrong is refused in DuckDB's words" {
  needs_duckdb
  run "$TALLY" export --sql 'SELECT requestor FROM tlp' "$TRACE"
  [ "$status" -eq 1 ]
  has 'requestor'
  run "$TALLY" export --sql 'CREATE TABLE x AS FROM tlp' "$TRACE"
  [ "$status" -eq 1 ]
  has "only SELECT"
}

@test "Parquet comes in one file, or partitioned for many captures" {
  needs_duckdb
  cd "$BATS_TEST_TMPDIR"
  "$TALLY" export -o "it's.parquet" "$TRACE" 2>/dev/null
  run --separate-stderr "$TALLY" export -x , --sql "SELECT count(*), sum(bytes) FROM 'it''s.parquet' UNION SELECT count(*), sum(bytes) FROM tlp" "$TRACE"
  [ "${#lines[@]}" -eq 2 ]
  "$TALLY" export -o captures --partition=host,capture,hour --host=here --capture=one --hour=2026-11-21T17 "$TRACE" 2>/dev/null
  "$TALLY" export -o captures --partition=host,capture,hour --host=here --capture=two --hour=2026-11-21T18 "$TRACE" 2>/dev/null
  [ -d captures/host=here/capture=one/hour=2026-11-21T17 ]
  run --separate-stderr "$TALLY" export -x , --sql "SELECT capture, count(*) AS n FROM 'captures/**/*.parquet' GROUP BY ALL ORDER BY ALL" "$TRACE"
  said 0 "capture,n
one,25600
two,25600"
}

@test "captures accumulate in a partition, and the same one takes its own place" {
  needs_duckdb
  cd "$BATS_TEST_TMPDIR"
  cp "$TRACE" monday.1.data; head -c 400000 "$TRACE" >monday.2.data
  for file in monday.1.data monday.2.data monday.1.data; do
    "$TALLY" export -o hosts --partition host --host here $file 2>/dev/null
    "$TALLY" export -o captures --partition capture $file 2>/dev/null
  done
  [ "$(find hosts -name '*.parquet' | wc -l)" -eq 2 ]
  both=$((25600 + $("$TALLY" dump --json monday.2.data 2>/dev/null | wc -l)))
  run --separate-stderr "$TALLY" export -x , --sql "SELECT count(*) AS n FROM 'hosts/**/*.parquet'" "$TRACE"
  said 0 "n
$both"
  [ "$(ls captures | tr '\n' ' ')" = "capture=monday.1 capture=monday.2 " ]
  for i in 1 2; do "$TALLY" export -o piped --partition host --host h - 2>/dev/null < <(cat "$TRACE"); done
  [ "$(find piped -name '*.parquet' | wc -l)" -eq 2 ]
}

# Offset 315120 is a whole number of records behind the header, in one AUX buffer: a burst is cut in two there.
@test "a cut of whole records within one AUX buffer was told at time 0, spanned by latencies, and held against the machine" {
  cd "$BATS_TEST_TMPDIR"
  "$TALLY" record --on kunpeng,load=p2p,seed=1 --duration 20 -o t.data -e hisi_ptt0_2/filter=0x80004,type=7,direction=2,format=1/ 2>/dev/null
  { head -c 315120 t.data; tail -c +$((315120 + 32000 + 1)) t.data; } >cut.data
  most=$("$TALLY" report --json t.data | sed -n 's/.*"last completion".*"max":\([0-9]*\).*/\1/p')
  [ "$("$TALLY" report --json cut.data | sed -n 's/.*"last completion".*"max":\([0-9]*\).*/\1/p')" = "$most" ]
  run "$TALLY" report --json cut.data
  [[ $output == *'"span_at_least":true,"gaps":1,"gap_bytes":32000'*'"unexpected_completions":0'* ]]
  [[ $output == *'"type":"gap","time":2032888,"offset":315120,"bytes":32000,'*'"why":"AUX data is shorter than its size: cut out here"'*'"until":2224330'* ]]
  [[ $output != *'"type":"error"'* ]]
  run "$TALLY" check -i cut.data ptt
  [ "$status" -eq 0 ]
  [[ $output != *broken* ]]
}

@test "one Time too far ahead moved the times of all records behind it in dump and D, but not in a report" {
  cd "$BATS_TEST_TMPDIR"
  "$TALLY" record --on kunpeng,load=p2p,seed=1 --duration 2 -o t.data -e hisi_ptt0_2/filter=0x80004,type=7,direction=2,format=1/ 2>/dev/null
  at=$("$TALLY" dump --json t.data 2>/dev/null | sed -n '500s/.*"offset":\([0-9]*\).*/\1/p')
  cp t.data far.data
  printf '\x10' | dd of=far.data bs=1 seek=$((at + 31)) conv=notrunc 2>/dev/null
  for f in t far; do "$TALLY" dump --json $f.data 2>/dev/null | sed '500d' >$f.json; done
  cmp t.json far.json
  for f in t far; do "$TALLY" trace --on ./$f.data -qn 'ptt:::{ @ = max(args[0]->time); }' >$f.max; done
  cmp t.max far.max
}

@test "check held a cut that no size tells of against the machine, and no word said what else it may be" {
  cd "$BATS_TEST_TMPDIR"
  "$TALLY" record --on kunpeng,load=p2p,seed=1 --duration 20 -o t.data -e hisi_ptt0_2/filter=0x80004,type=7,direction=2,format=0/ 2>/dev/null
  "$TALLY" check -i t.data ptt >/dev/null 2>&1
  # 2,048 records in the middle become one posted write: sizes and offsets are what they were
  write=$("$TALLY" dump --json t.data 2>/dev/null | sed -n '/"MWr32"/{s/.*"offset":\([0-9]*\).*/\1/p;q;}')
  tail -c +$((write + 1)) t.data | head -c 16 >block
  for i in 1 2 3 4 5 6 7 8 9 10 11; do cat block block >more && mv more block; done
  cp t.data cut.data
  dd if=block of=cut.data bs=16 seek=9000 conv=notrunc 2>/dev/null
  run "$TALLY" check -i cut.data ptt
  [ "$status" -eq 1 ]
  [[ $output == *"records that are missing from the file look so, too: 'tally report' searches for them"* ]]
}

@test "a file whose end is missing had exact ticks and greatest latencies" {
  cd "$BATS_TEST_TMPDIR"
  "$TALLY" record --on kunpeng,load=p2p,seed=1 --duration 20 -o t.data -e hisi_ptt0_2/filter=0x80004,type=7,direction=2,format=1/ 2>/dev/null
  run "$TALLY" report --json t.data
  [[ $output == *'"summary"'* && $output != *may_be_missing* ]]
  head -c $(($(stat -c %s t.data) / 2)) t.data >end
  run "$TALLY" report --json end
  [[ $output == *"missing at the end of the file"* && $output == *'"records_may_be_missing":true'* ]]
  [[ $output == *'nothing says for certain where'* ]]
}

# Bare records have no sizes, so nothing else tells.
@test "records cut out of a 4DW trace that no size misses were told as unexpected completions and reused tags" {
  cd "$BATS_TEST_TMPDIR"
  "$TALLY" record --on kunpeng,load=p2p,seed=1 --duration 20 -o t.data -e hisi_ptt0_2/filter=0x80004,type=7,direction=2,format=0/ 2>/dev/null
  first=$("$TALLY" dump --json t.data 2>/dev/null | sed -n '1s/.*"offset":\([0-9]*\).*/\1/p')
  n=$("$TALLY" report --json t.data | sed -n 's/.*"summary".*"records":\([0-9]*\),.*/\1/p')
  tail -c +$((first + 1)) t.data | head -c $((16 * n)) >whole
  most=$("$TALLY" report --json --format 4dw whole | sed -n 's/.*"last completion".*"max":\([0-9]*\).*/\1/p')
  for threads in 1 2; do
    run "$TALLY" report --json --threads $threads --format 4dw whole
    [[ $output == *'"unexpected_completions":0,'*'"tag_reuse":0,'* && $output != *'"gaps"'* && $output != *may_be_missing* ]]
    { head -c $((16 * 9000)) whole; tail -c +$((16 * 10000 + 1)) whole; } >cut
    run "$TALLY" report --json --threads $threads --format 4dw cut
    [[ $output == *'"gaps":1,'*'"unexpected_completions":0,'*'"tag_reuse":0,'* ]]
    [[ $output == *'"records_may_be_missing":true'* ]] # elsewhere, too: this place was found, others may not be
    [[ $output == *'"type":"gap"'*'"why":"requests and completions break off"'* ]]
    [ "$(sed -n 's/.*"last completion".*"max":\([0-9]*\).*/\1/p' <<<"$output")" = "$most" ]
  done
  # a pipe can't be counted twice: there the figures are bounds, and say so
  run "$TALLY" report --json --format 4dw - < <(cat cut)
  [[ $output == *'"records_may_be_missing":true'* && $output == *'"cannot_tell"'*'no size, offset or flag says so'* ]]
  "$TALLY" report --format 4dw - < <(cat cut) | grep -qE 'unexpected completions +<= [1-9]'
}

@test "a 4DW trace against one of 8DW was compared as if both showed the same, without a word of the formats" {
  for f in 4dw 8dw; do
    "$TALLY" record --on kunpeng,load=p2p --duration 5 -o "$BATS_TEST_TMPDIR/$f" -e hisi_ptt0_2/filter=00:11.0,type=p+np+cpl,direction=2,format=$f/ 2>/dev/null
  done
  run "$TALLY" report --json "$BATS_TEST_TMPDIR/4dw" "$BATS_TEST_TMPDIR/8dw"
  [ "$status" -eq 0 ]
  [[ $output == *'A has 4DW of direction 2 and type 7, B has 8DW of direction 2 and type 7'* ]]
  [[ $output != *latency* ]] || [[ $output != *'"type":"change"'* ]]
  [[ $output != *'"unit":"ticks"'* ]]
  [[ $output != *'per 1000 ticks'* ]]
}

@test "ticks and rates of 4DW records with pauses stood there as if they were exact" {
  "$TALLY" record --on kunpeng,load=p2p,seed=1 --duration 20 -o "$BATS_TEST_TMPDIR/t" -e hisi_ptt0_2/filter=0x80004,type=7,direction=2,format=0/ 2>/dev/null
  run "$TALLY" report --json "$BATS_TEST_TMPDIR/t"
  [[ $output == *'"span_at_least":true'*'"sparse":true'* ]]
}

@test "reads of a peer that direction 3 can't show answered were thousands of reused tags" {
  cd "$BATS_TEST_TMPDIR"
  "$TALLY" record --on kunpeng,load=p2p,seed=12 --duration 5 -o t.data -e hisi_ptt0_2/filter=05:00.0,type=p+np+cpl,direction=3/ 2>/dev/null
  run "$TALLY" report --json t.data
  reads=$(grep -o '"requester","requester":"04:00.0","tlps":[0-9]*' <<<"$output" | grep -o '[0-9]*$')
  [ "$reads" -gt 1000 ]
  [[ $output == *'"unanswered":0,"given_up":0,"unanswerable":'$reads',"unexpected_completions":0,'*'"tag_reuse":0,'* ]]
  [[ $output == *'"requester":"04:00.0"'*'"outstanding_peak":null,'* ]]
  [[ $output != *records_may_be_missing* ]]
  [[ $output != *'"type":"error'* ]]
  [[ $output == *"so completions of $reads requests and requests of "*' completions cannot be in the trace'* ]]
  # the host's are answered there, and are no such ones
  [[ $output == *'"requester":"00:11.0"'*'"unanswerable":0,'* ]]
  # nothing of them is in a comparison
  "$TALLY" record --on kunpeng,load=p2p,seed=13 --duration 5 -o u.data -e hisi_ptt0_2/filter=05:00.0,type=p+np+cpl,direction=3/ 2>/dev/null
  run "$TALLY" report --json t.data u.data
  [ "$status" -eq 0 ]
  [[ $output != *'tag reused'* ]]
}

# recorded FILE LOAD FILTER TYPE DIRECTION FORMAT, of the same seed
recorded() {
  "$TALLY" record --on "kunpeng,load=$2,seed=5" --duration 8 -o "$1" -e "hisi_ptt0_2/filter=$3,type=$4,direction=$5,format=$6/" 2>/dev/null
}

# The truth has 32 bits of time: 8DW traces of the same packets.  Truth and judgement: lib/ptt_truth.py.
@test "an average of outstanding requests was 14 times too high where 11 bits of time hid pauses, and a host's reads were duplicates" {
  needs_python
  cd "$BATS_TEST_TMPDIR"
  for load in mixed nvme contended faulty nic; do
    for port in 00:10.0 00:11.0; do
      [ $load$port != faulty00:11.0 ] || continue # there devices talk to each other
      recorded seen $load $port 7 2 0
      recorded in $load $port 7 2 1
      for type in 1 2 4; do recorded out$type $load $port $type 1 1; done
      "$TALLY" report --json --top=100000 seen >report
      for trace in in out1 out2 out4; do # the network card answers some of these requests only: a trace may be empty
        run "$TALLY" export -o $trace.csv $trace
        [ "$status" -eq 0 ] || { said 1 "tally: $trace: no PTT records in this file"; : >$trace.csv; }
      done
      python3 "$BATS_TEST_DIRNAME/lib/ptt_truth.py" report in out1 out2 out4 || { echo "of $load at $port"; return 1; }
    done
  done
}

@test "where nothing could be answered outstanding requests were unknown here and none there" {
  recorded "$BATS_TEST_TMPDIR/t" p2p 00:10.0 7 2 0
  "$TALLY" report --json "$BATS_TEST_TMPDIR/t" >"$BATS_TEST_TMPDIR/json"
  [ "$(grep -o '"outstanding_[a-z]*":[^,}]*' "$BATS_TEST_TMPDIR/json" | grep -vc ':null')" -eq 0 ]
  [ "$(grep -c '"outstanding_mean":null,"outstanding_peak":null' "$BATS_TEST_TMPDIR/json")" -eq 2 ] # the summary, the device
  ! grep -q '"name":"outstanding_' "$BATS_TEST_TMPDIR/json" || false
  "$TALLY" report "$BATS_TEST_TMPDIR/t" >"$BATS_TEST_TMPDIR/text"
  [ "$(grep -cE '^  outstanding, (mean|peak) +-$' "$BATS_TEST_TMPDIR/text")" -eq 2 ]
}

@test "a comparison told rates of traces whose times had lost whole turns as if they were known, and latencies as if they were exact" {
  cd "$BATS_TEST_TMPDIR"
  for load in mixed contended full; do recorded $load $load 00:10.0 7 2 0; done
  "$TALLY" report --json --top=1000 mixed contended >sparse
  ! grep -qE '"unit":"per 1000 ticks"|"what":"outstanding requests, mean"' sparse || false
  grep -q '"cannot_tell","about":"time".*rates and outstanding requests on average are not compared' sparse
  grep '"what":"latency mean"' sparse | grep -q '"at_least":\["a","b"\],"approximate":\["change"\]'
  grep -q 'Records of A are sparse' sparse
  "$TALLY" report --json contended >dense
  ! grep -q '"sparse"' dense || false
  "$TALLY" report --json --top=1000 contended full >rates
  grep '"what":"packets"' rates | grep -q '"at_most":\["a","b"\],"approximate":\["change"\]'
  "$TALLY" report --top=1000 contended full | grep -qE '^  packets +<= [0-9.,]+ +<= [0-9.,]+ +~ '
}

@test "reads of a requester were of memory by their name, and of configuration too by their number" {
  recorded "$BATS_TEST_TMPDIR/t" mixed 00:10.0 7 2 0
  reads=$("$TALLY" dump --filter 'requester == 0x80 && (type_index == 0 || type_index == 1)' "$BATS_TEST_TMPDIR/t" 2>/dev/null | tail -n +2 | wc -l)
  config=$("$TALLY" dump -x , "$BATS_TEST_TMPDIR/t" 2>/dev/null | grep -c CfgRd)
  row=$("$TALLY" report --json "$BATS_TEST_TMPDIR/t" | grep '"type":"requester","requester":"00:10.0"')
  [[ $row == *"\"reads\":$((reads + config)),"*"\"config\":$config"* && $config -gt 0 && $reads -gt 0 ]]
  "$TALLY" report "$BATS_TEST_TMPDIR/t" | grep -A40 '^By requester' | tr -s '\n ' ' ' | grep -q 'Reads and writes are those of memory, I/O and configuration'
}

@test "writes that may be counted twice were marked in the requesters' table alone" {
  "$TALLY" record --on kunpeng,load=p2p,seed=1 --duration 5 -o "$BATS_TEST_TMPDIR/t" -e hisi_ptt0_2/filter=0x80004,type=7,direction=2,format=0/ 2>/dev/null
  run "$TALLY" report "$BATS_TEST_TMPDIR/t"
  grep -A8 '^By TLP type' <<<"$output" | grep -q 'MWr.*<='
  grep -A8 '^Link' <<<"$output" | grep -q 'payload.*<='
  grep -A12 '^Sizes in bytes' <<<"$output" | grep -q '<='
  grep -A12 '^By address page' <<<"$output" | grep -q '<='
  shares=$("$TALLY" report --json "$BATS_TEST_TMPDIR/t" | sed -n 's/.*"type":"tlp_type".*"share":\([0-9.]*\).*/\1/p' | paste -sd+ | bc)
  [[ $shares == 1.0* || $shares == .99999* ]]
}

@test "means, shares, link efficiency and the time line had writes in them that may be there twice, and no mark" {
  cd "$BATS_TEST_TMPDIR"
  for seed in 3 4; do
    "$TALLY" record --on kunpeng,load=p2p,seed=$seed --duration 4 -o t$seed -e hisi_ptt0_2/filter=00:11.0,type=p+np+cpl,direction=2,format=4dw/ 2>/dev/null
  done
  "$TALLY" report --json t3 >json
  [ "$(grep -c '"type":"tlp_type"' json)" -ge 4 ]
  [ "$(grep '"type":"tlp_type"' json | grep -vc '"approximate":\["share"')" -eq 0 ]
  for type in MWr32 MWr64; do grep "\"name\":\"$type\"" json | grep -q '"approximate":\["share","mean"\]'; done
  grep '"name":"CplD"' json | grep -q '"approximate":\["share"\]' # the mean is known
  grep '"type":"link"' json | grep -q '"approximate":\["efficiency","write_enabled","relaxed"\]'
  grep '"type":"time_line"' json | grep -q '"at_most":\["tlps","bytes"\]'
  grep '"type":"summary"' json | grep -q '"at_most":\["posted"\]'
  "$TALLY" report t3 >text
  grep -qE '^  MWr32 +<= [0-9,]+ +~ [0-9.]+ % +<= [0-9.]+ MiB +~ [0-9.]+ ' text
  grep -qE '^  link efficiency +~ ' text
  grep -qE '^  <= TLPs ' text
  grep -qE '^  <= payload bytes ' text
  "$TALLY" report -o page.html t3
  grep -qF '&lt;= TLPs' page.html || grep -qF '<= TLPs' page.html || grep -qF '\u003c= TLPs' page.html
  "$TALLY" report --json --top=1000 t3 t4 | grep '"what":"link efficiency"' | grep -q '"approximate":\["a","b","change"\]'
}

@test "percentiles of 4DW traces, which are a fraction of a bucket, were compared as lower bounds" {
  cd "$BATS_TEST_TMPDIR"
  for load in contended full; do recorded $load $load 00:10.0 7 2 0; done
  "$TALLY" report --json --top=1000 contended full >rates
  [ "$(grep -cE '"what":"[^"]*(p10|p50|p90|p99|middle 90 %)"' rates)" -ge 3 ]
  [ "$(grep -E '"what":"[^"]*(p10|p50|p90|p99|middle 90 %)"' rates | grep -vc '"approximate":\["a","b","change"\]')" -eq 0 ]
  grep '"what":"latency max"' rates | grep -q '"at_least":\["a","b"\]'
}

@test "latency over time was a heading over nothing where no completion was seen" {
  cd "$BATS_TEST_TMPDIR"
  recorded t mixed 00:10.0 1 2 0
  "$TALLY" report t >text
  grep -q '^Over time' text
  ! grep -q '^Latency over time' text || false
  recorded all mixed 00:10.0 7 2 0
  "$TALLY" report all | grep -A1 '^Latency over time' | grep -q '|'
}

# 5,000 records of 16 bytes: more than the 64 KiB that were looked through.
@test "a cut of more than 64 KiB was read over, with perf records taken for packets" {
  "$TALLY" record --on kunpeng,load=p2p,seed=1 --duration 20 -o "$BATS_TEST_TMPDIR/t" -e hisi_ptt0_2/filter=0x80004,type=7,direction=2,format=0/ 2>/dev/null
  { head -c 830736 "$BATS_TEST_TMPDIR/t"; tail -c +$((830736 + 80000 + 1)) "$BATS_TEST_TMPDIR/t"; } >"$BATS_TEST_TMPDIR/cut"
  run "$TALLY" report --json "$BATS_TEST_TMPDIR/cut"
  [[ $output == *'"gaps":1,"gap_bytes":80000'* ]]
  [[ $output == *'"cut_within":80000'* ]]
  [[ $output != *'reserved type'* ]]
}
