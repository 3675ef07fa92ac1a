inline int zero = 0;
BEGIN { trace(1); }
/* expect-error 1: D_UNSUPPORTED inline definitions are not supported yet: inline zero */
