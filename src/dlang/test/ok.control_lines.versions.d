#pragma D binding "1" pid
#pragma D binding "1.2" pid
#pragma D binding "10.20.30" pid
BEGIN
{
	trace(pid);
}
/* expect-type 6: (action trace */
