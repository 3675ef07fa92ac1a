BEGIN
/pid == 1/ /* so it is */
{
	trace(1);
}
