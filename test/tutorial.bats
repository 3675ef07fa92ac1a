#!/usr/bin/env bats
# What the tutorials say is so: their commands run, in order, and print what stands there.

load common

B=${B:-build}

setup() {
  ROOT=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
  cd "$BATS_TEST_TMPDIR" || return 1
  PATH=$(realpath "$(dirname "$TALLY")"):$PROGS:$PATH
  # The source tree, in which what the commands write is gone afterwards.
  ln -s "$ROOT"/* .
  export B
}

page() { COLUMNS=80 "$ROOT/tools/transcript.sh" "$ROOT/doc/tutorial/$1.md"; }

@test "the tutorial for performance engineers is true" { page cpu; }
@test "the tutorial for PCIe engineers is true" { page pcie; }
@test "the tutorial for administrators of servers is true" { page server; }
@test "the tutorial for authors of drivers and emulators is true" {
  export HOME=$BATS_TEST_TMPDIR
  page emulator
}

@test "each tutorial is run, and says how its programs come into the path" {
  for file in "$ROOT"/doc/tutorial/*.md; do
    grep -qw "page $(basename "$file" .md)" "$BATS_TEST_FILENAME" || { echo "$file"; return 1; }
    grep -qF 'make all progs && PATH=$PWD/build:$PWD/build/prog:$PATH' "$file" || { echo "$file: no PATH"; return 1; }
  done
  for command in tally brendan; do command -v $command; done
}

@test "commands of the tutorials fit 80 columns" {
  ! awk 'FNR == 1 { more = 0 } /^\$ / || more { if (length > 80) print FILENAME ": " $0; more = /\\$/ }' "$ROOT"/doc/tutorial/*.md | grep .
}

@test "in the manual only what stands below OPTIONS is a tagged option" {
  printf '%s\n' '# tally x - y' '## THINGS' '- `-p`: told' '- `-t`, `-u`: too' '## OPTIONS' '- `-p PID`: taken' '## MORE' '- `-z`: last' |
    awk -v page=x -v version=1 -f "$ROOT/tools/md2man.awk" >page.1
  [ "$(grep -c '^\.TP' page.1)" -eq 1 ]
  grep -A1 '^\.TP' page.1 | grep -qF 'PID'
  [ "$(grep -c '^\.IP' page.1)" -eq 3 ]
}

@test "a tutorial that says something else is found out" {
  printf '```console\n$ echo one\ntwo\n```\n' >page.md
  run "$ROOT/tools/transcript.sh" page.md
  [ "$status" -eq 1 ]
  printf '```console\n$ printf "a\\nb\\nc\\n"\na\n...\nc\n```\n' >page.md
  "$ROOT/tools/transcript.sh" page.md
  printf '```console\n$ false\n```\n' >page.md
  run "$ROOT/tools/transcript.sh" page.md
  [ "$status" -eq 1 ]
}
