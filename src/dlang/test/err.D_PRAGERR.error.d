#error not on this machine
BEGIN { trace(1); }
/* expect-error 1: D_PRAGERR #error: not on this machine */
