BEGIN /pid == $78/ { trace(1); }
/* expect-error 1: D_OP_INCOMPAT operands have incompatible types: "pid_t" == "string" */
/* expect-why $78 is "-5abc", which is no whole number: it is a string */
