extern int e;
int f(int, char *), g(void), h(int a, ...);
typedef int (*fn_t)(void);
typedef unsigned long long u64;
const volatile unsigned x, *p[3];
long double ld(double);
union u { int a; char b[4]; };
this union u uu;
self string name;
u64 count64;
struct list { struct list *next; fn_t call; int (*row)[3]; };
BEGIN
{
	count64++;
	trace(sizeof(fn_t));
	trace(this->uu.b[2]);
	x = sizeof(p);
	trace((*((struct list *)arg0)->row)[1]);
}
