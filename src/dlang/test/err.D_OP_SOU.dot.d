BEGIN
{
	trace(pid.a);
}
/* expect-error 3: D_OP_SOU operator . cannot be applied to type "pid_t"; must be applied to a struct or union */
