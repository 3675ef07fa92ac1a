BEGIN
{
	tracemem(123, 1);
	tracemem((char *)123, 16384);
}
/* expect-type 3: (action tracemem */
/* expect-type 4: (action tracemem */
