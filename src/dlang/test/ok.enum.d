enum colour { RED = 3, GREEN, BLUE = GREEN * 2 };
int a[BLUE];
BEGIN
{
	x = GREEN;
	trace(sizeof(a));
}
/* expect-type (int 4:enum colour) */
/* expect-type (int 32:size_t) */
