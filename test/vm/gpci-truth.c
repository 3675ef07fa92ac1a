/*
 * gpci-truth.c - holds what a guest of gpci.sh has said against the machine itself.
 *
 *	gpci-truth LOG SAID ARGUMENT...
 *
 * The same machine as in the plugin, from the same arguments, goes through the times that the plugin's log gives, and
 * its own records are asked for, without the service between: what the service wrote into the guest's memory, the
 * driver took out of it and perf subtracted must be the same numbers.  A counting event makes four calls: when it is
 * opened (a try), when it is started, when it is read, when it is stopped; its count is the third less the second.
 *
 * Prints "VERDICT WORDS", the verdict 0 when it holds; details of what does not hold follow, with '#'.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "qemu/qemu_int.h"

#define CALLS_MOST 8192
#define REQUESTS_MOST 64
#define CALLS_OF_EVENT 4
#define RECORDS_MOST 256

struct call {
	uint64_t tick;
	uint32_t request, version;
	int32_t index;
	uint32_t secondary;
	bool is;
	struct gpci_values v;
};
struct event {
	char name[160];
	uint32_t request, version, offset, bytes, secondary;
	int32_t index;
	bool opened;
	int64_t n;
};
struct sum {
	uint32_t request, same, refused;
	char first[200];
};
struct truth {
	struct qemu_options o;
	struct power *machine;
	struct call *call;
	uint32_t ncalls, at;
	struct sum sum[REQUESTS_MOST];
	uint32_t nsums, wrong;
};

static void die(const char *what)
{
	fprintf(stderr, "gpci-truth: %s\n", what);
	exit(2);
}

static const struct gpci_request *row(const struct truth *t, uint32_t request, uint32_t version)
{
	return gpci_request(request, power_level(t->machine), (uint8_t)version);
}

static bool record(const struct truth *t, const struct gpci_request *r, bool self, uint64_t from, uint64_t secondary,
		   struct gpci_values *v)
{
	return power_ops.next(t->machine, (struct papr_caller){ t->o.partition, 0 }, r, self, from, secondary, v) == 1;
}

/* ---- the log ----------------------------------------------------------------------------------- */

static void replay(struct truth *t, const char *path)
{
	FILE *f = fopen(path, "r");
	char line[256];

	if (!f)
		die(path);
	power_run(t->machine, t->o.start);
	while (fgets(line, sizeof(line), f) && t->ncalls < CALLS_MOST) {
		struct call *c = &t->call[t->ncalls];
		unsigned long long tick;
		const struct gpci_request *r;

		if (sscanf(line, "%llu vcpu %*u request %x index %d secondary %u version %u", &tick, &c->request,
			   &c->index, &c->secondary, &c->version) != 5)
			die(line);
		c->tick = tick;
		power_run(t->machine, tick);
		r = row(t, c->request, c->version);
		c->is = r && record(t, r, c->index == -1, (uint64_t)c->index, c->secondary, &c->v);
		t->ncalls++;
	}
	fclose(f);
}

/* ---- events ---------------------------------------------------------------------------------------- */

static bool is_call_of(const struct call *c, const struct event *e)
{
	return c->request == e->request && c->index == e->index && c->secondary == e->secondary &&
	       c->version == e->version;
}

static bool find_calls(struct truth *t, const struct event *e, uint32_t n)
{
	for (; t->at + n <= t->ncalls; t->at++) {
		uint32_t i = 0;

		while (i < n && is_call_of(&t->call[t->at + i], e))
			i++;
		if (i == n)
			return true;
	}
	return false;
}

/* errno of an event that must not open; 0: it must. */
static int refusal(const struct truth *t, const struct gpci_request *r, const struct event *e)
{
	struct papr_rights have = power_ops.rights(t->machine, t->o.partition);
	bool own = e->index == -1, all = have.all, expanded = have.all && have.expanded, ok = true;
	struct gpci_values v;

	/* papr_gpci.txt, "Semantics": that it is available is judged before the rights. */
	if (!r || !power_ops.has(t->machine, r))
		return EINVAL;
	switch ((enum gpci_right)r->right) {
	case GPCI_FREE:
		break;
	case GPCI_OWN_FREE:
		ok = own || all;
		break;
	case GPCI_OWN_EXPANDED:
		ok = own || expanded;
		break;
	case GPCI_ALL:
		ok = all;
		break;
	case GPCI_EXPANDED:
		ok = expanded;
		break;
	case GPCI_LAB:
		ok = have.lab;
		break;
	}
	if (!ok)
		return EPERM;
	return record(t, r, own, (uint64_t)e->index, e->secondary, &v) ? 0 : EINVAL;
}

static bool field(const struct gpci_request *r, uint8_t level, const struct event *e, const struct call *c,
		  uint64_t *ret)
{
	for (uint32_t i = 0; i < r->nfields; i++)
		if (r->field[i].offset == e->offset && r->field[i].bytes == e->bytes) {
			*ret = r->field[i].since <= level ? c->v.v[i] : 0;
			return c->is;
		}
	return false;
}

static struct sum *sum_of(struct truth *t, uint32_t request)
{
	for (uint32_t i = 0; i < t->nsums; i++)
		if (t->sum[i].request == request)
			return &t->sum[i];
	if (t->nsums == REQUESTS_MOST)
		die("too many requests");
	t->sum[t->nsums].request = request;
	return &t->sum[t->nsums++];
}

static void note(struct sum *s, const struct gpci_request *r, const struct event *e, uint64_t delta)
{
	size_t n = strlen(s->first);

	if (delta && n < sizeof(s->first) - 48)
		for (uint32_t i = 0; i < r->nfields; i++)
			if (r->field[i].offset == e->offset)
				snprintf(s->first + n, sizeof(s->first) - n, " %s[%d]=%llu", r->field[i].name, e->index,
					 (unsigned long long)delta);
}

static void judge(struct truth *t, const struct event *e)
{
	const struct gpci_request *r = row(t, e->request, e->version);
	struct sum *s = sum_of(t, e->request);
	const int why = refusal(t, r, e);
	uint64_t before = 0, after = 0;

	if (!find_calls(t, e, e->opened ? CALLS_OF_EVENT : 1)) {
		printf("# %s[%d]: no such calls in the log\n", e->name, e->index);
		t->wrong++;
		return;
	}
	if (!e->opened || why) {
		if (why != (e->opened ? 0 : (int)e->n)) {
			printf("# %s[%d]: errno %d, not %d\n", e->name, e->index, e->opened ? 0 : (int)e->n, why);
			t->wrong++;
		}
		s->refused++;
		t->at += e->opened ? CALLS_OF_EVENT : 1;
		return;
	}
	if (!field(r, power_level(t->machine), e, &t->call[t->at + 1], &before) ||
	    !field(r, power_level(t->machine), e, &t->call[t->at + 2], &after) || after - before != (uint64_t)e->n) {
		printf("# %s[%d]: %lld, not %llu\n", e->name, e->index, (long long)e->n,
		       (unsigned long long)(after - before));
		t->wrong++;
	}
	s->same++;
	note(s, r, e, after - before);
	t->at += CALLS_OF_EVENT;
}

/* ---- topology files: records in hexadecimal ----------------------------------------------------------- */

static size_t unhex(uint8_t *to, size_t room, const char *text)
{
	size_t n = 0;

	for (; *text; text++) {
		unsigned byte;

		if (*text == '|')
			continue;
		if (n == room || sscanf(text, "%2x", &byte) != 1)
			break;
		to[n++] = (uint8_t)byte;
		text++;
	}
	return n;
}

static bool same(const struct gpci_request *r, uint8_t level, const struct gpci_values *a, const struct gpci_values *b)
{
	for (uint32_t i = 0; i < r->nfields; i++)
		if (r->field[i].since <= level && (a->v[i] ^ b->v[i]) << (64 - 8 * r->field[i].bytes))
			return false;
	return a->nelements == b->nelements && !memcmp(a->element, b->element, a->nelements * sizeof(*a->element));
}

static void topology(struct truth *t, const char *name, uint32_t request, const char *text)
{
	static uint8_t bytes[65536];
	const struct gpci_request *r = row(t, request, 0);
	struct gpci_reply reply = { .request = request, .returned = RECORDS_MOST, .record = bytes };
	uint64_t from = 0, secondary = 0;
	struct gpci_values is, said;
	uint32_t n = 0;
	struct err e = { 0 };

	if (!r)
		die(name);
	memset(&is, 0, sizeof(is));
	memset(&said, 0, sizeof(said));
	reply.element_size = r->size;
	reply.bytes = unhex(bytes, sizeof(bytes), text);
	for (; record(t, r, false, from, secondary, &is); n++) {
		if (gpci_record(r, &reply, n, &said, &e) < 0 || !same(r, power_level(t->machine), &is, &said)) {
			printf("1 %s: record %u is the machine's\n# %s\n", name, n, e.text);
			return;
		}
		from = r->index == GPCI_BY_VP ? is.id : is.id + 1;
		secondary = is.secondary + 1;
	}
	printf("%d %s: %u records, %zu bytes, the machine's\n", gpci_record(r, &reply, n, &said, &e) >= 0, name, n,
	       reply.bytes);
}

static const struct {
	const char *name;
	uint32_t request;
} files[] = {
	{ "processor_bus_topology", 0xd0 },
	{ "processor_config", 0x90 },
	{ "affinity_domain_via_virtual_processor", 0xa0 },
	{ "affinity_domain_via_domain", 0xb0 },
	{ "affinity_domain_via_partition", 0xb1 },
};

/* ---- what was said -------------------------------------------------------------------------------------- */

static void one_line(struct truth *t, char *line)
{
	struct event e = { 0 };
	long long index, n;
	char is, *text;

	line[strcspn(line, "\r\n")] = '\0';
	if (sscanf(line, "event %159s %u %lld %u %u %u %u %c %lld", e.name, &e.request, &index, &e.secondary,
		   &e.version, &e.offset, &e.bytes, &is, &n) == 9) {
		e.index = (int32_t)index;
		e.opened = is == '=';
		e.n = n;
		judge(t, &e);
	}
	if (strncmp(line, "file interface/", 15) || !(text = strchr(line + 15, ' ')) || text[1] == '-')
		return;
	*text++ = '\0';
	for (size_t i = 0; i < COUNT(files); i++)
		if (!strcmp(line + 15, files[i].name))
			topology(t, files[i].name, files[i].request, text);
}

int main(int argc, char **argv)
{
	static char line[1 << 17];
	struct truth t = { 0 };
	struct model *model;
	struct err e = { 0 };
	FILE *f = argc > 3 ? fopen(argv[2], "r") : NULL;

	if (!f)
		die("LOG SAID ARGUMENT...");
	t.call = calloc(CALLS_MOST, sizeof(*t.call));
	if (!t.call || qemu_options(&t.o, argc - 3, argv + 3, &e) < 0 || model_open(&model, &t.o.model, &e) < 0)
		die(t.call ? e.text : "out of memory");
	t.machine = model->power;
	replay(&t, argv[1]);
	while (fgets(line, sizeof(line), f))
		one_line(&t, line);
	fclose(f);
	for (uint32_t i = 0; i < t.nsums; i++) {
		const struct gpci_request *r = row(&t, t.sum[i].request, 8);

		printf("# 0x%x %s: %u readings the machine's, %u refused as they must be:%s\n", t.sum[i].request,
		       r ? r->name : "(not here)", t.sum[i].same, t.sum[i].refused, t.sum[i].first);
	}
	if (t.nsums)
		printf("%d readings and refusals of events: %u are not the machine's\n", t.wrong != 0, t.wrong);
	model_close(model);
	qemu_options_free(&t.o);
	free(t.call);
	return 0;
}
