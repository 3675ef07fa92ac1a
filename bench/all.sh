#!/bin/bash
# all.sh [-q] - every benchmark, and all figures as one table in bench/results.md, with the machine they were taken on.
#
# Exit 1 when a target is not met or a benchmark could not run.  -q: a quick look; the file is left as it is.
set -u
cd "$(dirname "$0")/.." || exit 1
status=0
BENCH_FIGURES=$(mktemp)
export BENCH_FIGURES
trap 'rm -f "$BENCH_FIGURES"' EXIT
trap 'exit 130' INT TERM

before=$(build/bench/clock)
for part in run stack ptt hv flame serve fleet; do
  echo "== bench/$part.sh"
  bench/$part.sh "$@" || status=1
done
[ "${1:-}" = -q ] && exit $status

version() { "$@" 2>/dev/null | head -n 1; }
machine() {
  awk -F': *' '/^model name/ { print "- CPU: " $2; exit }' /proc/cpuinfo
  echo "- $(nproc) CPUs$(grep -q '^flags.* hypervisor' /proc/cpuinfo && echo " of a virtual machine"), $(awk '/MemTotal/ { printf "%.0f GiB", $2 / 1048576 }' /proc/meminfo)"
  echo "- additions a nanosecond, one after the other (median and best of 3001 short turns): $before before, $(build/bench/clock) after"
  echo "- Linux $(uname -r), $(. /etc/os-release && echo "$PRETTY_NAME"), $(version gcc --version)"
  echo "- peers: $(version bpftrace --version), $(version perf --version), $(version valgrind --version)"
}
{
  echo "# Figures"
  echo
  echo "Made by \`make bench\`. Each peer was measured in the same run, in turn with tally. A ratio is tally's figure divided by the"
  echo "peer's. A limit with \`x\` is of the ratio, else of tally's figure; without a limit a figure is only shown."
  echo
  machine
  echo
  echo "| what | tally | peer | ratio | limit | |"
  echo "|---|---|---|---|---|---|"
  awk -F'\t' '{ sub(/^- .*|^-$/, "", $3); for (i = 4; i <= 5; i++) if ($i == "-") $i = ""
    printf "| %s | %s | %s | %s | %s | %s |\n", $1, $2, $3, $4, $5, $6 }' "$BENCH_FIGURES"
} >bench/results.md
echo "the table is in bench/results.md"
exit $status
