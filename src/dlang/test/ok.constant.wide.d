/* A sum or product of int constants that no int holds is a long, and keeps its value. */
BEGIN { trace(30 * 1000000000); trace(2147483647 + 1); trace(-2147483647 - 2); trace(2147483646 + 1); }
/* expect-type (int 30000000000:long) */
/* expect-type (int 2147483648:long) */
/* expect-type (int -2147483649:long) */
/* expect-type (int 2147483647:int) */
