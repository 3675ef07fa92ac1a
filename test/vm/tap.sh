# tap.sh - sourced: verdicts in TAP, by bash and by the guests' busybox sh.  Results are in $n and $bad; a caller that has
# checked something before sets both.
n=${n:-0} bad=${bad:-0}
check() { # VERDICT(0/1...) WORDS [DETAIL]
  n=$((n + 1))
  if [ "$1" -eq 0 ]; then echo "ok $n - $2"; return; fi
  bad=$((bad + 1))
  echo "not ok $n - $2"
  printf '%s\n' "${3:-}" | sed 's/^/# /'
}
is() { # WORDS GOT WANT
  [ "$2" = "$3" ]
  check $? "$1: $(printf %s "$3" | tr '\n' ' ')" "got:  $2
want: $3"
}
plan() { echo "1..$n"; [ "$bad" -eq 0 ]; }
