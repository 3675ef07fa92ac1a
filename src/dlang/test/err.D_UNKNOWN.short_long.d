BEGIN { x = (long short)0; }
/* expect-error 1: D_UNKNOWN failed to resolve type short long : Unknown type name */
