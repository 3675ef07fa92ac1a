inline int twice(int a) = 2 * a;
/* expect-error 1: D_SYNTAX inline twice has parameters in parentheses: they stand in brackets, twice[ ] */
