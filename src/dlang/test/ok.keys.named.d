int a[int first, string second];
self int b[int k];
BEGIN
{
	a[1, "x"] = 2;
	self->b[3] = 4;
}
/* expect-type (var a:int (int 1:int) (str "x":string264)) */
/* expect-type (var self->b:int (int 3:int)) */
