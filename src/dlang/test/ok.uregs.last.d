/* with library */
BEGIN
{
	trace(uregs[0] + uregs[25]);
}
