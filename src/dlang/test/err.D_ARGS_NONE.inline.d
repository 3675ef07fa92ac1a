inline int first = args[0];
BEGIN { trace(first); }
/* expect-error 1: D_ARGS_NONE args[ ] may not be referenced in a definition, which has no probe: pass args[0] to it */
