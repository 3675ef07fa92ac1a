#pragma D binding 1.0 x
BEGIN { trace(1); }
/* expect-error 1: D_PRAGMA_MALFORM malformed #pragma binding "version" <ident> */
