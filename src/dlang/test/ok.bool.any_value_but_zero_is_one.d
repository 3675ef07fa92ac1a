bool b;
BEGIN
{
	b = 256;
	trace((bool)-1);
	trace((_Bool)0);
	b += 255;
}
/* expect-type (assign =:bool (var b:bool) (int 1:bool)) */
/* expect-type (int 1:bool) */
/* expect-type (int 0:_Bool) */
