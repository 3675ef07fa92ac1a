/* with kernel */
BEGIN
{
	trace(curthread->comm[16]);
}
/* expect-error 4: D_ARR_BOUNDS index outside array bounds: 16, max 15 */
