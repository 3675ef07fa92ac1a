BEGIN
{
	speculate(1);
	exit(0);
}
/* expect-error 4: D_EXIT_SPEC exit( ) may not follow speculate( ) */
