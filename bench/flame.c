/*
 * flame: what it costs to write a flame graph of many stacks, inside one process.
 *
 *	flame FORM STACKS FRAMES [FILE]   FORM: folded, html or pprof.  "seconds  MiB  MiB of the document": CPU
 *	                                  time from the first row to the last byte, and the most memory that was in
 *	                                  use for it
 *
 * Stacks are different, and share their callers as those of programs do: a function calls up to three others, and half
 * of the calls go to the first. Rows and their frames are made before the clock starts.
 */
#include <sys/resource.h>

#include <tally/tally.h>

#include "answer/emit.h"
#include "bench.h"

enum { NAMES = 20000, PROCESSES = 500 };

static uint64_t next_random(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return *seed >> 33;
}

/* A path down the calls: the callee of a function is one of three, which its name says. */
static void make_stack(const char **frame, uint32_t frames, char *const *name, uint64_t *seed)
{
	uint64_t at = 1;

	for (uint32_t i = frames; i-- > 0;) {
		const uint64_t r = next_random(seed) % 8;

		at = at * 31 + (r < 4 ? 0 : r < 6 ? 1 : r < 7 ? 2 : next_random(seed) % 64);
		frame[i] = name[at % NAMES];
	}
}

static double most_memory(void)
{
	struct rusage u;

	if (getrusage(RUSAGE_SELF, &u))
		fail("getrusage");
	return (double)u.ru_maxrss / 1024;
}

static uint32_t format_of(const char *form)
{
	return !strcmp(form, "html")  ? TALLY_FORMAT_HTML :
	       !strcmp(form, "pprof") ? TALLY_FORMAT_PPROF :
					TALLY_FORMAT_FOLDED;
}

int main(int argc, char **argv)
{
	if (argc < 4)
		fail("flame FORM STACKS FRAMES [FILE]");
	const uint32_t stacks = (uint32_t)strtoul(argv[2], NULL, 10), frames = (uint32_t)strtoul(argv[3], NULL, 10);
	const char **frame = calloc((size_t)stacks * frames, sizeof(*frame));
	struct an_value *key = calloc(2 * (size_t)stacks, sizeof(*key));
	struct an_row *row = calloc(stacks, sizeof(*row));
	char **name = calloc(NAMES, sizeof(*name));
	struct buf text = { 0 }, document = { 0 };
	struct an_emit e;
	uint64_t seed = 1;

	if (!frame || !key || !row || !name)
		fail("out of memory");
	for (uint32_t i = 0; i < NAMES; i++)
		if (asprintf(&name[i], "libservice.so.%u`component_%u::operation_%u", i % 40, i / 100, i) < 0)
			fail("out of memory");
	for (uint32_t i = 0; i < stacks; i++) {
		struct an_value *k = &key[2 * (size_t)i];

		make_stack(&frame[(size_t)i * frames], frames, name, &seed);
		k[0] = (struct an_value){ .kind = SLOT_INT, .width = 4, .i = (int64_t)(1000 + i % PROCESSES) };
		k[1] = (struct an_value){ .kind = SLOT_USTACK,
					  .frame = &frame[(size_t)i * frames],
					  .func = &frame[(size_t)i * frames],
					  .nframes = frames };
		row[i] = (struct an_row){ .key = k, .nkeys = 2, .sum = (int64_t)(1 + next_random(&seed) % 100) };
	}
	const double memory = most_memory(), start = seconds(CLOCK_PROCESS_CPUTIME_ID);

	if (an_emit_open(&e, &text, &(struct an_how){ .format = format_of(argv[1]) }) < 0)
		fail("no such form");
	e.ops->agg(&e, &(struct an_agg){ .name = "", .fn = AGG_COUNT, .row = row, .nrows = stacks });
	e.ops->finish(&e, &document);
	if (text.failed || document.failed)
		fail("out of memory");
	printf("%.3f %.1f %.1f\n", seconds(CLOCK_PROCESS_CPUTIME_ID) - start, most_memory() - memory,
	       (double)document.n / (1 << 20));
	an_emit_close(&e);
	if (argc > 4) {
		FILE *f = fopen(argv[4], "w");

		if (!f || fwrite(document.p, 1, document.n, f) != document.n || fclose(f))
			fail(argv[4]);
	}
	return 0;
}
