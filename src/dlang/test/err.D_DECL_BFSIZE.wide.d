struct s { char a : 9; };
BEGIN { trace(1); }
/* expect-error 1: D_DECL_BFSIZE bit-field too big for type: a */
