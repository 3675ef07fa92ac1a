enum colour { RED = 3, GREEN, BLUE = GREEN * 2 };
int a[BLUE];
BEGIN
{
	x = GREEN;
	trace(sizeof(a));
}
