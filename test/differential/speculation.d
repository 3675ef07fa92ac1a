/* What is speculated is told when it is committed, in the order in which it came, and not at all when it is discarded. */
#pragma D option nspec=3
int zero;
BEGIN { a = speculation(); b = speculation(); c = speculation(); printf("%d %d %d %d", a, b, c, speculation()); }
BEGIN { speculate(a); printf("one of a"); n++; }
BEGIN { speculate(b); printf("one of b"); n++; }
BEGIN { speculate(a); trace("two of a"); n++; }
BEGIN { speculate(0); n += 100; trace("never"); }
BEGIN { trace(n); }
BEGIN { commit(a); n += 10; }
BEGIN { discard(b); trace("told"); }
BEGIN { commit(c); }
BEGIN { commit(b); commit_twice = 1; }
BEGIN { speculate(b); n += 1000; trace("never"); }
BEGIN { if (n > 5) { speculate(c); } else { n = 0; } trace("kept by nobody"); }
BEGIN { commit(0); discard(0); }
BEGIN { trace(n); }
ERROR { printf("ERROR %d %d", arg1, arg4); }
BEGIN { commit(4); }
BEGIN { discard(-1); }
BEGIN { speculate(5); trace("never"); }
ERROR { speculate(a); trace(zero / zero); }
tick-1ms { d = speculation(); e = speculation(); trace(d); trace(e); }
tick-1ms { speculate(d); trace(1 / zero); }
tick-1ms { speculate(d); trace("of d"); }
tick-1ms { commit(d); }
tick-1ms { exit(0); }
BEGIN { d = speculation(); }
BEGIN /10 / zero/ { speculate(d); trace("never: the predicate faults before it speculates"); }
BEGIN { commit(d); }
