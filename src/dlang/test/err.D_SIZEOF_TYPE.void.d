BEGIN
{
	x = sizeof(void);
}
/* expect-error 3: D_SIZEOF_TYPE cannot apply sizeof to an operand of unknown size */
