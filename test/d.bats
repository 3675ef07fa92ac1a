#!/usr/bin/env bats
# The language: the examples of doc/d.md print what the page shows, and what authors of scripts trip over.
load common

@test "each example of doc/d.md prints what stands behind it" {
  awk -v dir="$BATS_TEST_TMPDIR" '/^```d( |$)/ { to = dir "/" ++n ($2 == "kernel" ? ".kernel" : "") ".d"; sub(/^```d( kernel)? ?/, ""); print >(dir "/" n ".options"); next }
    /^```text$/ { to = dir "/" n ".want"; next } /^```/ { to = ""; next } to { print >to } END { print n }' \
    "$BATS_TEST_DIRNAME/../doc/d.md" >"$BATS_TEST_TMPDIR/n"
  n=$(cat "$BATS_TEST_TMPDIR/n")
  [ "$n" -ge 15 ]
  for i in $(seq "$n"); do
    where=(--on=vm -qs "$BATS_TEST_TMPDIR/$i.d")
    if [ -e "$BATS_TEST_TMPDIR/$i.kernel.d" ]; then
      [ "$(id -u)" -eq 0 ] && [ -r /sys/kernel/btf/vmlinux ] || continue
      where=(-qs "$BATS_TEST_TMPDIR/$i.kernel.d")
    fi
    read -ra options <"$BATS_TEST_TMPDIR/$i.options"
    "$TALLY" trace "${options[@]}" "${where[@]}" >"$BATS_TEST_TMPDIR/$i.got" 2>/dev/null </dev/null
    sed -i 's/ *$//; /^$/d' "$BATS_TEST_TMPDIR/$i.got"
    diff "$BATS_TEST_TMPDIR/$i.want" "$BATS_TEST_TMPDIR/$i.got" || { echo "example $i"; return 1; }
  done
}

@test "doc/d.md names each variable, function and action that the compiler knows" {
  names=$(sed -nE 's/^(CALL|BUILTIN|LATER)\(([a-z][a-z0-9_]*),.*/\2/p' "$BATS_TEST_DIRNAME"/../src/dlang/{call,builtin}.def)
  [ "$(wc -w <<<"$names")" -ge 120 ]
  for name in $(grep -vxE 'name|arg[1-8]' <<<"$names"); do
    grep -qw -- "$name" "$BATS_TEST_DIRNAME/../doc/d.md" || { echo "doc/d.md does not name $name"; return 1; }
  done
}

@test "words that D reserves are no names, and the refusal says so" {
  for word in counter import probe provider; do
    run "$TALLY" trace --on=vm -n "int $word; BEGIN { exit(0); }"
    [ "$status" -eq 1 ]
    has "syntax error near \"$word\"; D reserves this word: call it otherwise"
  done
}

@test "addresses of the net have the types that scripts know" {
  run "$TALLY" trace --on=vm -q -n 'struct in6_addr { uint8_t b[16]; };
    BEGIN { a = (ipaddr_t *)alloca(sizeof(ipaddr_t)); *a = htonl(0x7f000001); b = (in6_addr_t *)alloca(sizeof(in6_addr_t)); b->b[15] = 1;
    printf("%s %s %d\n", inet_ntoa(a), inet_ntoa6(b), sizeof(ipaddr_t)); exit(0); }'
  said 0 "127.0.0.1 ::1 4"
}

@test "a member that was assigned NULL is NULL, and printing it faults" {
  run "$TALLY" trace --on=vm -qs "$BATS_TEST_DIRNAME/differential/null_members.d"
  [ "$status" -eq 0 ]
  [[ $output == *"1 1 0 0"* ]]
  has $'[]\n[] [] 1'
  [[ "$output" != *"not here"* ]]
}
