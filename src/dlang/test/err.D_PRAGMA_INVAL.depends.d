#pragma D depends_on planet mars
BEGIN { trace(1); }
/* expect-error 1: D_PRAGMA_INVAL invalid class planet specified by #pragma depends_on */
