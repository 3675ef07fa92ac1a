/* A function that a C header defines is read over, whatever its body has. */
#line 1 "swap.h"
static unsigned short swap(unsigned short x)
{
	if (x != 0) { return (x >> 8) | (x << 8); }
	return 0;
}
extern int twice(int x) { return 2 * x; }
#line 10
BEGIN { trace(7); }
/* expect-type (int 7:int) */
