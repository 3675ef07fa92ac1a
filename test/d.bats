#!/usr/bin/env bats
# The language: the examples of doc/d.md print what the page shows, and what authors of scripts trip over.
load common

# What the page's examples need, and the list of them, in the test's directory, which is the current one from here on.
take_apart() {
  cd "$BATS_TEST_TMPDIR" || return 1
  mkdir lib
  export TZ=UTC # of %Y
  awk -v dir=. -f "$BATS_TEST_DIRNAME/lib/page-examples.awk" "$BATS_TEST_DIRNAME/../doc/d.md" >list
  PATH=$(dirname "$(realpath "$TALLY")"):$PATH COLUMNS=80 "$BATS_TEST_DIRNAME/../tools/transcript.sh" "$BATS_TEST_DIRNAME/../doc/d.md"
}

# Runs the examples of the page that are for WHERE, each with these options; it prints what the page says.
examples_print() { # WHERE OPTION...
  local i where status options n=0
  while read -r i where; do
    [ "$where" = "$1" ] || continue
    eval "options=($(cat "$i.options"))"
    status=0
    "$TALLY" trace "${@:2}" -q "${options[@]}" -s "$i.d" >got 2>errors </dev/null || status=$?
    if [ "$where" = guest ] && [ "$status" -eq 1 ] && grep -qE 'CONFIG_KALLSYMS_ALL|locked down' errors; then
      skip "$(head -n 1 errors)"
    fi
    sed -i 's/ *$//; /^$/d' got
    [ "$status" -eq 0 ] && diff "$i.want" got || { echo "example $i, status $status:"; cat "$i.d" errors; return 1; }
    n=$((n + 1))
  done <list
  [ "$n" -ge 3 ] || { echo "$n examples"; return 1; }
}

@test "each example and command of doc/d.md prints what stands behind it" {
  command -v cc >/dev/null && command -v cpp >/dev/null || skip "no C compiler"
  take_apart
  [ "$(wc -l <list)" -ge 60 ]
  examples_print vm --on=vm
}

@test "each example of doc/d.md that needs the kernel prints what stands behind it" {
  command -v cc >/dev/null && command -v cpp >/dev/null || skip "no C compiler"
  needs_types
  take_apart
  examples_print kernel
}

# test/vm/kernel.sh has such a kernel.
@test "each example of doc/d.md that needs the kernel's variables prints what stands behind it" {
  command -v cc >/dev/null && command -v cpp >/dev/null || skip "no C compiler"
  needs_types
  take_apart
  examples_print guest
}

@test "doc/d.md names each variable, function and action that the compiler knows" {
  names=$(sed -nE 's/^(CALL|BUILTIN|LATER)\(([a-z][a-z0-9_]*),.*/\2/p' "$BATS_TEST_DIRNAME"/../src/dlang/{call,builtin}.def)
  [ "$(wc -w <<<"$names")" -ge 120 ]
  for name in $(grep -vx name <<<"$names"); do
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

@test "an argument that is neither a number nor a name is a string, with quotes around it or without" {
  echo 'BEGIN { printf("[%s] [%s] [%s] [%s]\n", $1, $2, $3, $4); exit(0); }' >"$BATS_TEST_TMPDIR/text.d"
  run "$TALLY" trace --on=vm -qs "$BATS_TEST_TMPDIR/text.d" /etc/passwd '"two words"' 10.0.0.1 ''
  said 0 "[/etc/passwd] [two words] [10.0.0.1] []"
  run "$TALLY" trace --on=vm -qs "$BATS_TEST_TMPDIR/text.d" '"' '""' '"a' '-'
  said 0 '["] [] ["a] [-]'
}

@test "escapes in an argument that is a string are those of a string" {
  run "$TALLY" trace --on=vm -qn 'BEGIN { printf("%d %d [%s]\n", strlen($$1), strlen($2), $$3); exit(0); }' 'a\tb' '"a\tb"' 'end\'
  said 0 '3 3 [end\]'
}

@test "of an aggregation that is redefined both functions are told, on lines of their own" {
  run "$TALLY" trace --on=vm -e -n 'BEGIN { @a = count(); @a = sum(1); }'
  said 1 $'tally: invalid probe specifier BEGIN { @a = count(); @a = sum(1); }: in action list: aggregation redefined: @a
\t current: @a = sum( )\n\tprevious: @a = count( ) : line 1'
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
