
#pragma D option
BEGIN { trace(1); }
/* expect-error 2: D_PRAGMA_MALFORM malformed #pragma option <option>=<val> */
