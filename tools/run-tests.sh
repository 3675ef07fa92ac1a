#!/bin/bash
# run-tests.sh [-t SECONDS] [-s FILE] [-l FILE] TEST... - runs tests that speak TAP and adds up.
#
# TEST is a command with its arguments in one word ("tools/law.sh --self-test"), or a .bats file.  Shown: one line
# per test, each skip with its reason, and for a failure what it printed.  A test that dies, runs past -t (120), or
# fails without a `not ok` (a leak found at exit) counts as one more failure.
# Last line: `N passed, M failed, K skipped`; -s appends the three numbers to FILE.  -l appends all that the tests print to FILE.
# Exit 1 on failure.
set -u
limit=120 sums= all=
while getopts t:s:l: o; do case $o in t) limit=$OPTARG ;; s) sums=$OPTARG ;; l) all=$OPTARG ;; *) exit 2 ;; esac; done
shift $((OPTIND - 1))
export CMOCKA_MESSAGE_OUTPUT=TAP
# A crash must end the process, a finding must be seen, and bats must not colour.
export ASAN_OPTIONS=${ASAN_OPTIONS:-abort_on_error=0:detect_leaks=1} UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
passed=0 failed=0 skipped=0
out=$(mktemp)
trap 'rm -f "$out"' EXIT

for t; do
  case $t in *.bats) run="bats --tap $t" ;; *) run=$t ;; esac
  timeout -k 5 "$limit" $run >"$out" 2>&1
  rc=$?
  [ -z "$all" ] || { echo "== $t"; cat "$out"; } >>"$all"
  # cmocka 1.1.5 writes a skip as "not ok 3 # SKIP name", newer ones and bats as "ok 3 ... # SKIP".
  read -r p f s < <(awk '
    /^(not )?ok / && /# [Ss][Kk][Ii][Pp]/ { s++; next }
    /^ok / { p++ }
    /^not ok / { f++ }
    END { print p + 0, f + 0, s + 0 }' "$out")
  why=
  if [ $rc -eq 124 ] || [ $rc -eq 137 ]; then why="took more than $limit s"
  elif [ $rc -gt 128 ]; then why="died of signal $((rc - 128))"
  elif [ $rc -ne 0 ] && [ "$f" -eq 0 ]; then why="exit status $rc"
  elif [ $((p + f + s)) -eq 0 ]; then why="ran no test"
  fi
  # cmocka's exit status is its number of failures, and some versions count a skip as one.
  [ "$why" = "exit status $s" ] && [ "$s" -gt 0 ] && why=
  [ -n "$why" ] && f=$((f + 1))
  printf '%-40s %3d passed%s%s%s\n' "${t#./}" "$p" "$([ "$f" -gt 0 ] && echo ", $f FAILED")" \
    "$([ "$s" -gt 0 ] && echo ", $s skipped")" "${why:+ ($why)}"
  if [ "$f" -gt 0 ]; then sed '/^ok /d; s/^/    /' "$out"
  elif [ "$s" -gt 0 ]; then
    # cmocka 1.1.5 has no place for the reason: a test prints it on the line before.
    awk '/^(not )?ok .*# [Ss][Kk][Ii][Pp]/ {
        sub(/^(not )?ok [0-9]+ *(- )?/, ""); sub(/^# SKIP */, "")
        print "    skipped: " $0 (said == "" ? "" : " (" said ")"); said = ""; next
      }
      /^(not )?ok |^1\.\./ { said = ""; next }
      { said = $0; sub(/^#? *(skipped: *)?/, "", said) }' "$out"
  fi
  passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
done
[ -n "$sums" ] && echo "$passed $failed $skipped" >>"$sums"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
