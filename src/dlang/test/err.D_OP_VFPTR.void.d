BEGIN
{
	x = (void *)arg0;
	x++;
}
/* expect-error 4: D_OP_VFPTR operator ++ requires an operand of known size */
