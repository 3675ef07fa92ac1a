#pragma D attributes Stable
BEGIN { trace(1); }
/* expect-error 1: D_PRAGMA_MALFORM malformed #pragma attributes <attributes> <ident> */
