# thread-guest.sh - vcounter() of 16 threads that migrate and are preempted, against the counters that each opens for itself; in a guest,
# by busybox sh.
# A thread's read of its own counters lies between two of vcounter(); where those are equal, all three are of one moment.  From one
# such moment to the next both must grow by the same.  Lines "EVENT MOMENTS UNEQUAL BY OF": how many, by how much in all, of how many events.
threads_compare() { # COMMAND EVENT...
  command=$1 d= at=1
  shift
  for e; do
    d="$d self int64_t p$at; self int64_t v$at; self int64_t seen$at;
      syscall::read:entry /pid == \$target && arg2 == 40/ { self->buf = arg1; self->seen$at = vcounter(\"$e\"); }
      syscall::read:return /self->buf && vcounter(\"$e\") == self->seen$at/ {
        this->p = (int64_t)((uint64_t *)copyin(self->buf, 40))[$at]; this->by = this->p - self->p$at - (self->seen$at - self->v$at);
        @moments[\"$e\"] = sum(self->v$at != 0); @unequal[\"$e\"] = sum(self->v$at && this->by); @by[\"$e\"] = sum(self->v$at ? this->by : 0);
        @of[\"$e\"] = sum(self->v$at ? self->seen$at - self->v$at : 0); self->p$at = this->p; self->v$at = self->seen$at; }"
    at=$((at + 1))
  done
  timeout 200 tally trace -q -c "$command" -n "$d END { printa(\"%s %@d %@d %@d %@d\n\", @moments, @unequal, @by, @of); }"
}

# Software events must be equal; those of the PMU within a percent, since with several CPUs QEMU's clock goes on between one counter's
# reading and the next.
threads_check() { # WORDS EVENT...
  words=$1
  shift
  said=$(threads_compare "threads -p 16 20 100" "$@" 2>&1)
  for e; do
    printf '%s\n' "$said" | awk -v e="$e" '$1 == e { n = $2; bad = e ~ /:u$/ ? $4 * $4 > $5 * $5 / 10000 : $3 } END { exit bad || n < 500 }'
    check $? "vcounter(\"$e\") of 16 threads$words is what perf counts of each: $(printf '%s\n' "$said" | awk -v e="$e" '$1 == e { print "off by " $4 " of " $5 }')" "$said"
  done
}
threads_check "" "$@"
calls loop 100000000 >/dev/null & storm=$!
threads_check ", in a storm of calls," "$@"
kill $storm
