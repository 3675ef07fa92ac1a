/* with kernel */
BEGIN
{
	trace(curthread->truth);
	trace(curthread->byte);
}
/* expect-type 4: (action trace (args (member +88:_Bool */
/* expect-type 5: (action trace (args (member +88:unsigned char */
