int f(void), g(int a, char *b, ...), (*h)(int);
extern void k(int (*)(void), int ());
typedef int (*fn_t)(struct later *, string[4]);
struct later { fn_t call; };
int none();
self fn_t handler;
BEGIN
{
	trace(sizeof (struct later));
	self->handler = (fn_t)arg0;
}
/* expect-type (int 8:size_t) */
