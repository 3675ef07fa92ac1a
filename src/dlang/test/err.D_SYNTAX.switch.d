BEGIN { switch (x) { case 1: trace(1); } }
/* expect-error 1: D_SYNTAX syntax error near "switch"; D has no switch: if and else, a predicate or ?: choose */
