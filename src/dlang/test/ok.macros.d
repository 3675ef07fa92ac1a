#pragma D option quiet
int name;
BEGIN
{
	x = $target; y = $1; z = $$2; w = $3; v = $2;
}
/* expect-type (int 42:int) */
/* expect-type (int 7:int) */
/* expect-type (str "name":string264) */
/* expect-type (int 16:int) */
/* expect-type (var name:int) */
