BEGIN
{
	tracemem(123, uid);
}
/* expect-error 3: D_TRACEMEM_SIZE tracemem( ) argument #2 must be a non-zero positive integral constant expression */
