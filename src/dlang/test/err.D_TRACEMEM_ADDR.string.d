BEGIN
{
	tracemem("here", 8);
}
/* expect-error 3: D_TRACEMEM_ADDR tracemem( ) argument #1 is incompatible with prototype: */
