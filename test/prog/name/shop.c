/* Functions of C that touch known numbers of fresh pages: one page fault each. */
#include <stddef.h>
#include <sys/mman.h>

static volatile char *fresh(size_t pages)
{
	return mmap(NULL, pages * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

__attribute__((noinline)) void till_ring(size_t pages)
{
	volatile char *p = fresh(pages);

	for (size_t i = 0; i < pages; i++)
		p[i * 4096] = 1;
}

static __attribute__((noinline)) void till_fill(size_t pages)
{
	volatile char *p = fresh(pages);

	for (size_t i = 0; i < pages; i++)
		p[i * 4096] = 2;
}

int main(void)
{
	till_ring(2000);
	till_fill(1000);
	return 0;
}
