#!/bin/bash
# fresh.sh [--slow] [--without PACKAGE] - what the README says, on a Debian 12 with nothing installed.  As root.
#
# Takes a minimal tree (tools/tree.sh), clones into it what is committed here, and does there what a reader does: as root the
# demo, the README in its order, the tutorials, and the examples of an installation; as another user what needs no privilege.
# Nothing that is installed on this machine can help.  Speaks TAP; what failed is followed by what it printed.
#
# --slow: also with DuckDB's library, which npm fetches.
# --without PACKAGE: takes PACKAGE out of the group `build` of tools/deps.sh first.  Then another package must have brought it, or
# something must fail that names what is missing: exit 0, and the last line says which.  The first failure ends the run.
set -u
cd "$(dirname "$0")/.." || exit 1
suite=bookworm without= slow= n=0 bad=0
while [ $# -gt 0 ]; do
  case $1 in
  --slow) slow=1 ;;
  --without) without=${2:?which package}; shift ;;
  *) sed -n '2s/^# //p' "$0" >&2; exit 2 ;;
  esac
  shift
done

log=$(mktemp) tree= flags=-j$(nproc)
# What is missing is missing without optimization, too, and sooner.
[ -z "$without" ] || flags+=" -- RELEASE=-fPIC"
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
# With --without the first failure is the answer, if it is for want of a program, a header or a library.
answer_by_failure() {
  local why
  [ -n "$without" ] && [ $bad -ne 0 ] || return 0
  why=$(grep -m 1 -E 'No such file or directory|not found|cannot find|undefined reference' "$log") ||
    { echo "# it fails without $without, but for want of nothing"; exit 1; }
  echo "# without $without it fails: $why"
  exit 0
}
inside() { # WORDS USER SCRIPT: one check: a script in the tree, in USER's clone, that ends with status 0
  local status=0
  tools/tree.sh run -u "$2" "$tree" "export COLUMNS=80 WERROR=1 MAKEFLAGS='$flags'; cd tally && $3" >"$log" 2>&1 </dev/null & wait $! || status=$?
  say $status "$1"
  answer_by_failure
  return $status
}
clone() { # HOME
  GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*' \
    git clone -q --no-hardlinks "$PWD" "$tree/root$1/tally" >"$log" 2>&1 || return 1
  [ -z "$without" ] || sed -i "/^build=/s/\([' ]\)$without\([' ]\)/\1\2/" "$tree/root$1/tally/tools/deps.sh"
}
# Installs the group without the package.  A package that is there all the same was brought by those that depend on it.
answer_by_packages() {
  local status=0 by
  ! cmp -s tools/deps.sh "$tree/root/root/tally/tools/deps.sh"
  say $? "$without is taken out of the group build"
  tools/tree.sh run "$tree" 'cd tally && tools/deps.sh build' >"$log" 2>&1 </dev/null & wait $! || status=$?
  say $status "the packages that are left are installed"
  [ $bad -eq 0 ] || exit 1
  tools/tree.sh run "$tree" "dpkg-query -W -f '\${db:Status-Status}' $without 2>/dev/null" | grep -qx installed || return 0
  by=$(tools/tree.sh run "$tree" "dpkg-query -W -f '\${Package}: \${Depends}, \${Pre-Depends}\n' | grep -E '[:,] $without( |,|\$)' | cut -d: -f1 | paste -sd ' '")
  echo "# $without is brought by: ${by:-the minimal Debian}"
  exit 0
}
pages() { # USER: the README and the tutorials
  inside "the README's commands run in their order, as $1" "$1" 'tools/transcript.sh -t 300 README.md'
  for page in doc/tutorial/*.md; do
    inside "the tutorial $(basename "$page" .md) is true, as $1" "$1" "tools/transcript.sh -t 300 $page"
  done
}

if ! tree=$(exec tools/tree.sh copy "$suite" 2>"$log"); then tree=; say 1 "a minimal Debian can be made"; exit 1; fi
say 0 "a minimal Debian is made"
[ -z "$(git status --porcelain)" ] || echo "# what is not committed here is not looked at"
clone /root
say $? "the checkout is cloned"
[ -z "$without" ] || answer_by_packages

inside "demo.sh installs, builds and answers" root ./demo.sh
pages root

# The examples are scripts: those of this machine are given a command, those of packets a trace, the others name their model.
inside "an installation's examples run from where they were installed" root '
  make -s install DESTDIR="$HOME/dest" PREFIX=/usr
  PATH=$HOME/dest/usr/bin:$PWD/build/prog:$PATH examples=$HOME/dest/usr/share/doc/tally/examples
  cp test/fixture/ptt-8dw-golden.perf.data "$HOME/t.data" && cd && status=0
  for e in "$examples"/*.d; do
    case $(grep -oE "^(gpci|mmustat|ptt|vfalls):::" "$e" | head -n 1) in
    ptt:::) set -- --on ./t.data ;;
    "") set -- -c "brendan 20000" $(grep -q "[$]1" "$e" && echo func_alpha) ;;
    *) set -- ;;
    esac
    # A program that has the probes of myapp is the reader'"'"'s.
    timeout 60 "$e" "$@" >said 2>&1 && [ -s said ] || grep -q "^tally: usdt: .*myapp" said || { echo "$e:"; cat said; status=1; }
  done
  for e in "$examples"/hardware/*.d; do
    tally trace -e -s "$e" >said 2>&1 || grep -q "no hardware PMU" said || { echo "$e:"; cat said; status=1; }
  done
  export PKG_CONFIG_SYSROOT_DIR=$HOME/dest PKG_CONFIG_PATH=$HOME/dest/usr/lib/pkgconfig LD_LIBRARY_PATH=$HOME/dest/usr/lib
  for e in hv count; do gcc -o $e "$examples/c/$e.c" $(pkg-config --cflags --libs tally) || status=1; done
  ./hv maramba && ./count "brendan 20000" || status=1
  exit $status'

inside "another user is made" root 'useradd -m reader'
clone /home/reader && chown -R --reference="$tree/root/home/reader" "$tree/root/home/reader/tally"
say $? "the other user has a clone"
inside "make builds all, as reader" reader '[ "$(id -u)" -ne 0 ] && make'
pages reader
[ -z "$slow" ] || {
  inside "npm fetches DuckDB's library" root 'apt-get install -qy --no-install-recommends npm && tools/fetch-duckdb.sh'
  inside "the README's commands run with DuckDB's library" root 'tools/transcript.sh -t 300 README.md'
}

[ -z "$without" ] || { echo "# nothing misses $without, and no package brings it"; exit 1; }
exit $bad
