#!/usr/bin/env bats
# The examples of doc/d.md print what the page shows.
load common

@test "each example of doc/d.md prints what stands behind it" {
  awk -v dir="$BATS_TEST_TMPDIR" '/^```d$/ { n++; to = dir "/" n ".d"; next } /^```text$/ { to = dir "/" n ".want"; next }
    /^```/ { to = ""; next } to { print >to } END { print n }' "$BATS_TEST_DIRNAME/../doc/d.md" >"$BATS_TEST_TMPDIR/n"
  n=$(cat "$BATS_TEST_TMPDIR/n")
  [ "$n" -ge 15 ]
  for i in $(seq "$n"); do
    "$TALLY" trace --on=vm -qs "$BATS_TEST_TMPDIR/$i.d" >"$BATS_TEST_TMPDIR/$i.got" 2>/dev/null
    sed -i 's/ *$//; /^$/d' "$BATS_TEST_TMPDIR/$i.got"
    diff "$BATS_TEST_TMPDIR/$i.want" "$BATS_TEST_TMPDIR/$i.got" || { echo "example $i"; return 1; }
  done
}
