/* with kernel */
BEGIN
{
	trace(sizeof (struct module));
}
/* expect-error 4: D_SIZEOF_TYPE cannot apply sizeof to an operand of unknown size */
/* expect-why no struct module definition is available */
