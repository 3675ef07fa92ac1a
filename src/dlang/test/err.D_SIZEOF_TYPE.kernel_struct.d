BEGIN
{
	trace(sizeof (struct task_struct));
}
/* expect-error 3: D_SIZEOF_TYPE cannot apply sizeof to an operand of unknown size */
