/* if and else: arms with and without braces, nested, with actions and without. */
BEGIN
{
	x = 3;
	if (x > 2) {
		printf("more");
		if (x == 3)
			trace(x);
		else
			trace("other");
	} else if (x < 0)
		y = 1;
	else {
	}
	z = x;
}
