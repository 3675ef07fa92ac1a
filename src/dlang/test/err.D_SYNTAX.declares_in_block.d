BEGIN { if (1) { struct point p; } }
/* expect-error 1: D_SYNTAX syntax error near "struct"; variables are declared in front of clauses, or by what is first assigned to them */
