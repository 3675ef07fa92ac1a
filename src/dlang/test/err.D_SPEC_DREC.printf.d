BEGIN
{
	printf("x");
	speculate(1);
}
/* expect-error 4: D_SPEC_DREC speculate( ) may not follow data-recording action(s) */
