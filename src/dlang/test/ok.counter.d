BEGIN
{
	n++;
	m += 5;
}
/* expect-type (var n:int64_t) */
/* expect-type (var m:int64_t) */
