/*
 * sun4v-truth.c - holds what a guest of sun4v.sh has said against the machine itself.
 *
 *	sun4v-truth LOG SAID ARGUMENT...
 *
 * The same machine as in the plugin, from the same arguments, goes through the times that the plugin's log gives.  It
 * is written to and read by its own functions, without the service between: a register that the guest has read must be
 * what the machine has, and hits in a statistics buffer must be the TLB misses that the machine has answered from its
 * TSB since the guest lent the buffer.  Calls that the log has not are the firmware's.
 *
 * Prints "VERDICT WORDS", the verdict 0 when it holds; details of what does not hold follow, with '#'.
 */
#include <stdio.h>
#include <stdlib.h>

#include "qemu/qemu_int.h"

#define BUFFERS 8u

struct call {
	unsigned long long cycles, trap, function, in[3], out[3];
};
struct hits {
	uint64_t n[MMUSTAT_BYTES / 8];
};
struct buffer {
	unsigned long long ra;
	struct hits kept;
	bool on;
	struct hits from;
};
struct sum {
	uint32_t same, wrong;
	char first[200];
};
struct truth {
	struct niagara *machine;
	FILE *log, *said;
	struct call next;
	bool has_next;
	struct buffer buffer[BUFFERS];
	struct sum calls, firmware, registers, written, slots;
};

static void die(const char *what)
{
	fprintf(stderr, "sun4v-truth: %s\n", what);
	exit(2);
}

static void judge(struct sum *s, bool holds, const char *line)
{
	if (holds)
		s->same++;
	else if (!s->wrong++)
		snprintf(s->first, sizeof(s->first), "%s", line);
}

/* ---- the log ----------------------------------------------------------------------------------- */

static void read_log(struct truth *t)
{
	struct call *c = &t->next;
	char line[512];

	t->has_next = fgets(line, sizeof(line), t->log) != NULL;
	if (t->has_next &&
	    sscanf(line, "%llu vcpu 0 trap %llx function %llx arguments %llx %llx %llx answer %llx %llx %llx",
		   &c->cycles, &c->trap, &c->function, &c->in[0], &c->in[1], &c->in[2], &c->out[0], &c->out[1],
		   &c->out[2]) != 9)
		die(line);
}

/* ---- buffers ------------------------------------------------------------------------------------ */

static struct hits hits_now(const struct truth *t)
{
	const struct niagara_truth *m = niagara_truth(t->machine);
	struct hits h = { 0 };

	for (int data = 0; data < 2; data++)
		for (int context = 0; context < 2; context++)
			for (int size = 0; size < MMUSTAT_SIZES; size++)
				h.n[mmustat_slot(data, context, (enum mmustat_size)size) / 8] =
					m->tsb_hit[data][context][size];
	return h;
}

/* Up to now its hits count; from now on again, if it is still lent. */
static void settle(struct buffer *b, const struct hits *now)
{
	for (uint32_t i = 0; b->on && i < COUNT(now->n); i++)
		b->kept.n[i] += now->n[i] - b->from.n[i];
	b->from = *now;
}

static struct buffer *buffer_at(struct truth *t, unsigned long long ra)
{
	for (uint32_t i = 0; i < BUFFERS; i++)
		if (t->buffer[i].ra == ra || !t->buffer[i].ra) {
			t->buffer[i].ra = ra;
			return &t->buffer[i];
		}
	die("the guest has more buffers than are expected");
	return NULL;
}

static void settle_all(struct truth *t)
{
	const struct hits now = hits_now(t);

	for (uint32_t i = 0; i < BUFFERS; i++)
		settle(&t->buffer[i], &now);
}

/* mmustat.txt: an error, and 0, leave no buffer. */
static void lent(struct truth *t, const struct call *c)
{
	struct buffer *now = c->out[0] == HV_EOK && c->in[0] ? buffer_at(t, c->in[0]) : NULL;

	settle_all(t);
	for (struct buffer *b = t->buffer; b < t->buffer + BUFFERS; b++)
		b->on = b == now;
}

/* ---- lines of the guest ---------------------------------------------------------------------------- */

static void registers(struct truth *t, const struct call *c, const char *line)
{
	const struct vf_reg *r = &vf_regs[c->in[0] % VF_REGS];

	if (c->out[0] != HV_EOK)
		return;
	if (c->function == SUN4V_SET_PERFREG) {
		niagara_ops.reg_write(t->machine, 0, r, c->in[1] & r->mask);
		judge(&t->written, c->out[1] == c->in[1], line);
	} else {
		judge(&t->registers, c->out[1] == (niagara_ops.reg_read(t->machine, 0, r) & r->mask), line);
	}
}

static bool is(const struct call *a, const struct call *b)
{
	return a->trap == b->trap && a->function == b->function && !memcmp(a->in, b->in, sizeof(a->in));
}

static void one_call(struct truth *t, const char *line)
{
	struct call c = { 0 };

	if (sscanf(line, "call %llx %llx %llx %llx %llx = %llx %llx %llx", &c.trap, &c.function, &c.in[0], &c.in[1],
		   &c.in[2], &c.out[0], &c.out[1], &c.out[2]) != 8)
		die(line);
	if (!t->has_next || !is(&c, &t->next)) {
		judge(&t->firmware,
		      c.out[0] == (c.trap == HV_FAST_TRAP ? HV_EBADTRAP : HV_EINVAL) && c.out[1] == c.in[1], line);
		return;
	}
	judge(&t->calls, !memcmp(c.out, t->next.out, sizeof(c.out)), line);
	niagara_run(t->machine, t->next.cycles);
	if (c.function == SUN4V_MMUSTAT_CONF)
		lent(t, &c);
	else if (c.trap == HV_FAST_TRAP && c.function >= SUN4V_GET_PERFREG)
		registers(t, &c, line);
	read_log(t);
}

static void one_slot(struct truth *t, const char *line)
{
	unsigned long long ra, word, hits, ticks;
	struct buffer *b;

	if (sscanf(line, "slot %llx %llx %llx %llx", &ra, &word, &hits, &ticks) != 4 || word >= MMUSTAT_BYTES / 8)
		die(line);
	settle_all(t);
	b = buffer_at(t, ra);
	judge(&t->slots, hits == b->kept.n[word] && ticks, line);
}

static void cleared(struct truth *t, const char *line)
{
	unsigned long long ra;

	if (sscanf(line, "clear %llx", &ra) != 1)
		die(line);
	settle_all(t);
	buffer_at(t, ra)->kept = (struct hits){ 0 };
}

static void was(struct truth *t, const char *line)
{
	unsigned long long ra, word, hits;

	if (sscanf(line, "was %llx %llx %llx", &ra, &word, &hits) != 3 || word >= MMUSTAT_BYTES / 8)
		die(line);
	buffer_at(t, ra)->kept.n[word] = hits;
}

static void replay(struct truth *t)
{
	static const struct {
		const char *begin;
		void (*take)(struct truth *t, const char *line);
	} kinds[] = {
		{ "call ", one_call },
		{ "slot ", one_slot },
		{ "clear ", cleared },
		{ "was ", was },
	};
	char line[512];

	read_log(t);
	while (fgets(line, sizeof(line), t->said)) {
		line[strcspn(line, "\r\n")] = '\0';
		for (size_t i = 0; i < COUNT(kinds); i++)
			if (!strncmp(line, kinds[i].begin, strlen(kinds[i].begin)))
				kinds[i].take(t, line);
	}
}

/* ---- verdicts ----------------------------------------------------------------------------------------- */

static void say(const struct sum *s, const char *words)
{
	if (!s->same && !s->wrong)
		return;
	printf("%d %u %s\n", s->wrong != 0, s->same + s->wrong, words);
	if (s->wrong)
		printf("# %u not; the first: %s\n", s->wrong, s->first);
}

int main(int argc, char **argv)
{
	struct truth t = { 0 };
	struct qemu_options o;
	struct model *model;
	struct err e = { 0 };

	if (argc < 3 || !(t.log = fopen(argv[1], "r")) || !(t.said = fopen(argv[2], "r")))
		die("usage: sun4v-truth LOG SAID ARGUMENT...");
	if (sun4v_options(&o, argc - 3, argv + 3, &e) < 0 || model_open(&model, &o.model, &e) < 0)
		die(e.text);
	t.machine = model->niagara;
	model_run_to(model, o.start);
	replay(&t);
	say(&t.calls, "calls: the guest saw what the log says");
	say(&t.firmware, "calls that are the firmware's: its answers");
	say(&t.registers, "readings of registers: the machine's");
	say(&t.written, "registers written; %o1 and %o2 are as they were");
	say(&t.slots, "slots of statistics buffers: the machine's TLB misses that its TSB answered");
	printf("%d the log has no call that the guest has not made\n", t.has_next);
	model_close(model);
	fclose(t.log);
	fclose(t.said);
	return 0;
}
