BEGIN
{
	x = $8; y = $$8;
}
/* expect-type (var x:int) (int 0:int) */
/* expect-type (str "":string264) */
/* with defaultargs */
