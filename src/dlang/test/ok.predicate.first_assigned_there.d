BEGIN
/i++ > 10 && (j = arg0) != 0/
{
	trace(i);
	trace(j);
}
tick-1s
/self->n++ > 10 || (k[pid] += 2) > 5/
{
	trace(self->n);
	trace(k[pid]);
}
BEGIN
/m++ > limit/
{
	limit = 3;
}
/* expect-type (action trace (args (var i:int64_t))) */
/* expect-type (action trace (args (var j:int64_t))) */
/* expect-type (action trace (args (var self->n:int64_t))) */
