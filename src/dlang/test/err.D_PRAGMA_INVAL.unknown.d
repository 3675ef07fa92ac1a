#pragma D nosuch
BEGIN { trace(1); }
/* expect-error 1: D_PRAGMA_INVAL invalid D pragma: nosuch */
