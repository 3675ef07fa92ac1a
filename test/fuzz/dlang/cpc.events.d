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
