long char x;
BEGIN { trace(1); }
/* expect-error 1: D_DECL_LONGINT long and short may only be used with integer type */
