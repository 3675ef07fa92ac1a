/*
 * Scratch memory, held against a model: an array of bytes, and how many of them are allocated.  A generator writes
 * clauses that allocate, store, load and copy, at places that are right and wrong; the model says what each prints, or
 * how it faults.  The vm and the kernel must say the same.  TALLY_DIFFERENTIAL_SEED=N runs program N alone and prints
 * it.
 */
#include "session/differential_test_int.h"
#include "session/generate.h"

#define PROGRAMS 60
#define CLAUSES 12
#define SCRATCH 48u
#define FIRST 8u

enum { BADADDR = 1, NOSCRATCH = 5, BADSIZE = 10 };

struct model {
	struct gen g;    /* the program */
	struct buf want; /* what it prints */
	struct buf line; /* of the clause in work: printed if it ends */
	uint8_t mem[FIRST + SCRATCH + 16];
	uint64_t top;
	uint64_t p, q; /* what the variables hold */
	bool faulted;
};

static void model_fault(struct model *m, int kind, uint64_t value)
{
	if (!m->faulted)
		buf_printf(&m->want, "ERROR %d %lld\n", kind, (long long)value);
	m->faulted = true;
}

static uint64_t model_alloca(struct model *m, uint64_t n)
{
	uint64_t start = (m->top + 7) & ~7ull;

	if (n > SCRATCH || start + n > FIRST + SCRATCH) {
		model_fault(m, NOSCRATCH, n);
		return 0;
	}
	m->top = start + n;
	return start;
}

/* Whether n bytes at `at` are there. */
static bool model_reaches(struct model *m, uint64_t at, uint64_t n, int crossing)
{
	bool part = at >= FIRST && at < m->top;

	if (at >= FIRST && at <= m->top && n <= m->top - at)
		return true;
	model_fault(m, part ? crossing : BADADDR, part && crossing == BADSIZE ? n : at);
	return false;
}

static const char *const types[] = { "int8_t", "uint8_t", "int16_t", "uint16_t", "int32_t", "uint32_t", "int64_t" };
static const uint8_t sizes[] = { 1, 1, 2, 2, 4, 4, 8 };

static int64_t scratch_extended(uint64_t v, uint32_t type)
{
	const unsigned bits = 64 - 8u * sizes[type];

	return type % 2 ? (int64_t)(v << bits >> bits) : (int64_t)(v << bits) >> bits;
}

/* A pointer: its text goes to the program. */
static uint64_t scratch_pointer(struct model *m)
{
	static const int offsets[] = { 0, 1, 2, 3, 4, 7, 8, 12, 15, 16, 20, 31, -1, -8, 40, 60 };
	const uint32_t i = pick(&m->g, pick(&m->g, 6) ? 10 : COUNT(offsets));
	const bool second = pick(&m->g, 2);

	PUT(&m->g, "(%c + %d)", second ? 'q' : 'p', offsets[i]);
	return (second ? m->q : m->p) + (uint64_t)(int64_t)offsets[i];
}

static void scratch_store(struct model *m)
{
	const uint32_t type = pick(&m->g, COUNT(types));
	const uint64_t v = (pick(&m->g, 60000) + 64) * 0x9e3779b97f4a7c15ull;
	uint64_t at;

	PUT(&m->g, "*(%s *)", types[type]);
	at = scratch_pointer(m);
	PUT(&m->g, " = %lluull; ", (unsigned long long)v);
	if (!m->faulted && model_reaches(m, at, sizes[type], BADADDR))
		memcpy(m->mem + at, &v, sizes[type]);
}

static void load(struct model *m)
{
	const uint32_t type = pick(&m->g, COUNT(types));
	uint64_t at, v = 0;

	PUT(&m->g, "printf(\"%%d \", (int64_t)*(%s *)", types[type]);
	at = scratch_pointer(m);
	PUT(&m->g, "); ");
	if (m->faulted || !model_reaches(m, at, sizes[type], BADADDR))
		return;
	memcpy(&v, m->mem + at, sizes[type]);
	buf_printf(&m->line, "%lld ", (long long)scratch_extended(v, type));
}

static void scratch_copy(struct model *m)
{
	static const char text[] = "the quick brown fox";
	const bool literal = pick(&m->g, 3) == 0;
	uint64_t from = 0, to, n = pick(&m->g, pick(&m->g, 8) ? 12 : 50);
	char between[64];

	PUT(&m->g, "n = %llu; bcopy(", (unsigned long long)n);
	if (literal)
		PUT(&m->g, "\"%s\"", text);
	else
		from = scratch_pointer(m);
	PUT(&m->g, ", ");
	to = scratch_pointer(m);
	PUT(&m->g, ", %s); ", pick(&m->g, 2) ? "n" : "(n + 0)");
	if (m->faulted || !model_reaches(m, to, n, BADSIZE))
		return;
	if (!literal && !model_reaches(m, from, n, BADSIZE))
		return;
	memset(between, 0, sizeof(between));
	memcpy(between, literal ? text : (const char *)m->mem + from, literal && n > sizeof(text) ? sizeof(text) : n);
	memcpy(m->mem + to, between, n);
}

static void text_of(struct model *m)
{
	uint64_t at;

	PUT(&m->g, "printf(\"%%d %%d \", strlen(");
	at = scratch_pointer(m);
	PUT(&m->g, "), ");
	if (!m->faulted && model_reaches(m, at, 1, BADADDR))
		buf_printf(&m->line, "%zu ", strnlen((char *)m->mem + at, SCRATCH + 16));
	PUT(&m->g, "index(");
	at = scratch_pointer(m);
	PUT(&m->g, ", \"q\")); ");
	if (m->faulted || !model_reaches(m, at, 1, BADADDR))
		return;
	const char *hit = strchr((char *)m->mem + at, 'q');
	buf_printf(&m->line, "%ld ", hit ? (long)(hit - (char *)m->mem - (long)at) : -1L);
}

static void scratch_allocate(struct model *m, char variable, uint64_t *to)
{
	const uint64_t n = pick(&m->g, pick(&m->g, 12) ? 25 : 60);
	uint64_t at;

	if (pick(&m->g, 2) || n > SCRATCH)
		PUT(&m->g, "n = %llu; %c = (char *)alloca(n); ", (unsigned long long)n, variable);
	else
		PUT(&m->g, "%c = (char *)alloca(%llu); ", variable, (unsigned long long)n);
	if (m->faulted)
		return;
	at = model_alloca(m, n);
	if (!m->faulted)
		*to = at;
}

static void scratch_clause(struct model *m)
{
	memset(m->mem, 0, sizeof(m->mem));
	m->top = FIRST;
	m->faulted = false;
	buf_clear(&m->line);
	PUT(&m->g, "BEGIN { ");
	if (pick(&m->g, 10)) {
		scratch_allocate(m, 'p', &m->p);
		scratch_allocate(m, 'q', &m->q);
	}
	for (unsigned n = 1 + pick(&m->g, 8); n; n--) {
		switch (pick(&m->g, 9)) {
		case 0:
			scratch_allocate(m, 'q', &m->q);
			break;
		case 1:
		case 2:
			scratch_copy(m);
			break;
		case 3:
			text_of(m);
			break;
		case 4:
		case 5:
			load(m);
			break;
		default:
			scratch_store(m);
		}
	}
	PUT(&m->g, "printf(\".\\n\"); }\n");
	if (!m->faulted)
		buf_printf(&m->want, "%s.\n", m->line.p ? m->line.p : "");
}

static void scratch_memory_answers_as_its_model(void **state)
{
	const char *only = getenv("TALLY_DIFFERENTIAL_SEED");
	uint64_t n = only ? strtoull(only, NULL, 0) : 1, last = only ? n : PROGRAMS;
	struct model m = { 0 };

	(void)state;
	for (; n <= last; n++) {
		gen_begin(&m.g, n);
		buf_clear(&m.want);
		m.p = m.q = 0;
		PUT(&m.g,
		    "#pragma D option scratchsize=%u\nchar *p, *q; uint64_t n;\n"
		    "ERROR { printf(\"ERROR %%d %%d\\n\", arg4, arg5); }\n"
		    "BEGIN { p = (char *)alloca(0); p = NULL; q = p; }\n",
		    SCRATCH);
		for (unsigned c = 0; c < CLAUSES; c++)
			scratch_clause(&m);
		PUT(&m.g, "BEGIN { exit(0); }\n");
		if (only)
			fputs(m.g.to.p, stdout);
		for (int kernel = 0; kernel <= (geteuid() == 0); kernel++) {
			struct buf got = { 0 };

			run_script("scratch", m.g.to.p, m.g.to.n, kernel ? 0 : TALLY_TRACE_VM, &got);
			without_messages(&got);
			if (strncmp(got.p, m.want.p, m.want.n) != 0)
				fail_msg("program %llu: the %s says\n%s\nthe model\n%s", (unsigned long long)n,
					 kernel ? "kernel" : "vm", got.p, m.want.p);
			buf_free(&got);
		}
	}
	buf_free(&m.g.to);
	buf_free(&m.want);
	buf_free(&m.line);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scratch_memory_answers_as_its_model),
	};

	return cmocka_run_group_tests_name("scratch", tests, NULL, NULL);
}
