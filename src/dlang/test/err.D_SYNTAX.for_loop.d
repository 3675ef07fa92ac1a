BEGIN
{
	for (i = 0; i < 3; i++) trace(i);
}
/* expect-error 3: D_SYNTAX syntax error near "for"; D has no loops: a clause runs once each time that its probe fires */
