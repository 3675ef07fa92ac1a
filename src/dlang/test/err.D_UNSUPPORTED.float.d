float f;
BEGIN { trace(1); }
/* expect-error 1: D_UNSUPPORTED floating-point variables are not supported yet: f */
