struct out { int a; };
translator struct out < int T > { a = args[1]; };
BEGIN { trace(xlate < struct out > (1).a); }
/* expect-error 2: D_ARGS_NONE args[ ] may not be referenced in a definition, which has no probe: pass args[1] to it */
