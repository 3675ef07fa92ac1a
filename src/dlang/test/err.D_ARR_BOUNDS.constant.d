int a[5];
BEGIN
{
	trace(a[5]);
}
/* expect-error 4: D_ARR_BOUNDS index outside array bounds: 5, max 4 */
