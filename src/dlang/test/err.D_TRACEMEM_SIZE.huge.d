BEGIN
{
	tracemem(123, 16385);
}
/* expect-error 3: D_TRACEMEM_SIZE tracemem( ) argument #2 is 16385, and at most 16384 bytes can be traced */
