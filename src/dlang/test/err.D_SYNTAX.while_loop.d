BEGIN
{
	while (1) { x++; }
}
/* expect-error 3: D_SYNTAX syntax error near "while"; D has no loops: a clause runs once each time that its probe fires */
