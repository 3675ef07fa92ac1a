#!/usr/bin/env bats
# Names as people write them. The truth is that of the programs in test/prog/name: each of their functions touches a known
# number of fresh pages, one page fault each.
bats_require_minimum_version 1.5.0
load common

NAME=$BATS_TEST_DIRNAME/prog/name

has() { for tool; do command -v "$tool" >/dev/null || skip "$tool is not there"; done; }

# faults OPTIONS CLAUSE COMMAND: the page faults of the command.
faults() {
  needs_bpf
  run --separate-stderr "$TALLY" trace $1 -x dcpc_min_overflow=1 -qn "cpc:::page_faults-user-1 /pid == \$target/ { $2 }" -c "$3"
  [ "$status" -eq 0 ] || { echo "$stderr"; return 1; }
}
# gave NAME PAGES: the row of that name, to the letter, with so many faults; a few may be lost, or come on top.
gave() {
  local n
  n=$(awk -v name="$1" '{ v = $NF; sub(/^ +/, ""); sub(/ +[0-9]+$/, ""); if ($0 == name) n += v } END { print n + 0 }' <<<"$output")
  [ "$n" -ge $(($2 * 95 / 100)) ] && [ "$n" -le $(($2 * 105 / 100)) ] || { echo "$1: $n, not $2"; echo "$output"; return 1; }
}
# folded OPTIONS PROGRAM: folded stacks, from which `output` has the innermost frames.
folded() {
  rm -f "$BATS_TEST_TMPDIR/x.folded"
  faults "$1 -o $BATS_TEST_TMPDIR/x.folded" '@[ustack(1)] = count();' "$2"
  output=$(cat "$BATS_TEST_TMPDIR/x.folded")
}
compile_cc() {
  has g++
  g++ -O1 -g -fno-omit-frame-pointer "$@" -o "$BATS_TEST_TMPDIR/shop" "$NAME/shop.cc"
}

@test "functions of C++ have their names with types of parameters; -x demangle=off and short" {
  compile_cc
  faults '' '@[ufunc(arg1)] = count();' "$BATS_TEST_TMPDIR/shop"
  gave 'shop`shop::till::ring(char*, long)' 2000
  gave 'shop`shop::till::ring(char*, int)' 1000
  gave 'shop`shop::shelf<char>::fill(char*, long)' 500
  faults '-x demangle=off' '@[ufunc(arg1)] = count();' "$BATS_TEST_TMPDIR/shop"
  gave 'shop`_ZN4shop4till4ringEPcl' 2000
  gave 'shop`_ZN4shop4till4ringEPci' 1000
  # without parameters the two are one row
  faults '-x demangle=short' '@[ufunc(arg1)] = count();' "$BATS_TEST_TMPDIR/shop"
  gave 'shop`shop::till::ring' 3000
  gave 'shop`shop::shelf<char>::fill' 500
}

@test "folded stacks have names of C++ too" {
  compile_cc
  folded '' "$BATS_TEST_TMPDIR/shop"
  gave 'shop`shop::till::ring(char*, long)' 2000
  folded '-x demangle=short' "$BATS_TEST_TMPDIR/shop"
  gave 'shop`shop::till::ring' 3000
}

@test "functions of Rust have their names, mangled in the legacy form and in v0" {
  local form
  has rustc
  for form in legacy v0; do
    RUSTC_BOOTSTRAP=1 rustc -O -Z unstable-options -C symbol-mangling-version=$form -o "$BATS_TEST_TMPDIR/shop" "$NAME/shop.rs" 2>"$BATS_TEST_TMPDIR/err" ||
      skip "this rustc has no form $form: $(head -n 1 "$BATS_TEST_TMPDIR/err")"
    faults '' '@[ufunc(arg1)] = count();' "$BATS_TEST_TMPDIR/shop"
    gave 'shop`<shop::till::Drawer as shop::till::Ring>::ring' 2000
    gave 'shop`shop::till::fill' 1000
  done
}

@test "addresses of a stripped object are one frame [module] in folded stacks, and addresses with -x rawaddr" {
  compile_cc -s
  folded '' "$BATS_TEST_TMPDIR/shop"
  gave '[shop]' 3500
  [[ "$output" != *'shop`0x'* ]]
  folded '-x rawaddr' "$BATS_TEST_TMPDIR/shop"
  [ "$(grep -c '^shop`0x[0-9a-f]* ' <<<"$output")" -ge 3 ]
  [[ "$output" != *'[shop]'* ]]
  # text stays as dtrace(1) prints it
  faults '' '@[ustack(1)] = count();' "$BATS_TEST_TMPDIR/shop"
  [ "$(grep -c 'shop`0x[0-9a-f]*$' <<<"$output")" -ge 3 ]
}

@test "-x demangle takes on, off and short, and nothing else" {
  for value in on off short; do "$TALLY" trace --on vm -x demangle=$value -qn 'BEGIN { exit(0); }'; done
  run -2 "$TALLY" trace -x demangle=long -qn 'BEGIN { exit(0); }'
  [[ "$output" == *'option demangle takes on, off or short'* ]]
}
