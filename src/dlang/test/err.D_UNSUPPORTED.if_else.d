BEGIN
{
	if (pid == 1) { trace(1); } else if (pid == 2)
		trace(2);
	else
		trace(3);
	trace(4)
}
/* expect-error 3: D_UNSUPPORTED if and else are not supported: use predicates or ?: */
