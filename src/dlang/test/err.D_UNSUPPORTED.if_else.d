BEGIN
{
	if (pid == 1) { trace(1); }
}
/* expect-error 3: D_UNSUPPORTED if and else are not supported: use predicates or ?: */
