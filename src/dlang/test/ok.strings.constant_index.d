/* An index that is none of the string is a fault of the firing, not of the program. */
BEGIN
{
	trace(execname[15]);
	trace(execname[16]);
	trace(execname[-1]);
}
/* expect-type 5: (action trace (args (index:char */
