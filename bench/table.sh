# table.sh - one form for the figures of all benchmarks; read by each of them.
#
# figure WHAT OURS UNIT PEER WHO LIMIT: a row.  PEER is what WHO (a program, a plain loop) takes for the same, in the same
# unit and the same run; "-" when there is nobody.  LIMIT is of OURS ("<= 25", ">= 1024"), or of OURS / PEER ("<= 0.75 x"); "-" when
# the figure is only shown.  A row whose limit is not met is counted in $missed.
#
# $BENCH_FIGURES, when set, is a file that gets the same rows, with tabs between, for bench/all.sh.
missed=0

# Before a command whose figure is a time by itself, not beside a peer: a busy neighbour is waited for, for $patience seconds.
calm=(build/bench/clock one "${patience:-0}") all_calm=(build/bench/clock all "${patience:-0}")

# Of so many runs of a command, each begun so, the largest of what it prints in a column, or with MOST=0 the least.
best() { # RUNS MOST COLUMN COMMAND...
  local runs=$1 most=$2 column=$3
  shift 3
  for ((; runs; runs--)); do "$@"; done |
    awk -v most="$most" -v c="$column" 'NR == 1 || (most ? $c > b : $c < b) { b = $c } END { print b }'
}

# Instructions in user space: no neighbour changes them, so two versions compare by them to the permille.
instructions() { # COMMAND...
  valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null "$@" 2>&1 >/dev/null |
    awk '/I +refs:/ { gsub(",", ""); print $NF }'
}

# FORMER=DIR: a tree of another commit, where the same programs were built (make all progs build/bench/...).  A row for a program
# of bench/ that prints speeds: this build's beside that one's, in turn, each the best of RUNS.
former_row() { # WHAT UNIT RUNS PROGRAM ARGUMENT...
  local what=$1 unit=$2 runs=$3 ours theirs
  shift 3
  [ -x "${FORMER:-}/build/bench/$1" ] || return 0
  read -r ours theirs < <(for ((; runs; runs--)); do
    echo "$("build/bench/$1" "${@:2}" | awk '{ print $1 }') $("$FORMER/build/bench/$1" "${@:2}" | awk '{ print $1 }')"
  done | awk '{ a = $1 > a ? $1 : a; b = $2 > b ? $2 : b } END { print a, b }')
  figure "$what, beside the former" "$ours" "$unit" "$theirs" "the former" ">= 0.9 x"
}

figure_head() { printf '%-46s %10s %-6s %10s %-16s %8s  %s\n' "$1" tally "" peer "" ratio limit; }
figure() {
  awk -v what="$1" -v ours="$2" -v unit="$3" -v peer="$4" -v who="$5" -v limit="$6" -v file="${BENCH_FIGURES:-}" '
    function number(s) { return s ~ /^-?[0-9.]+(e[-+]?[0-9]+)?$/ }
    BEGIN {
      ratio = number(ours) && number(peer) && peer + 0 > 0 ? ours / peer : "-"
      if (split(limit, l, " ") >= 2) {
        is = l[3] == "x" ? ratio : ours
        met = number(is) && (l[1] == "<=" ? is + 0 <= l[2] + 0 : is + 0 >= l[2] + 0)
        verdict = met ? "met" : "NOT MET"
      }
      shown = ratio == "-" ? ratio : sprintf("%.3g", ratio)
      o = number(ours) ? sprintf("%.4g", ours) : ours
      p = number(peer) ? sprintf("%.4g", peer) : peer
      printf "%-46s %10s %-6s %10s %-16s %8s  %-10s %s\n", what, o, unit, p, who, shown, limit, verdict
      if (file != "") printf "%s\t%s %s\t%s %s\t%s\t%s\t%s\n", what, o, unit, p, who, shown, limit, verdict >>file
      exit verdict == "NOT MET"
    }' || missed=$((missed + 1))
}
figure_end() {
  if [ $missed -eq 0 ]; then echo "every target is met"; else echo "$missed targets are not met"; exit 1; fi
}
