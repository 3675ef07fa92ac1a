/* shipped.c: the files of lib/tally/d, in the order of their names. */
#include "dlang/shipped.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHIPPED_MOST 32

struct shipped {
	bool read;
	uint32_t n;
	struct d_library of[SHIPPED_MOST];
	glob_t files; /* theirs are the names */
};

static void shipped_read(struct shipped *s)
{
	s->read = true;
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
