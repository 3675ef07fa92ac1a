BEGIN { trace('a' / 0); }
/* expect-error 1: D_DIV_ZERO expression contains division by zero */
