BEGIN
{
	trace(stringof(trace(1)));
}
/* expect-error 3: D_STRINGOF_TYPE cannot apply stringof to a value of type void */
