BEGIN
{
	x = strlen(1);
}
/* expect-error 3: D_PROTO_ARG strlen( ) argument #1 is incompatible with prototype: prototype: char * argument: int */
