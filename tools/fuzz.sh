#!/bin/bash
# fuzz.sh [-r RUNS | -t SECONDS] TARGET... - runs fuzz targets and speaks TAP.
#
# TARGET is build/fuzz/NAME.  Its seeds are test/fuzz/NAME (those of dlang the golden programs, too; those of cg the seeds of
# dlang and test/differential), and what earlier runs learnt is in test/fuzz/corpus.tar.xz, by NAME: all are replayed first and
# must pass.  What it learns goes to build/fuzz/corpus/NAME, a finding to build/fuzz/crash-NAME-*.  To keep what was learnt:
#   build/fuzz/NAME -merge=1 NEW/NAME build/fuzz/corpus/NAME, then tar cJf test/fuzz/corpus.tar.xz -C NEW .
set -u
budget=(-max_total_time=10)
while getopts r:t: o; do
  case $o in r) budget=(-runs="$OPTARG") ;; t) budget=(-max_total_time="$OPTARG") ;; *) exit 2 ;; esac
done
shift $((OPTIND - 1))
n=0 bad=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if [ ! -d build/fuzz/corpus ]; then
  mkdir -p build/fuzz/corpus
  tar xJf test/fuzz/corpus.tar.xz -C build/fuzz/corpus
fi
verdict() { # STATUS NAME
  n=$((n + 1))
  if [ "$1" -eq 0 ]; then echo "ok $n - $2"; return; fi
  bad=$((bad + 1))
  echo "not ok $n - $2"
  tail -n 40 "$log" | sed 's/^/# /'
}
for target; do
  name=${target##*/}
  learnt=build/fuzz/corpus/$name seeds=()
  case $name in dlang) more=(src/dlang/test) ;; cg) more=(test/fuzz/dlang test/differential) ;; *) more=() ;; esac
  for dir in "test/fuzz/$name" "${more[@]}"; do [ ! -d "$dir" ] || seeds+=("$dir"); done
  mkdir -p "$learnt"
  limits=(-timeout=10 -rss_limit_mb=2048 -artifact_prefix="build/fuzz/crash-$name-")
  known=$(find "$learnt" "${seeds[@]}" -type f)
  if [ -n "$known" ]; then
    printf '%s\n' "$known" | xargs "$target" "${limits[@]}" >"$log" 2>&1
    verdict $? "fuzz $name: $(printf '%s\n' "$known" | wc -l) kept inputs"
  fi
  "$target" "${limits[@]}" "${budget[@]}" -print_final_stats=1 "$learnt" "${seeds[@]}" >"$log" 2>&1
  verdict $? "fuzz $name: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") runs"
done
echo "1..$n"
[ "$bad" -eq 0 ]
