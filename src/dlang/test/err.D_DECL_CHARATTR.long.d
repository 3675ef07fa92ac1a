long char x;
BEGIN { trace(1); }
/* expect-error 1: D_DECL_CHARATTR invalid type declaration: short and long may not be used with char type */
