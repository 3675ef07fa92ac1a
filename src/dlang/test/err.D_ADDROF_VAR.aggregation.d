BEGIN { @a = count(); trace(&@a); }
/* expect-error 1: D_ADDROF_VAR cannot take address of dynamic variable */
