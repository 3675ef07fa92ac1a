int a[];
BEGIN { trace(1); }
/* expect-error 1: D_DECL_ARRNULL array declaration requires array dimension or tuple signature */
