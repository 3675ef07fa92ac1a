cpc:::cpu_clock-user-10000000
/execname == "foo"/
{
	@[ufunc(arg1)] = count();
}

END
{
	trunc(@, 20);
	printa(@);
}
/* expect-type (aggregate @ (call count) (keys (symfn:ufunc */
/* expect-type (action trunc @ (args (int 20:long))) */
