BEGIN /pid == $$1/ { trace(1); }
/* expect-error 1: D_OP_INCOMPAT operands have incompatible types: "pid_t" == "string" */
/* expect-why $$1 is a string, whatever its text: $1 is an integer if its text is one */
