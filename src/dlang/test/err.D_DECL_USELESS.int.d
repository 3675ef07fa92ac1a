int;
BEGIN { trace(1); }
/* expect-error 1: D_DECL_USELESS useless declaration */
