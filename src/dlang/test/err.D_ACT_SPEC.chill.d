BEGIN
{
	speculate(1);
	chill(10);
}
/* expect-error 4: D_ACT_SPEC destructive actions may not follow speculate( ) */
