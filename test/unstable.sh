#!/bin/bash
# unstable.sh - Debian unstable's gcc and clang build everything, and the unit tests pass there.  As root; speaks TAP.
set -u
cd "$(dirname "$0")/.." || exit 1
log=$(mktemp) tree= n=0 bad=0
trap '[ -n "$tree" ] && tools/tree.sh drop "$tree"; rm -f "$log"' EXIT
trap 'exit 1' INT TERM HUP

say() { # STATUS WORDS
  n=$((n + 1))
  if [ "$1" -eq 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2"; { grep -nE 'error:|Error [0-9]|FAILED|undefined reference' "$log" | head -n 20; tail -n 40 "$log"; } | cut -c1-200 | sed 's/^/# /'; bad=1; fi
}
inside() { # WORDS SCRIPT
  local status=0
  tools/tree.sh run "$tree" "export WERROR=1 MAKEFLAGS=-j$(nproc); cd tally && $2" >"$log" 2>&1 </dev/null & wait $! || status=$?
  say $status "$1"
}
if ! tree=$(exec tools/tree.sh copy unstable 2>"$log"); then tree=; say 1 "a tree of Debian unstable can be made"; exit 1; fi
GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*' git clone -q --no-hardlinks "$PWD" "$tree/root/root/tally" >"$log" 2>&1
say $? "the checkout is cloned"
inside "the packages are installed" 'tools/deps.sh build && apt-get install -qy --no-install-recommends clang libcmocka-dev libunicorn-dev llvm xz-utils "$(apt-cache depends clang |
  sed -n "s/.*Depends: clang-\([0-9]*\).*/libclang-rt-\1-dev/p" | head -n 1)"'
inside "gcc builds everything without a warning" 'gcc --version | head -n 1 && make all progs asan'
inside "clang builds everything without a warning" 'clang --version | head -n 1 && make CC=clang all'
inside "the unit tests build with gcc" 'make -k tests'
inside "the unit tests pass" 'tools/run-tests.sh -t 300 build/test/*_test'
inside "the unit tests build with clang" 'rm -rf build/asan build/test && make -k CC=clang B=build/clang tests'
inside "the unit tests pass with clang" 'tools/run-tests.sh -t 300 build/clang/test/*_test'
echo "1..$n"
exit $bad
