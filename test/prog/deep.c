/*
 * deep: page faults under many frames.
 *
 *	deep FRAMES FAULTS
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static int fault(unsigned long faults)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *area = mmap(NULL, faults * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (area == MAP_FAILED || madvise(area, faults * page, MADV_NOHUGEPAGE) < 0)
		return 1;
	for (unsigned long i = 0; i < faults; i++)
		*(volatile char *)(area + i * page) = 1;
	return 0;
}

__attribute__((noinline)) static int deeper(unsigned long frames, unsigned long faults)
{
	volatile int rc = frames ? deeper(frames - 1, faults) : fault(faults);

	return rc; /* kept by the volatile: no call in the place of a return */
}

int main(int argc, char **argv)
{
	return argc == 3 ? deeper(strtoul(argv[1], NULL, 0), strtoul(argv[2], NULL, 0)) : 2;
}
