BEGINN { trace(1); }
/* expect-error 1: D_PDESC_ZERO probe description :::BEGINN does not match any probes */
