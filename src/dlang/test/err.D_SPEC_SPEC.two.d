BEGIN
{
	speculate(1);
	speculate(2);
}
/* expect-error 4: D_SPEC_SPEC speculate( ) may not follow speculate( ) */
