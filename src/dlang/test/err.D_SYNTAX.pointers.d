int *****************seventeen;
/* expect-error 1: D_SYNTAX nested too deeply: more than 16 levels of pointers */
