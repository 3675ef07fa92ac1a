#pragma D depends_on provider
BEGIN { trace(1); }
/* expect-error 1: D_PRAGMA_MALFORM malformed #pragma depends_on <class> <name> */
