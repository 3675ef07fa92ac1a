translator info_t < int * > { };
/* expect-error 1: D_SYNTAX syntax error near ">" */
