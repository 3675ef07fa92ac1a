void v;
BEGIN { trace(1); }
/* expect-error 1: D_DECL_VOIDOBJ cannot declare void object: v */
