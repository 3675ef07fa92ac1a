BEGIN
{
	trace(1)/* expect-error 4: untagged syntax error near end-of-input */
