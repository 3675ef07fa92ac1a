#!/bin/bash
# stack.sh [-q] - user stacks: what walking them costs a firing, and what names for them cost.
#
#   walk     time in the BPF program, per firing, as the kernel counts it: by unwind tables beside frame pointers, of 10, 25 and 50 frames
#   names    100,000 different stacks of 50 frames, over 500 processes: CPU time and memory of the tracer, beside a run without names, and beside
#            perf report's on the same work
#   large    a C++ program with 1 GiB of debug data: from the start to the first name
#
# As root; kernel.bpf_stats_enabled is changed and put back.  -q: a tenth of the work.
set -u
cd "$(dirname "$0")/.." || exit 1
faults=200000 processes=500 large=1300 rounds=5
[ "${1:-}" = -q ] && faults=20000 processes=50 large=100 rounds=3
[ "$(id -u)" -eq 0 ] || { echo "bench/stack.sh: needs root" >&2; exit 4; }
for b in build/{tally,prog/deep,prog/branches}; do [ -x $b ] || { echo "bench/stack.sh: no $b (make bench)" >&2; exit 3; }; done
work=$(mktemp -d)
stats=$(sysctl -n kernel.bpf_stats_enabled)
trap 'sysctl -q -w kernel.bpf_stats_enabled="$stats"; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
. bench/table.sh
tally=(build/tally trace -q -x dcpc_min_overflow=1)
event='cpc:::page_faults-user-1'
median() { sort -n | awk '{ v[NR] = $1 } END { print NR ? v[int((NR + 1) / 2)] : "nan" }'; }
figure_head "user stacks"

# ---- walk -----------------------------------------------------------------------------------------------
# ns a firing of what a process holds while it runs, as it was told last: programs go with it.
firing() { # COMMAND...
  local tracer said=nan now
  "$@" >/dev/null 2>"$work/err" &
  tracer=$!
  while kill -0 $tracer 2>/dev/null; do
    now=$(cat /proc/$tracer/fdinfo/* 2>/dev/null | awk '$1 == "prog_type:" { perf = $2 == 7 } $1 == "run_time_ns:" && perf { ns += $2 }
      $1 == "run_cnt:" && perf { n += $2 } END { if (n > 1000) print ns / n }')
    said=${now:-$said}
  done
  wait $tracer
  echo "$said"
}
sysctl -q -w kernel.bpf_stats_enabled=1
for row in "10 2.5" "25 4" "50 5"; do
  read -r frames limit <<<"$row"
  rm -f "$work"/*.ns
  for ((i = 0; i < rounds; i++)); do
    for way in fp dwarf; do
      # main, two of libc and _start stand below
      firing "${tally[@]}" -x ustackunwind=$way -n "$event /execname == \"deep\"/ { @[ustack($frames)] = count(); }" -c "build/prog/deep $((frames - 5)) $faults" >>"$work/$way.ns"
    done
  done
  figure "walk of $frames frames by unwind tables: firing" "$(median <"$work/dwarf.ns")" ns "$(median <"$work/fp.ns")" "frame pointers" "<= $limit x"
done
sysctl -q -w kernel.bpf_stats_enabled="$stats"

# ---- names ----------------------------------------------------------------------------------------------
# CPU time and memory of a command and of what it waited for: "seconds MB".
used() { # COMMAND...
  /usr/bin/time -f '%U %S %M' -o "$work/time" "$@" >"$work/out" 2>"$work/err"
  awk 'END { print $1 + $2, $3 / 1024 }' "$work/time"
}
# The same of tally alone, which the program is no child of, with more options.
traced() { # OPTION...
  rm -f "$work/pid" "$work/out"
  used sh -c 'echo $$ >"$0" && exec "$@"' "$work/pid" "${tally[@]}" "$@" \
    -n "BEGIN { printf(\"ready\\n\"); } $event /execname == \"branches\"/ { @[pid, ustack(50)] = count(); }" &
  until grep -qs ready "$work/out"; do sleep 0.01; done
  $branches >/dev/null 2>&1
  kill -TERM "$(cat "$work/pid")"
  wait $!
}
branches="build/prog/branches $processes 200 46" # below them main, two of libc, _start
for ((i = 0; i < rounds; i++)); do
  for names in named noresolve; do
    rm -f "$work/$names.folded"
    traced $([ $names = named ] || echo "-x $names") -o "$work/$names.folded" >>"$work/$names"
  done
done
# What else the machine does only adds to CPU time, by more than names cost: so the best run of each counts.
best() { sort -n "$1" | awk 'NR == 1 { print $1 }'; }
names=$(awk -v with="$(best "$work/named")" -v without="$(best "$work/noresolve")" 'BEGIN { print with - without }')
figure "stacks of $processes processes: kept" "$(wc -l <"$work/named.folded")" "" - "" ">= $((processes * 200))"
figure "the same: names" "$(awk -v n="$names" 'BEGIN { print (n > 0 ? n : 0) }')" s - "" "<= 2"
figure "the whole run: memory" "$(awk '{ print $2 }' "$work/named" | median)" MB - "" "<= 300"
if command -v perf >/dev/null; then
  perf record -q -e page-faults:u -c 1 --call-graph fp -o "$work/perf.data" -- $branches >/dev/null 2>&1
  for ((i = 0; i < 3; i++)); do used perf report -i "$work/perf.data" --stdio --no-children >>"$work/report"; done
  figure "the same: names, beside perf" "$(awk -v n="$names" 'BEGIN { print (n > 0.01 ? n : 0.01) }')" s "$(best "$work/report")" "perf report" "<= 0.1 x"
fi

# ---- a large program --------------------------------------------------------------------------------------
# One file with much debug data, linked many times: what differs is one name of each copy. Functions of the copies that
# nobody else calls have no symbols: there would be five million of one name.
make_large() { # MEGABYTES
  local n copies
  cat >"$work/part.cc" <<'CC'
#include <map>
#include <string>
#include <vector>
namespace {
template <int N> struct node { std::map<int, node> children; std::vector<std::string> names; };
template <int N> struct tree {
  static std::size_t grow(int depth) {
    node<N> root;
    for (int i = 0; i < depth; i++) root.children[i].names.push_back(std::to_string(i));
    return root.children.size() + tree<N - 1>::grow(depth);
  }
};
template <> struct tree<0> { static std::size_t grow(int) { return 0; } };
}
std::size_t part_entry(int depth) { return tree<40>::grow(depth); }
CC
  cat >"$work/main.cc" <<'CC'
#include <cstdlib>
namespace service { struct request { static void handle(char *page) { *(volatile char *)page = 1; } }; }
int main() {
  for (int i = 0; i < 100; i++) service::request::handle((char *)std::aligned_alloc(4096, 1 << 20) + 8192);
}
CC
  g++ -g -O0 -c -o "$work/part.o" "$work/part.cc" && g++ -g -O0 -c -o "$work/main.o" "$work/main.cc" || return 1
  copies=$(size -A "$work/part.o" | awk -v most="$1" '/^\.debug/ { n += $2 } END { print n ? int(most * 1048576 / n) + 1 : 0 }')
  for ((n = 0; n < copies; n++)); do
    objcopy --redefine-sym _Z10part_entryi=_Z10part_entry${n}i "$work/part.o" "$work/part$n.o" || return 1
  done
  g++ -g -Wl,--discard-all -o "$work/large" "$work/main.o" "$work"/part[0-9]*.o && rm "$work"/part*.o
}
if [ "$(df -m --output=avail "$work" | tail -n 1)" -lt $((4 * large)) ]; then
  echo "a large program: no room for $((4 * large)) MB in $work"
elif make_large $large 2>"$work/err"; then
  build/bench/bench 5 -- "${tally[@]}" -n "$event /pid == \$target && ustackdepth/ { @[ufunc(arg1)] = count(); }" -c "$work/large" >"$work/start"
  figure "C++, $(size -A "$work/large" | awk '/^\.debug/ { n += $2 } END { printf "%.0f", n / 1048576 }') MiB of debug data: to the first name" \
    "$(awk 'NR == 1 { print $1 / 1e9 }' "$work/start")" s - "" "<= 1"
else
  echo "a large program was not made: $(head -n 1 "$work/err")"
  missed=$((missed + 1))
fi
figure_end
