# newcomer.bats - what the first half hour with tally ran into: words that are refused without help, and words that mislead.

load common

setup() { cd "$BATS_TEST_TMPDIR"; }

# ---- tally dump --filter ---------------------------------------------------------------------------

trace_here() {
  "$TALLY" record --on kunpeng,load=nvme -e hisi_ptt0_2/filter=00:10.0,type=p+np+cpl,direction=2/ --duration 2 -o t.data 2>/dev/null
}

@test "dump --filter: an id as dump prints it, 01:00.0, is no syntax error" {
  trace_here
  "$TALLY" dump --filter 'requester == 0x100' t.data >number 2>/dev/null
  [ "$(wc -l <number)" -gt 10 ]
  "$TALLY" dump --filter 'requester == 01:00.0' t.data >id 2>/dev/null
  cmp number id
  "$TALLY" dump --filter '0000:01:00.0==requester && requester_text != "02:00.0"' t.data >id 2>/dev/null
  cmp number id
  "$TALLY" dump --filter 'class==2?completer==00:10.0:0' t.data >id 2>/dev/null
  [ "$(wc -l <id)" -gt 10 ]
}

@test "dump --filter: an id with a segment, or that is none, is refused with the numbers to write" {
  trace_here
  run "$TALLY" dump --filter 'requester == 0001:01:00.1' t.data
  said 1 'tally: filter: 0001:01:00.1 has a segment, which is a field of its own: requester == 0x101 && segment == 0x1'
  run "$TALLY" dump --filter 'requester == 01:20.0' t.data
  said 1 'tally: filter: 01:20.0 is no id: devices are 00 to 1f, functions 0 to 7'
}

@test "dump --filter: a packet's name without quotes is refused without the field and the quotes" {
  trace_here
  run "$TALLY" dump --filter 'type == MWr' t.data
  said 1 'tally: filter: there is no field MWr; texts are compared so: type_name == "MWr32" or type_name == "MWr64"'
  run "$TALLY" dump --filter 'status == UR' t.data
  said 1 'tally: filter: there is no field UR; texts are compared so: statusname == "UR"'
}

@test "dump --filter: len is taken for ln, where length_dw is meant" {
  trace_here
  run "$TALLY" dump --filter 'len > 4' t.data
  said 1 "tally: filter: there is no field len; did you mean length_dw? ('tally dump -h' lists them)"
}

@test "dump -h and tally-dump(1) do not say which fields a filter may name" {
  "$TALLY" dump -h | sed -n '/^Fields of args/,/^$/s/^  \([a-z_0-9]*\) .*/\1/p' | grep . >fields
  [ "$(wc -l <fields)" -gt 40 ]
  while read -r field; do
    grep -q "\`$field\`" "$BATS_TEST_DIRNAME/../doc/verb/dump.md" || { echo "not in dump.md: $field"; false; }
  done <fields
  trace_here
  "$TALLY" dump --json t.data 2>/dev/null | head -1 | grep -o '"[a-z_0-9]*":' | tr -d '":' | sort >json
  [ -z "$(sort fields | comm -13 - json)" ]
}
