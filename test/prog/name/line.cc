/* Lines that touch known numbers of fresh pages; the numbers behind "line" are theirs. */
#include <stddef.h>
#include <sys/mman.h>

static inline __attribute__((always_inline)) void inner(volatile char *p, long n)
{
	for (long i = 0; i < n; i++)
		p[i * 4096] = 1; /* line 8 */
}
static inline __attribute__((always_inline)) void middle(volatile char *p, long n)
{
	inner(p, n); /* line 12 */
}
__attribute__((noipa)) void stamp(void)
{
}
__attribute__((noipa)) void outer(volatile char *p, long n)
{
	stamp(); /* so that it has a frame */
	middle(p, n); /* line 20 */
	stamp();
}

int main()
{
	char *p = static_cast<char *>(mmap(NULL, 2000 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));

	outer(p, 2000); /* line 28 */
	stamp();
	return 0;
}
