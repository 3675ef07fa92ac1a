#!/bin/bash
# fuzz.sh [-r RUNS | -t SECONDS] TARGET... - runs fuzz targets and speaks TAP.
#
# TARGET is build/fuzz/NAME.  Its seeds are test/fuzz/NAME (replayed first: each must pass), what it learns is
# kept in build/fuzz/corpus/NAME, a finding is left in build/fuzz/crash-NAME-*.
set -u
budget=(-max_total_time=10)
while getopts r:t: o; do
  case $o in r) budget=(-runs="$OPTARG") ;; t) budget=(-max_total_time="$OPTARG") ;; *) exit 2 ;; esac
done
shift $((OPTIND - 1))
n=0 bad=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT
verdict() { # STATUS NAME
  n=$((n + 1))
  if [ "$1" -eq 0 ]; then echo "ok $n - $2"; return; fi
  bad=$((bad + 1))
  echo "not ok $n - $2"
  tail -n 40 "$log" | sed 's/^/# /'
}
for target; do
  name=${target##*/}
  seeds=test/fuzz/$name learnt=build/fuzz/corpus/$name
  mkdir -p "$learnt"
  limits=(-timeout=10 -rss_limit_mb=2048 -artifact_prefix="build/fuzz/crash-$name-")
  if [ -d "$seeds" ]; then
    "$target" "${limits[@]}" "$seeds"/* >"$log" 2>&1
    verdict $? "fuzz $name: $(find "$seeds" -type f | wc -l) seeds"
  fi
  "$target" "${limits[@]}" "${budget[@]}" -print_final_stats=1 "$learnt" $([ -d "$seeds" ] && echo "$seeds") >"$log" 2>&1
  verdict $? "fuzz $name: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") runs"
done
echo "1..$n"
[ "$bad" -eq 0 ]
