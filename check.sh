#!/bin/sh
# check.sh [--fresh] - everything that must hold, on one Debian machine, as root or not.
#
# Installs what is missing (tools/deps.sh; TALLY_NO_INSTALL=1: nothing is installed, and what lacks its tools is
# skipped).  Builds with gcc and clang, unit tests under ASan and UBSan, command-line tests, the import law, the fuzz
# targets for three seconds each, the campaigns of test/torture for ten, and a Linux 6.1 guest with an emulated PMU.
# --fresh: also what the README says, on a minimal Debian 12 in a directory (test/fresh.sh, as root); CI runs it so.
# Last line: `N passed, M failed, K skipped`.  Exit 1 when something failed.
set -u
cd "$(dirname "$0")" || exit 1
fresh=${1:-}
case $fresh in '' | --fresh) ;; *) sed -n '2s/^# //p' check.sh >&2; exit 2 ;; esac
mkdir -p build
log=build/check.log sums=build/check.sums
: >"$sums"
jobs=$(nproc)
export WERROR=1

say() { printf '== %s\n' "$*"; }
count() { echo "$1 $2 $3" >>"$sums"; }
pass() { echo "ok: $1"; count 1 0 0; }
fail() { echo "FAILED: $1"; count 0 1 0; }
skip() { echo "skipped: $1 ($2)"; count 0 0 1; }

must() { # WORDS COMMAND...: one check that passes when the command does
  words=$1
  shift
  if "$@" >"$log" 2>&1; then pass "$words"; else
    tail -n 60 "$log"
    fail "$words"
    return 1
  fi
}
finish() {
  awk '{ p += $1; f += $2; s += $3 } END { printf "%d passed, %d failed, %d skipped\n", p, f, s; exit f > 0 }' "$sums"
  exit $?
}

say "packages"
tools/deps.sh build test || { [ "${TALLY_NO_INSTALL:-0}" = 1 ] && echo "going on with what there is"; }
command -v make >/dev/null && command -v gcc >/dev/null || { fail "make and gcc are here"; finish; }

# What only some tests need: those tests say themselves what they skip.
tools/deps.sh page >"$log" 2>&1 || echo "no browser: the report's page is not opened"
[ -f build/libduckdb.so ] || { [ "${TALLY_NO_INSTALL:-0}" != 1 ] && command -v npm >/dev/null && tools/fetch-duckdb.sh build >"$log" 2>&1; } ||
  echo "no DuckDB: neither SQL nor Parquet is tested"
# Unpacked, not installed: a Prometheus that is installed begins to run.
[ "${TALLY_NO_INSTALL:-0}" != 1 ] && tools/debs.sh "$(dpkg --print-architecture)" bookworm build/prometheus prometheus python3-prometheus-client >"$log" 2>&1 ||
  command -v prometheus >/dev/null || echo "no Prometheus: what the service tells is not read by it"

say "builds"
must "gcc builds everything without a warning" make -j"$jobs" all asan progs || finish
must "the unit tests build" make -k -j"$jobs" tests specs
must "the benchmarks build" make -k -j"$jobs" benches
if command -v clang >/dev/null; then
  must "clang builds everything without a warning" make -j"$jobs" CC=clang all
else
  skip "clang builds everything without a warning" "no clang"
fi

say "laws"
must "the import law holds, and every header compiles alone" make law
tools/format.sh -c >"$log" 2>&1
case $? in
0) pass "every C file is written as .clang-format says" ;;
3) skip "every C file is written as .clang-format says" "no clang-format 14" ;;
*) cat "$log"; fail "every C file is written as .clang-format says" ;;
esac

# The guest has one CPU and takes minutes: it runs beside the tests that follow.
say "a guest"
guest=
if [ "${TALLY_NO_VM:-0}" = 1 ]; then
  skip "the guest" "TALLY_NO_VM=1"
elif ! tools/deps.sh vm; then
  skip "the guest" "QEMU or the cross compiler cannot be installed"
elif ! test/vm/fetch.sh >"$log" 2>&1; then
  tail -n 5 "$log"
  skip "the guest" "its kernel and libraries cannot be fetched"
elif must "tally builds for arm64" make -j"$jobs" cross-arm64; then
  tools/run-tests.sh -t 900 -s "$sums" test/vm/run.sh >build/guest.log 2>&1 &
  guest=$!
fi

# Two minutes in which little is computed: beside the tests, too.
tools/run-tests.sh -t 300 -s "$sums" test/serve-scrape.sh >build/scrape.log 2>&1 &
scrape=$!

say "tests"
set -- "tools/law.sh --self-test"
for t in src/*/*_test.c; do
  t=build/test/$(echo "${t#src/}" | sed 's|/|_|; s|\.c$||')
  [ -x "$t" ] && set -- "$@" "$t"
done
for t in test/spec/*.c; do
  t=build/spec/$(basename "$t" .c)
  [ -x "$t" ] && set -- "$@" "$t"
done
if command -v bats >/dev/null; then
  for t in test/*.bats; do [ -f "$t" ] && set -- "$@" "$t"; done
else
  skip "command-line tests" "no bats"
fi
tools/run-tests.sh -t 300 -s "$sums" "$@"

say "fuzz targets"
if command -v clang >/dev/null && must "the fuzz targets build" make -j"$jobs" fuzzers; then
  set --
  for t in src/*/*_fuzz.c; do [ -f "$t" ] && set -- "$@" "tools/fuzz.sh -t 3 build/fuzz/$(basename "$t" _fuzz.c)"; done
  [ $# -eq 0 ] || tools/run-tests.sh -s "$sums" "$@"
else
  skip "fuzz targets" "no clang"
fi

if [ -n "$fresh" ]; then
  say "a fresh Debian"
  tools/run-tests.sh -t 1200 -s "$sums" test/fresh.sh
fi

# The seed is the same each time, so that what falls here falls again; `make torture` takes others.
say "ten seconds of each campaign of make torture"
if must "the campaigns build" make -j"$jobs" torturers; then
  set --
  for t in $(test/torture/run.sh -l); do set -- "$@" "test/torture/run.sh -T -t 10 -s 1 $t"; done
  tools/run-tests.sh -s "$sums" "$@"
fi

say "Linux 6.1 with an emulated PMU"
if [ -n "$guest" ]; then wait "$guest"; cat build/guest.log; else echo "did not run, as said above"; fi

say "two minutes of Prometheus"
wait "$scrape"
cat build/scrape.log

say "sum"
echo "What takes longer than this: make check-long"
finish
