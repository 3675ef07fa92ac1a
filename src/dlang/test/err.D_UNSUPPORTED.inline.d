inline int zero = 0;
/* expect-error 1: D_UNSUPPORTED inline definitions are not supported yet: inline */
