#pragma D option quiet
int name;
BEGIN
{
	x = $target; y = $1; z = $$2; w = $3; v = $2;
}
