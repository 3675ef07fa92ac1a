self nosuch_t *v;
BEGIN { self->v = 0; }
/* expect-error 1: D_SYNTAX syntax error near "*"; there is no type nosuch_t */
