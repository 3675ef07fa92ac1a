#!/usr/bin/env bats
# What the tutorials say is so: their commands run, in order, and print what stands there.

load common

setup() {
  ROOT=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
  cd "$BATS_TEST_TMPDIR" || return 1
  PATH=$(realpath "$(dirname "$TALLY")"):$PROGS:$PATH
  ln -s "$ROOT/examples" examples
}

page() { COLUMNS=80 "$ROOT/tools/transcript.sh" "$ROOT/doc/tutorial/$1.md"; }

@test "the tutorial for performance engineers is true" { page cpu; }
@test "the tutorial for PCIe engineers is true" { page pcie; }
@test "the tutorial for administrators of servers is true" { page server; }
@test "the tutorial for authors of drivers and emulators is true" { page emulator; }

@test "the README is true" {
  cd "$ROOT"
  PATH=$ROOT/build:$PATH COLUMNS=80 tools/transcript.sh README.md
}

@test "each tutorial is run" {
  for file in "$ROOT"/doc/tutorial/*.md; do
    grep -q "{ page $(basename "$file" .md); }" "$BATS_TEST_FILENAME" || { echo "$file"; return 1; }
  done
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
