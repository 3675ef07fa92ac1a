BEGIN
{
	if (pid == 1) {
		trace(1);
	} else {
		y = 2;
	}
	speculate(1);
}
/* expect-error 8: D_SPEC_DREC speculate( ) may not follow data-recording action(s) */
