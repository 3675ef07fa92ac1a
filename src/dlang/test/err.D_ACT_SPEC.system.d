BEGIN
{
	speculate(1);
	system("true");
}
/* expect-error 4: D_ACT_SPEC destructive actions may not follow speculate( ) */
