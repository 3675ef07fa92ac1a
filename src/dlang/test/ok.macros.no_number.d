BEGIN
{
	x = $7; y = $78; z = $79;
}
/* expect-type (var x:string264) (str "5x":string264) */
/* expect-type (var y:string264) (str "-5abc":string264) */
/* expect-type (var z:string264) (str "08":string264) */
