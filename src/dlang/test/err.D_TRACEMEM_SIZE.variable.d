BEGIN
{
	x = 8;
	tracemem(123, x);
}
/* expect-error 4: D_TRACEMEM_SIZE tracemem( ) argument #2 must be a non-zero positive integral constant expression */
