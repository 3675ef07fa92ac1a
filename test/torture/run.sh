#!/bin/bash
# run.sh [-l] [-t SECONDS] [-s SEED] [-r ROUND] [-c FILE] [-T] [CAMPAIGN...] - attacks tally, and counts what it withstood.
#
# Each campaign has SECONDS (600) and its random numbers from SEED (another in each run, and printed).  Shown: a table with what was
# done, how often, and what fell.  The counts go to FILE (build/torture/counts), a line for each: time, commit, campaign, seed,
# seconds, count, words.  What fell is kept in build/torture/fell-CAMPAIGN-SEED, and `-s SEED -r ROUND CAMPAIGN` does that round again.
# -T: TAP, for tools/run-tests.sh.  -l: lists the campaigns.  Exit 1 when something fell.
#
# campaigns (all in this order when none is named):
#   traces       damaged PTT traces through dump, report, export and trace
#   operations   hostile hypercalls and PTT operations, in process and over the local protocol
#   vfio         hostile vfio-user messages with descriptors
#   clients      clients of `tally machine --listen` killed
#   tracers      `tally trace` killed
#   tunings      `tally tune` killed
#   allocations  failed allocations
#   disks        full disks and files that may not grow
#   storms       more events than anybody can take
set -u
cd "$(dirname "$0")/../.." || exit 2
seconds=600 seed=$((RANDOM << 15 | RANDOM)) round=0 counts=build/torture/counts tap=
all="traces operations vfio clients tracers tunings allocations disks storms"
while getopts lt:s:r:c:T o; do
  case $o in
    t) seconds=$OPTARG ;; s) seed=$OPTARG ;; r) round=$OPTARG ;; c) counts=$OPTARG ;; T) tap=1 ;;
    l) printf '%s\n' $all; exit 0 ;;
    *) sed -n '2,8s/^# \?//p' "$0" >&2; exit 2 ;;
  esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || set -- $all
export TALLY=${TALLY:-$PWD/build/tally} TALLY_ASAN=${TALLY_ASAN:-$PWD/build/asan/tally}
export TORTURE=$PWD/build/torture LC_ALL=C
mkdir -p build/torture
commit=$(git rev-parse --short HEAD 2>/dev/null || echo none)

scratch=$(mktemp -d "${TMPDIR:-/tmp}/tally-torture-XXXXXX") || exit 2
running=
# A campaign is a process group of its own, so that nothing of it is left.
clean_up() {
  [ -z "$running" ] || kill -KILL -- "-$running" 2>/dev/null
  wait 2>/dev/null
  rm -rf "$scratch"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

n=0 bad=0
[ -n "$tap" ] || printf 'seed %s, %s s each\n%-12s %12s  %s\n' "$seed" "$seconds" campaign count 'what was done'
for campaign; do
  n=$((n + 1))
  program=build/torture/$campaign
  [ -f "test/torture/$campaign.sh" ] && program=test/torture/$campaign.sh
  dir=$scratch/$campaign out=$scratch/$campaign.out
  mkdir -p "$dir"
  set -m
  "$program" "$seconds" "$seed" "$round" "$dir" >"$out" 2>&1 </dev/null &
  running=$!
  set +m
  wait $running
  status=$?
  kill -KILL -- "-$running" 2>/dev/null
  running=
  if [ $status -eq 77 ]; then
    why=$(sed -n 's/^skip //p' "$out")
    if [ -n "$tap" ]; then echo "ok $n - $campaign # SKIP $why"; else printf '%-12s %12s  %s\n' "$campaign" skipped "$why"; fi
    continue
  fi
  fell=$(grep -c '^fell ' "$out")
  [ $status -ne 0 ] && [ "$fell" -eq 0 ] && {
    echo "fell $(cat "$dir/round" 2>/dev/null || echo 0) the campaign itself ended with status $status" >>"$out"
    fell=1
  }
  { sed -n 's/^count //p' "$out"; echo "$fell fell"; } >"$scratch/rows"
  sed "s/^\([0-9]*\) /$(date -u +%FT%TZ)\t$commit\t$campaign\t$seed\t$seconds\t\1\t/" "$scratch/rows" >>"$counts"
  if [ -z "$tap" ]; then
    awk -v c="$campaign" '{ k = $1; sub(/^[0-9]+ /, ""); printf "%-12s %12d  %s\n", c, k, $0; c = "" }' "$scratch/rows"
  fi
  if [ "$fell" -gt 0 ]; then
    bad=$((bad + 1))
    kept=build/torture/fell-$campaign-$seed
    rm -rf "$kept" && cp -R "$dir" "$kept" 2>/dev/null && cp "$out" "$kept/output"
    [ -n "$tap" ] && echo "not ok $n - $campaign"
    { grep -v '^count ' "$out" | head -n 40
      echo "kept: $kept"
      echo "again: test/torture/run.sh -t $seconds -s $seed -r $(awk '/^fell / { print $2; exit }' "$out") $campaign"; } | sed "s/^/${tap:+# }  /"
  elif [ -n "$tap" ]; then
    echo "ok $n - $campaign (seed $seed): $(awk '{ printf "%s%s", sep, $0; sep = ", " }' "$scratch/rows")"
  fi
done
[ -z "$tap" ] || echo "1..$n"
[ $bad -eq 0 ]
