#!/bin/bash
# long.sh [-l] [NAME...] - the checks that take minutes, or only those that are named: `make check-long`.
#
# A row of the table at the end for each: name, result, time, what it said.  A check is a row of `checks` below: a name, how many
# minutes it may take, and a command that speaks TAP, for tools/run-tests.sh.  What each printed is in build/long/NAME.log.
# What cannot run here is skipped, with its reason in the log.  -l: the names.  Exit 1: something failed.
# FUZZ_SECONDS (60) and TORTURE_SECONDS (120) are those of a fuzz target and of a campaign.
set -u
cd "$(dirname "$0")/.." || exit 1
mkdir -p build/long
export WERROR=1

# name|minutes|commands, parted by ; |what it is
checks() {
  cat <<'ROWS'
fresh|60|test/fresh.sh --slow|the README and the tutorials on a Debian 12 with nothing installed, and with DuckDB
packages|90|test/packages.sh|each package to build with is missed, or another one brings it
unstable|60|test/unstable.sh|Debian unstable's gcc and clang, and the unit tests
deb|90|test/deb.sh;test/deb.sh unstable|Debian's packages for Debian 12 and unstable: built twice alike, lintian, blhc, installed, tutorials from the installed files
static|30|test/static.sh;test/release.sh|the static program needs no other file, and refuses in words what it would load; a release is what is committed
guest|30|env GUEST_SECONDS=1740 GUEST_PROGRAMS=1000 test/vm/run.sh|Linux 6.1 with an emulated PMU
probes|15|test/vm/probes.sh|probes and vcounter() on Linux 6.1, arm64, with one CPU and with two, against programs of known numbers
unwind|20|test/vm/unwind.sh|stacks by unwind tables on Linux 6.1, arm64, against what the program knows of its own and against libdwfl
kernel|30|env GUEST_SECONDS=840 test/vm/kernel.sh;env GUEST_SECONDS=840 test/vm/kernel.sh trixie|D's symbols, types and functions of the kernel on Debian's kernels of Linux 6.1 and 6.12, x86-64
drivers|60|test/vm/ptt.sh;test/vm/gpci.sh;test/vm/sun4v.sh|the genuine drivers of make check-vm
fuzz|60|FUZZ|each fuzz target for a minute
conclusions|60|test/conclusions.sh;env TALLY_SEEDS=20 build/test/ptt_compare_test|tune and report on 100 seeds of each load of the model; planted changes of 1 to 20 %
load|45|env LOAD_SECONDS=1800 test/serve-load.sh|tally serve for half an hour under 200 scrapers and 10,000 silent connections
scrape|75|env SCRAPE_SECONDS=3600 test/serve-scrape.sh|a real Prometheus scrapes tally serve for an hour, and complains of nothing
invariants|60|env TALLY_SEEDS=1000 build/test/ask_check_test|all models obey all invariants of check with seeds 1 to 1000
torture|60|TORTURE|each campaign of make torture for two minutes, with a new seed
ROWS
}
[ "${1:-}" = -l ] && { checks | awk -F'|' '{ printf "%-10s %s\n", $1, $4 }'; exit 0; }
for name; do checks | grep -q "^$name|" || { echo "long.sh: no check is called $name; -l lists them" >&2; exit 2; }; done

# What the commands run, one a line; nothing when it could not be built.
commands() { # NAME COMMANDS
  case $2 in
  FUZZ) make -j"$(nproc)" fuzzers >&2 && for t in src/*/*_fuzz.c; do echo "tools/fuzz.sh -t ${FUZZ_SECONDS:-60} build/fuzz/$(basename "$t" _fuzz.c)"; done ;;
  TORTURE) make -j"$(nproc)" all torturers >&2 && for t in $(test/torture/run.sh -l); do echo "test/torture/run.sh -T -t ${TORTURE_SECONDS:-120} $t"; done ;;
  *)
    case $1 in
    load | scrape) make -j"$(nproc)" all ;;
    invariants) make build/test/ask_check_test ;;
    conclusions) make -j"$(nproc)" all build/test/ptt_compare_test ;;
    guest) tools/deps.sh vm && test/vm/fetch.sh && make -j"$(nproc)" cross-arm64 ;;
    probes) tools/deps.sh vm && test/vm/fetch.sh && make -j"$(nproc)" all && make -j"$(nproc)" cross-arm64 ;;
    unwind) tools/deps.sh vm && test/vm/fetch.sh && make -j"$(nproc)" cross-unwind ;;
    kernel) tools/deps.sh vm && make -j"$(nproc)" all progs ;;
    drivers) make -j"$(nproc)" all build/vm/gpci-truth build/vm/sun4v-truth && { tools/deps.sh vm && make cross-tally; true; } ;;
    esac >&2 && tr ';' '\n' <<<"$2" ;;
  esac
}

table=build/long/table bad=0
printf '%-10s %-8s %6s  %s\n' CHECK RESULT TIME WORDS >"$table"
while IFS='|' read -r name minutes what words <&3; do
  [ $# -eq 0 ] || [[ " $* " == *" $name "* ]] || continue
  echo "== $name: $words"
  SECONDS=0 log=build/long/$name.log result=ok
  if [[ " fresh packages unstable deb " == *" $name "* && $(id -u) -ne 0 ]]; then
    printf '%-10s %-8s %4d s  %s: needs root, to make a Debian in a directory\n' "$name" skipped 0 "$words" >>"$table"
    continue
  fi
  mapfile -t list < <(commands "$name" "$what" 2>"$log")
  if [ ${#list[@]} -eq 0 ]; then
    tail -n 20 "$log"
    result=FAILED said="could not be built"
  else
    tools/run-tests.sh -t $((minutes * 60)) -l "$log" "${list[@]}" </dev/null 2>&1 | tee "$log.sum"
    [ "${PIPESTATUS[0]}" -eq 0 ] || result=FAILED
    said=$(tail -n 1 "$log.sum")
    [[ $said != "0 passed, 0 failed"* ]] || result=skipped
  fi
  [ $result != FAILED ] || bad=1
  printf '%-10s %-8s %4d s  %s: %s\n' "$name" $result $SECONDS "$words" "$said" >>"$table"
done 3< <(checks)
echo
cat "$table"
exit $bad
