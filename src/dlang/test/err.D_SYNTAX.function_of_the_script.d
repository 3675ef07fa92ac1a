#line 1 "swap.h"
static int swap(int x) { return x; }
#line 5
static int twice(int x) { return 2 * x; }
/* expect-error 5: D_SYNTAX syntax error near "{"; D has no functions */
