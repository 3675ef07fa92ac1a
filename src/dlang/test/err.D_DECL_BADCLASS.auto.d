auto int x;
BEGIN { trace(1); }
/* expect-error 1: D_DECL_BADCLASS specified storage class not appropriate in D */
