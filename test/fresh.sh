#!/bin/bash
# fresh.sh [--without PACKAGE] - what the README says, on a Debian 12 with nothing installed.  As root.
#
# Takes a minimal tree (tools/tree.sh), clones into it what is committed here, and does there what a reader does.  Nothing
# that is installed on this machine can help.  Says in TAP what went well; what failed is followed by what it printed.
#
# --without PACKAGE: takes PACKAGE out of the group `build` of tools/deps.sh first.  Then the run must fail, or another
# package must have brought it: exit 0 says so, in words.
set -u
cd "$(dirname "$0")/.." || exit 1
suite=bookworm without= n=0 bad=0
while [ $# -gt 0 ]; do
  case $1 in
  --without) without=${2:?which package}; shift ;;
  *) sed -n '2s/^# //p' "$0" >&2; exit 2 ;;
  esac
  shift
done

log=$(mktemp) tree=
finish() {
  [ -n "$tree" ] && tools/tree.sh drop "$tree"
  rm -f "$log"
}
trap finish EXIT
trap 'exit 1' INT TERM HUP

say() { # STATUS WORDS
  n=$((n + 1))
  if [ "$1" -eq 0 ]; then echo "ok $n - $2 (${SECONDS} s)"
  else echo "not ok $n - $2"; tail -n 40 "$log" | sed 's/^/# /'; bad=1; fi
  SECONDS=0
}
inside() { # WORDS USER SCRIPT...: one check: a script in the tree, in USER's clone, that ends with status 0
  local words=$1 user=$2 status=0
  shift 2
  tools/tree.sh run -u "$user" "$tree" "cd tally && $*" >"$log" 2>&1 </dev/null & wait $! || status=$?
  say $status "$words"
  return $status
}
clone() { # HOME
  GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*' \
    git clone -q --no-hardlinks "$PWD" "$tree/root$1/tally" >"$log" 2>&1 || return 1
  [ -z "$without" ] || sed -i "/^build=/s/\([' ]\)$without\([' ]\)/\1\2/" "$tree/root$1/tally/tools/deps.sh"
}

if ! tree=$(exec tools/tree.sh copy "$suite" 2>"$log"); then tree=; say 1 "a minimal Debian can be made"; exit 1; fi
say 0 "a minimal Debian is made"
[ -z "$(git status --porcelain)" ] || echo "# what is not committed here is not looked at"
clone /root
say $? "the checkout is cloned"

inside "demo.sh installs, builds and answers" root ./demo.sh

if [ -n "$without" ]; then
  [ $bad -eq 0 ] || { echo "# without $without it fails"; exit 0; }
  by=$(tools/tree.sh run "$tree" "dpkg-query -W -f '\${Package}: \${Depends}, \${Pre-Depends}\n' | grep -E '[:,] $without( |,|\$)' | cut -d: -f1 | tr '\n' ' '")
  [ -n "$by" ] && echo "# $without is brought by: $by"
  exit $((${#by} == 0))
fi
exit $bad
