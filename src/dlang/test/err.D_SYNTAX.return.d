BEGIN { return; }
/* expect-error 1: D_SYNTAX syntax error near "return"; D has no return: if and else say what runs, and a predicate says when a clause does */
