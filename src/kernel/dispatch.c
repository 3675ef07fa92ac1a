/*
 * dispatch.c: which of the kernel's functions lead from a tracepoint to its programs.
 *
 * Programs leave them out of stacks (bpf/cg_stack.c), so they must know where each begins and ends.  The kernel's list
 * of symbols has addresses but no sizes: a function ends where the next one begins.  Functions of this kind stand
 * together in the kernel, so many of them are one range.
 *
 * Where the addresses are hidden, or are more than the table has room for, the table stays without them, and stacks
 * begin with those functions.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/kernel_int.h"

struct dispatch_symbol {
	uint64_t addr;
	bool leads;
};
struct dispatch_search {
	struct dispatch_symbol *symbol;
	uint32_t n, cap;
	bool failed;
};

bool k_leads_to_program(const char *name)
{
	static const char run[] = "bpf_trace_run", class[] = "__bpf_trace_", iterator[] = "__traceiter_";

	return !strncmp(name, class, sizeof(class) - 1) || !strncmp(name, iterator, sizeof(iterator) - 1) ||
	       (!strncmp(name, run, sizeof(run) - 1) && isdigit((unsigned char)name[sizeof(run) - 1]));
}

static void dispatch_see(void *arg, uint64_t addr, char type, const char *name, const char *mod)
{
	struct dispatch_search *s = arg;
	struct dispatch_symbol *is;

	(void)mod;
	if (s->failed || !strchr("tTwW", type))
		return;
	is = VEC_NEW(s->symbol, s->n, s->cap);
	if (is)
		*is = (struct dispatch_symbol){ addr, k_leads_to_program(name) };
	else
		s->failed = true;
}

/* By address; of several names of one the one that leads comes last. */
static int dispatch_order(const void *a, const void *b)
{
	const struct dispatch_symbol *x = a, *y = b;

	return x->addr != y->addr ? (x->addr > y->addr) - (x->addr < y->addr) : x->leads - y->leads;
}

void dispatch_find(struct img_dispatch *to)
{
	struct dispatch_search s = { 0 };
	bool leads = false;
	uint32_t n = 0;

	memset(to, 0xff, sizeof(*to));
	if (k_kallsyms(dispatch_see, &s, NULL) == 0 && !s.failed) {
		qsort(s.symbol, s.n, sizeof(*s.symbol), dispatch_order);
		for (uint32_t i = 0; i < s.n && n < DISPATCH_MOST - 2; i++) {
			if (i + 1 < s.n && s.symbol[i + 1].addr == s.symbol[i].addr)
				continue;
			if (s.symbol[i].leads != leads)
				to->at[n++] = s.symbol[i].addr;
			leads = s.symbol[i].leads;
		}
	}
	mem_free(s.symbol);
}
