BEGIN
{
	x = $4; y = $5;
}
