/* with kernel */
BEGIN
{
	print(curthread->owner);
}
/* expect-error 4: D_PRINT_SIZE print( ) argument #1 is of type struct module *, which has no size that can be printed */
