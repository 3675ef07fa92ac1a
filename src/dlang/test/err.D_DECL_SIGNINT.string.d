unsigned string s;
BEGIN { trace(1); }
/* expect-error 1: D_DECL_SIGNINT signed and unsigned may only be used with integer type */
