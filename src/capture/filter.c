/*
 * filter.c: a predicate over records as a program of its own.
 *
 * EXPR becomes the clause `ptt:::tlp /(EXPR)/`, its end on a line of its own, with the default action, which
 * hands over an empty record where the predicate holds: a record in the ring
 * is the answer.  Text that closes the parenthesis and goes on with clauses of
 * its own is refused by their number.
 */
#include <stdlib.h>
#include <string.h>

#include "bpf/bpf.h"
#include "capture/filter.h"
#include "dlang/dlang.h"
#include "provider/provider.h"
#include "provider/ptt_record.h"

#define FILTER_MAX_INSNS (1u << 26) /* as in engine.c: for what does not end */
#define FILTER_RING_BYTES 4096u
#define FILTER_ENTRIES 16384u /* of variables with keys, which an expression can assign to */

struct ptt_filter {
	/* set by open, then read-only */
	struct probes *probes;
	struct d_unit *unit;
	struct bpf_image *img;
	struct vm *vm;
	uint32_t texts;
	/* for each record */
	struct vm_cpu cpu;
	struct ptt_record rec;         /* when texts are read */
	uint64_t faults, fault, value; /* how many; what the first was */
};

static int env_probes(void *f, const struct d_probedesc *desc, int (*add)(void *arg, uint32_t id), void *arg,
		      struct err *e)
{
	return probes_match(((struct ptt_filter *)f)->probes, desc, add, arg, e);
}

static const struct d_args *env_args(void *f, uint32_t probe, uint32_t index)
{
	return probe_args(probes_get(((struct ptt_filter *)f)->probes, probe), index);
}

static const char *env_macro(void *f, const char *name)
{
	(void)f, (void)name;
	return NULL;
}

static int env_option(void *f, const char *name, const char *value, struct err *e)
{
	(void)f, (void)value;
	return err_set(e, TALLY_EINVAL, "a filter has no options (%s)", name);
}

/* The compiler names a script and a line; a filter has neither.  The line behind it is not the user's: what is
 * wrong there is that it ended. */
static int refuse(const struct err *from, const char *expr, struct err *e)
{
	const char *line = strstr(from->text, ": line "), *words = line ? strstr(line + 2, ": ") : NULL;
	unsigned long lines = 1;

	for (; *expr; expr++)
		lines += *expr == '\n';
	if (words && !strncmp(words, ": syntax error near", 19) && strtoul(line + 7, NULL, 10) > lines)
		words = ": syntax error at the end";
	return err_set(e, (enum tally_err)from->code, "filter: %s", words ? words + 2 : from->text);
}

static int compile(struct ptt_filter *f, const char *expr, const struct d_program **ret, struct err *e)
{
	struct d_env env = { .arg = f,
			     .probes = env_probes,
			     .args = env_args,
			     .macro = env_macro,
			     .option = env_option,
			     .bare_args = true };
	struct err own = { 0 }, why = { 0 };
	struct buf text = { 0 };
	int rc = d_open(&f->unit, &env);

	buf_printf(&text, "ptt:::tlp /(%s\n)/", expr);
	if (rc < 0 || text.failed)
		rc = err_oom(e);
	if (rc >= 0)
		rc = d_source(f->unit, "filter", text.p, text.n, &own);
	if (rc >= 0)
		rc = d_compile(f->unit, ret, &own, &why);
	buf_free(&text);
	if (own.code)
		return refuse(&own, expr, e);
	if (rc >= 0 && ((*ret)->nclauses != 1 || (*ret)->clause[0].nprobes != 1))
		return err_set(e, TALLY_ESYNTAX, "filter: more than an expression");
	return rc;
}

static int generate(struct ptt_filter *f, const struct d_program *p, struct err *e)
{
	const struct probe *probe = probes_get(f->probes, p->clause[0].probes[0]);
	struct bpf_probe about = { .id = probe->id,
				   .cls = IMG_RECORD,
				   .prov = probe->prov->name,
				   .mod = probe->mod,
				   .func = probe->func,
				   .name = probe->name };
	struct bpf_opts o = { .arch = &bpf_arch_vm,
			      .probe = &about,
			      .nprobes = 1,
			      .ring_bytes = FILTER_RING_BYTES,
			      .control_bytes = FILTER_RING_BYTES,
			      .agg_entries = FILTER_ENTRIES,
			      .dynvar_bytes = FILTER_ENTRIES,
			      .stack_entries = 1 };
	int rc = bpf_generate(p, &o, &f->img, e);

	return rc < 0 ? rc : vm_open(&f->vm, f->img, 1, e);
}

int ptt_filter_open(struct ptt_filter **ret, const char *expr, struct err *e)
{
	struct ptt_filter *f = mem_alloc(sizeof(*f));
	struct prov_opts o = { .records = true };
	const struct d_program *p = NULL;
	int rc = f ? probes_open(&f->probes, &o) : -TALLY_ENOMEM;

	if (rc < 0)
		err_set(e, -rc, "%s", tally_strerror(rc));
	if (rc >= 0)
		rc = compile(f, expr, &p, e);
	if (rc >= 0)
		rc = generate(f, p, e);
	if (rc < 0) {
		ptt_filter_close(f);
		return rc;
	}
	f->texts = ptt_record_reads(p);
	*ret = f;
	return 0;
}

void ptt_filter_close(struct ptt_filter *f)
{
	if (!f)
		return;
	vm_close(f->vm);
	bpf_image_free(f->img);
	d_close(f->unit);
	probes_close(f->probes);
	mem_free(f);
}

/* What a program that reads no text sees of a record is the record itself. */
static void show(struct ptt_filter *f, const struct tlp *t, const char *device)
{
	f->cpu.record = t;
	f->cpu.record_bytes = sizeof(*t);
	f->cpu.mono_ns = t->time;
	if (!f->texts)
		return;
	f->rec.tlp = *t;
	ptt_record_fill(&f->rec, f->texts, device);
	f->cpu.record = &f->rec;
	f->cpu.record_bytes = sizeof(f->rec);
}

int ptt_filter_keeps(struct ptt_filter *f, const struct tlp *t, const char *device, struct err *e)
{
	const void *rec;
	uint32_t epid, size;
	int rc;

	show(f, t, device);
	rc = vm_run(f->vm, 0, &f->cpu, FILTER_MAX_INSNS, e);
	if (rc < 0 || (size = vm_ring_next(f->vm, 1, &rec)) < sizeof(epid))
		return rc < 0 ? rc : 0;
	memcpy(&epid, rec, sizeof(epid));
	if (!(epid & D_EPID_ERROR))
		return 1;
	if (f->faults++ == 0 && size >= D_ERROR_RECORD) {
		uint32_t fault;

		memcpy(&fault, (const char *)rec + D_RECORD_HDR, sizeof(fault));
		memcpy(&f->value, (const char *)rec + D_RECORD_HDR + 8, sizeof(f->value));
		f->fault = fault;
	}
	return 0;
}

uint64_t ptt_filter_faults(const struct ptt_filter *f, struct buf *why)
{
	if (f->faults && why)
		fault_text(why, f->fault, f->value);
	return f->faults;
}
