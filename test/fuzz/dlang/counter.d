BEGIN
{
	n++;
	m += 5;
}
