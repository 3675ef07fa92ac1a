/*
 * yard.c HOW DIRECTORY TRUTH - touches a known number of fresh pages of its heap, its stack, memory without a file, a
 * file that it maps and its static data, one page fault each: 200, 150, 300, 250 and 100. Then 50 pages of another file
 * take the place of the first ones of that file. What was where it writes to the file TRUTH, a line each: name, start,
 * end. (With HOW storm: it maps and unmaps memory and files 150,000 times, each at another place and with another name,
 * and that is all.) HOW: code - between the two files it unmaps code, too; data - it does not; fork - it maps all of
 * it, waits for a line, and has a child touch it.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096

static char yard_shed[100 * PAGE];

static void yard_touch(FILE *truth, const char *what, volatile char *at, long pages)
{
	for (long i = 0; i < pages; i++)
		at[i * PAGE + PAGE / 2] = 1;
	fprintf(truth, "%s %p %p\n", what, (void *)at, (void *)(at + pages * PAGE));
}

static void yard_stack(FILE *truth)
{
	char pile[152 * PAGE];

	yard_touch(truth, "[stack]", pile + PAGE, 150);
}

static char *yard_file(const char *dir, const char *name, void *at, long pages)
{
	char path[4096];
	char *p;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_RDWR | O_CREAT, 0600);
	if (fd < 0 || ftruncate(fd, (pages + 1) * PAGE) < 0)
		return MAP_FAILED;
	p = mmap(at, pages * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | (at ? MAP_FIXED : 0), fd, PAGE);
	close(fd);
	return p;
}

static int yard_storm(const char *dir)
{
	char *area = mmap(0, 4096 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (long i = 0; i < 150000 && area != MAP_FAILED; i++) {
		char *at = area + i * 7 % 4000 * PAGE, name[32];
		int fd;

		snprintf(name, sizeof(name), "bale.%ld", i % 1000);
		fd = memfd_create(name, MFD_CLOEXEC);
		if (fd < 0 || ftruncate(fd, PAGE) < 0 ||
		    mmap(at, PAGE, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED)
			return 1;
		close(fd);
		if (i % 3)
			munmap(at, PAGE);
	}
	return area == MAP_FAILED || !dir;
}

int main(int argc, char **argv)
{
	FILE *truth = argc == 4 ? fopen(argv[3], "w") : NULL;
	char *heap, *hay, *sack, *ladder;

	if (!truth)
		return 2;
	if (argv[1][0] == 's')
		return yard_storm(argv[2]);
	fputc('\n', truth); /* it has its buffer */
	heap = sbrk(201 * PAGE);
	hay = mmap(0, 300 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sack = yard_file(argv[2], "sack.bin", NULL, 250);
	if (heap == (void *)-1 || hay == MAP_FAILED || sack == MAP_FAILED)
		return 1;
	if (argv[1][0] == 'f') {
		char go;

		if (read(0, &go, 1) != 1 || fork())
			return wait(NULL) < 0;
	}
	yard_touch(truth, "[heap]", heap, 200);
	yard_stack(truth);
	yard_touch(truth, "[anon]", hay, 300);
	yard_touch(truth, "sack.bin", sack, 250);
	yard_touch(truth, "yard_shed", yard_shed, 100);
	munmap(sack, 250 * PAGE);
	if (argv[1][0] == 'c')
		munmap(mmap(0, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), PAGE);
	ladder = yard_file(argv[2], "ladder.bin", sack, 50);
	if (ladder == MAP_FAILED)
		return 1;
	yard_touch(truth, "ladder.bin", ladder, 50);
	return fclose(truth) != 0;
}
