/*
 * store.c - touches a known number of fresh pages in each of its variables, one page fault each.
 * 300 more are of memory that belongs to no variable.
 */
#include <sys/mman.h>

#define PAGE 4096

char store_shelf[2000 * PAGE];
static char store_drawer[1000 * PAGE];
static char store_stock[500 * PAGE] = { 1 };

static void store_touch(volatile char *at, long pages)
{
	for (long i = 0; i < pages; i++)
		at[i * PAGE + PAGE / 2] = 1;
}

int main(void)
{
	char *heap = mmap(0, 300 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (heap == MAP_FAILED)
		return 1;
	store_touch(store_shelf, 2000);
	store_touch(store_drawer, 1000);
	store_touch(store_stock, 500);
	store_touch(heap, 300);
	return 0;
}
