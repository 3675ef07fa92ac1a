#!/bin/bash
# packages.sh - speaks TAP: each package of the group `build` of tools/deps.sh is needed.
# Without it test/fresh.sh fails, or another package brings it, which is then named.  Minutes for each.
cd "$(dirname "$0")/.." || exit 1
n=0 bad=0
for package in $(sed -n "s/^build='\(.*\)'/\1/p" tools/deps.sh); do
  n=$((n + 1))
  if said=$(test/fresh.sh --without "$package"); then
    echo "ok $n - $(tail -n 1 <<<"$said" | sed 's/^# //')"
  else
    echo "not ok $n - $package is not missed"; sed 's/^/# /' <<<"$said"; bad=1
  fi
done
echo "1..$n"
exit $bad
