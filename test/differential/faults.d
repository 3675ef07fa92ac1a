/* What goes wrong at run time fires ERROR and aborts the clause, no more. */
int zero; int a[3]; int i;

ERROR { errors++; printf("ERROR %d %d %d", arg1, arg4, arg5); }
BEGIN { trace(1 / zero); trace("never"); }
BEGIN { trace(1 % zero); }
BEGIN { i = 3; trace(a[i]); }
BEGIN { i = -1; a[i] = 1; }
BEGIN { i = 5; i /= zero; }
BEGIN { trace(*(int *)8); }
BEGIN { trace(stringof(16)); }
BEGIN /1 / zero/ { trace("never"); }
BEGIN { trace(zero ? 1 / zero : 5); }
BEGIN { trace(inet_ntop(99, alloca(4))); }
BEGIN { i = 6; if (i) trace(i); else trace(link_ntop(99, alloca(4))); }
BEGIN { trace(errors); exit(3); }
END { trace("end"); }
