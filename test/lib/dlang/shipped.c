/* shipped.c: the files of lib/tally/d, in the order of their names, and what session/machine.c writes, of a machine
 * that is always the same. */
#include "dlang/shipped.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHIPPED_MOST 32

static const char machine[] =
	"translator processor_info_t < processorid_t C > { pi_state = P_ONLINE; pi_processor_type = \"any\"; };\n"
	"inline string __without_pi_clock = \"the kernel does not tell it here\";\n"
	"translator cpuinfo_t < processorid_t C > { cpu_id = C; cpu_pset = 0; cpu_info = xlate < processor_info_t > (C);\n"
	"cpu_chip = (C < 2 ? 0 : 1); cpu_lgrp = 0; };\n"
	"inline uint64_t __page_bytes = 4096;\ninline uint64_t __memory_pages = 1000000;\ninline int64_t __boot_ns = 1;\n"
	"inline int O_DIRECT = 0x4000; inline int O_DIRECTORY = 0x10000; inline int O_NOFOLLOW = 0x20000;\n"
	"inline int O_LARGEFILE = 0x8000;\n"
	"inline short __syscall_of[struct pt_regs *R] = *(long *)R;\n";

struct shipped {
	bool read;
	uint32_t n;
	struct d_library of[SHIPPED_MOST];
	glob_t files; /* theirs are the names */
};

static void shipped_read(struct shipped *s)
{
	s->read = true;
	s->of[s->n++] = (struct d_library){ .name = "this-machine.d", .text = machine, .n = sizeof(machine) - 1 };
	if (glob("lib/tally/d/*.d", 0, NULL, &s->files) != 0)
		return;
	for (size_t i = 0; i < s->files.gl_pathc && s->n < SHIPPED_MOST; i++) {
		char *text = NULL;
		size_t n = 0;
		FILE *f = fopen(s->files.gl_pathv[i], "re");

		if (f && getdelim(&text, &n, '\0', f) > 0) /* kept until the process ends */
			s->of[s->n++] =
				(struct d_library){ .name = s->files.gl_pathv[i], .text = text, .n = strlen(text) };
		else
			free(text);
		if (f)
			fclose(f);
	}
}

bool shipped_library(uint32_t i, struct d_library *ret)
{
	static struct shipped all;

	if (!all.read)
		shipped_read(&all);
	if (i >= all.n)
		return false;
	*ret = all.of[i];
	return true;
}
