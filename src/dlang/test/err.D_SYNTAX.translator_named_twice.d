translator info_t T < int *P > { };
/* expect-error 1: D_SYNTAX syntax error near "<" */
