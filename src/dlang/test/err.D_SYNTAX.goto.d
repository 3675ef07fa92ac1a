BEGIN { goto out; }
/* expect-error 1: D_SYNTAX syntax error near "goto"; D has no goto: if and else, a predicate or ?: choose */
