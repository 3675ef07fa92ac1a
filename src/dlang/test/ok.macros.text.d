BEGIN
{
	x = $6;
}
/* expect-type (var x:string264) (str "two words":string264) */
