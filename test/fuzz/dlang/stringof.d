BEGIN
{
	x = stringof(arg0);
	y = (string)arg1;
	z = stringof(execname);
}
