BEGIN
{
	speculate(1);
	copyout(0, 0, 8);
}
/* expect-error 4: D_ACT_SPEC destructive actions may not follow speculate( ) */
