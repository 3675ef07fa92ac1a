struct nowhere *p;
BEGIN
{
	print(p);
}
/* expect-error 4: D_PRINT_SIZE print( ) argument #1 is of type struct nowhere *, which has no size that can be printed */
