#!/bin/bash
# conclusions.sh [SEEDS] - what tally concludes, on many seeds of each load (100): TAP, for make check-long.
#
# A tunable does nothing where the model says so (doc of kunpeng_load.def, machine/kunpeng_path.c): weights where nobody waits for
# the outbound direction, any of them for the throughput of a load that doesn't fill the link.  tune may set one of these once in all
# runs.  Others gain 3 % or more, and are found.  And two traces of one load may have a change in one pair of thirty.
set -u
cd "$(dirname "$0")/.." || exit 1
seeds=${1:-100} tally=build/tally dir=$(mktemp -d) n=0
trap 'rm -rf "$dir"' EXIT

# load|goal|ms|tunables that do nothing|what gains much
nothing() {
  local all=qos_tx_cpl,qos_tx_np,qos_tx_p,rx_alloc_buf_level,tx_alloc_buf_level weights=qos_tx_cpl,qos_tx_np,qos_tx_p
  for load in mixed nvme nic p2p idle faulty; do echo "$load|throughput|5|$all"; done
  echo "ingest|throughput|1|$weights|rx_alloc_buf_level=2"
  echo "storage|throughput|1|qos_tx_np,rx_alloc_buf_level"
  for load in mixed nvme; do echo "$load|latency|5|$weights|tx_alloc_buf_level=0"; done
  echo "idle|latency|5|$weights"
}
AT_RESET=(qos_tx_cpl=1 qos_tx_np=1 qos_tx_p=1 rx_alloc_buf_level=0 tx_alloc_buf_level=2)

verdict() { # WRONG MOST WORDS
  n=$((n + 1))
  [ "$1" -le "$2" ] && echo "ok $n $3: $1" || echo "not ok $n $3: $1, and $2 may be"
}

set_for_nothing=0 runs=0 gains=0 missed=0
while IFS='|' read -r load goal ms tunables gain; do
  for seed in $(seq "$seeds"); do
    said=$("$tally" tune hisi_ptt0_2 --for "$goal" --duration "$ms" --json --on "kunpeng,load=$load,seed=$seed" 2>"$dir/words" | grep '"tuned"')
    if [ -z "$said" ]; then
      grep -q 'nothing to compare' "$dir/words" || { n=$((n + 1)); echo "not ok $n $load, seed $seed: $(head -n 1 "$dir/words")"; }
      continue
    fi
    runs=$((runs + 1))
    if [ -n "$gain" ]; then
      gains=$((gains + 1))
      [[ $said == *"\"${gain%=*}\":${gain#*=}"* ]] || missed=$((missed + 1))
    fi
    for was in "${AT_RESET[@]}"; do
      [[ ",$tunables," == *",${was%=*},"* && $said != *"\"${was%=*}\":${was#*=}"* ]] || continue
      set_for_nothing=$((set_for_nothing + 1))
      echo "# $load for $goal, seed $seed: ${was%=*}, which does nothing, was set: $said"
      break
    done
  done
done < <(nothing)
verdict $set_for_nothing 1 "$runs runs of tune, settings that do nothing"
verdict $missed $((gains / 100)) "$gains runs of tune where a setting gains much, runs that missed it"

trace() { # LOAD SEED
  "$tally" record --on "kunpeng,load=$1,seed=$2" --duration 20 -o "$dir/$2" -e hisi_ptt0_2/filter=00:10.0,type=p+np+cpl,direction=2/ 2>"$dir/words"
}
pairs=$((seeds < 30 ? seeds : 30))
for load in mixed nvme nic storage ingest p2p contended full faulty; do
  wrong=0
  for pair in $(seq "$pairs"); do
    trace $load $((2 * pair)) && trace $load $((2 * pair + 1)) || { n=$((n + 1)); echo "not ok $n $load: $(head -n 1 "$dir/words")"; }
    "$tally" report --json "$dir/$((2 * pair))" "$dir/$((2 * pair + 1))" >"$dir/said"
    ! grep '"type":"change"' "$dir/said" | head -n 2 | sed "s/^/# $load, pair $pair: /" | grep . || wrong=$((wrong + 1))
    rm -f "$dir/$((2 * pair))" "$dir/$((2 * pair + 1))"
  done
  verdict $wrong 1 "$pairs pairs of traces of load $load, pairs with a change"
done
echo "1..$n"
