/*
 * image: a program that is linked to fixed addresses, one of several that differ in the name of a function only
 * (IMAGE_FUNCTION).  It touches so many pages in it, and becomes the next program, with the arguments behind.
 *
 *	image PAGES [NEXT ARGUMENTS...]
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

__attribute__((noinline)) void IMAGE_FUNCTION(volatile char *area, unsigned long pages, unsigned long page)
{
	for (unsigned long i = 0; i < pages; i++)
		area[i * page] = 1;
}

int main(int argc, char **argv)
{
	unsigned long pages = argc > 1 ? strtoul(argv[1], NULL, 0) : 0, page = (unsigned long)sysconf(_SC_PAGESIZE);
	char *area = mmap(NULL, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (area == MAP_FAILED || madvise(area, pages * page, MADV_NOHUGEPAGE) < 0)
		return 1;
	IMAGE_FUNCTION(area, pages, page);
	if (argc < 3)
		return 0;
	execv(argv[2], argv + 2);
	perror(argv[2]);
	return 1;
}
