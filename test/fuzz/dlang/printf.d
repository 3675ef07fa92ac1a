BEGIN
{
	printf("%d %5s %-*.*x %c %p %Y %%\n", pid, execname, 5, 3, arg0, 65, (int *)arg0, walltimestamp);
	printf("%k", stack());
}
