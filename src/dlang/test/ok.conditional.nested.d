BEGIN
{
	x = pid ? 1 : tid ? 2 : 3;
}
/* expect-type (?::int (builtin pid:pid_t) (int 1:int) (?::int */
