/* As a statement a conditional expression may have actions for arms, and one that is none. */
BEGIN
{
	pid ? trace("yes") : 1;
	pid ? 1 : tid ? printf("%d", 2) : trace("none");
	(pid ? trace(1) : trace(2));
}
