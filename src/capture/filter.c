/*
 * filter.c: a predicate over records as a program of its own.
 *
 * EXPR becomes the clause `ptt:::tlp /(EXPR)/` with the default action, which puts an empty record into the ring where
 * the predicate holds: that record is the result.  The closing parenthesis has a line of its own.  D has no syntax for
 * an id such as 01:00.0, so its number replaces it before compilation.  Text that closes the parenthesis and adds
 * clauses is refused, since the program then has more than one.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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
	return err_set(e, TALLY_EINVAL, "a filter takes no options (%s)", name);
}

/* ---- words ------------------------------------------------------------------------------ */

#define TEXTS_NAMED 4u

static void filter_name_text(struct buf *to, uint32_t *n, const char *field, const char *text, const char *word)
{
	if (text && !strncasecmp(text, word, strlen(word)) && (*n)++ < TEXTS_NAMED)
		buf_printf(to, "%s%s == \"%s\"", to->n ? " or " : "", field, text);
}

/* What a packet, its class, status or message is called is a text, and a bare word a variable: `type == MWr`. */
static void filter_name_texts(struct buf *to, const char *word)
{
	static const char *const classes[] = { "P", "NP", "CPL" };
	const struct tlp_type *type;
	uint32_t n = 0;

	for (unsigned i = 0; (type = tlp_type_at(i)); i++)
		filter_name_text(to, &n, "type_name", type->name, word);
	for (unsigned i = 0; !n && i < COUNT(classes); i++)
		filter_name_text(to, &n, "classname", classes[i], word);
	for (unsigned i = 0; !n && i < 8; i++)
		filter_name_text(to, &n, "statusname", tlp_status_name(i), word);
	for (unsigned i = 0; !n && i < 256; i++)
		filter_name_text(to, &n, "message", tlp_msg_name(i), word);
}

/* Words about a name that is no field. */
static int filter_refuse_name(const char *words, size_t n, enum tally_err code, struct err *e)
{
	struct buf name = { 0 }, texts = { 0 };
	const char *rest = words + n;
	int rc;

	buf_put(&name, words, n);
	if (name.p)
		filter_name_texts(&texts, name.p);
	rc = texts.n ? err_set(e, code, "filter: unknown field '%s'; text is compared so: %s", name.p, texts.p) :
		       err_set(e, code, "filter: unknown field '%.*s'%s ('tally dump -h' lists them)", (int)n, words,
			       strchr(rest, ';') ? strchr(rest, ';') : "");
	buf_free(&name);
	buf_free(&texts);
	return rc;
}

/* The compiler names a script and a line; a filter has neither.  The line behind it is not the user's: what is
 * wrong there is that it ended. */
static int filter_refuse(const struct err *from, const char *expr, struct err *e)
{
	static const char unknown[] = "failed to resolve ";
	const char *line = strstr(from->text, ": line "), *words = line ? strstr(line + 2, ": ") : NULL;
	unsigned long lines = 1;

	for (; *expr; expr++)
		lines += *expr == '\n';
	if (words && !strncmp(words, ": syntax error near", 19) && strtoul(line + 7, NULL, 10) > lines)
		words = ": syntax error at the end";
	words = words ? words + 2 : from->text;
	if (!strncmp(words, unknown, strlen(unknown)) && strchr(words + strlen(unknown), ':')) {
		words += strlen(unknown);
		return filter_refuse_name(words, strcspn(words, ":"), (enum tally_err)from->code, e);
	}
	return err_set(e, (enum tally_err)from->code, "filter: %s ('tally dump -h' lists the fields)", words);
}

/* ---- ids ------------------------------------------------------------------------------------ */

/* Hexadecimal digits at s, `most` at the most, that `end` follows: what is behind it, else NULL. */
static const char *filter_id_part(const char *s, size_t most, char end, unsigned *value)
{
	size_t n = strspn(s, "0123456789abcdefABCDEF");

	if (n == 0 || n > most || s[n] != end)
		return NULL;
	*value = (unsigned)strtoul(s, NULL, 16);
	return s + n + 1;
}

static bool is_filter_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* [segment:]bus:device.function at s, as a dump prints them, is nothing that D has: its number is written to `to`.
 * Returns how long it is, 0 when there is none, or -TALLY_ESYNTAX. */
static int filter_take_id(const char *s, struct buf *to, struct err *e)
{
	unsigned segment = 0, bus, device, function;
	const char *p = filter_id_part(s, 4, ':', &segment);
	const char *three = p ? filter_id_part(p, 2, ':', &bus) : NULL;
	int n;

	if (!three)
		segment = 0;
	if (!(p = three ? three : filter_id_part(s, 2, ':', &bus)))
		return 0;
	if (!(p = filter_id_part(p, 2, '.', &device)) || !isdigit((unsigned char)*p) || is_filter_word(p[1]))
		return 0;
	function = (unsigned)(*p - '0');
	n = (int)(p + 1 - s);
	if (device > 31 || function > 7)
		return err_set(e, TALLY_ESYNTAX, "filter: invalid id %.*s (devices are 00 to 1f, functions 0 to 7)", n,
			       s);
	function |= bus << 8 | device << 3;
	if (segment)
		return err_set(
			e, TALLY_ESYNTAX,
			"filter: %.*s has a segment, which is a field of its own: requester == 0x%x && segment == 0x%x",
			n, s, function, segment);
	buf_printf(to, "0x%x", function);
	return n;
}

/* Copies expr to `to`, ids as numbers, strings as they are. */
static int filter_put_expression(struct buf *to, const char *expr, struct err *e)
{
	char quote = 0, before = 0;

	for (const char *p = expr; *p;) {
		int n = quote || is_filter_word(before) ? 0 : filter_take_id(p, to, e);

		if (n < 0)
			return n;
		if (n == 0) {
			if (quote ? *p == quote : *p == '"' || *p == '\'')
				quote = quote ? 0 : *p;
			if (quote && *p == '\\' && p[1])
				buf_putc(to, *p++);
			buf_putc(to, *p);
			n = 1;
		}
		before = p[n - 1];
		p += n;
	}
	return 0;
}

/* ---- the program -------------------------------------------------------------------------------- */

static int filter_compile(struct ptt_filter *f, const char *expr, const struct d_program **ret, struct err *e)
{
	struct d_env env = { .arg = f,
			     .probes = env_probes,
			     .args = env_args,
			     .macro = env_macro,
			     .option = env_option,
			     .bare_args = true,
			     .bare_end = true };
	struct err own = { 0 }, why = { 0 };
	struct buf text = { 0 };
	int rc = d_open(&f->unit, &env);

	buf_puts(&text, "ptt:::tlp /(");
	if (rc >= 0)
		rc = filter_put_expression(&text, expr, e);
	buf_puts(&text, "\n)/");
	if (rc == -TALLY_ENOMEM || text.failed)
		rc = err_oom(e);
	if (rc >= 0)
		rc = d_source(f->unit, "filter", text.p, text.n, &own);
	if (rc >= 0)
		rc = d_compile(f->unit, ret, &own, &why);
	buf_free(&text);
	if (own.code)
		return filter_refuse(&own, expr, e);
	if (rc >= 0 && ((*ret)->nclauses != 1 || (*ret)->clause[0].nprobes != 1))
		return err_set(e, TALLY_ESYNTAX, "filter: unexpected text after the expression");
	return rc;
}

static int filter_generate(struct ptt_filter *f, const struct d_program *p, struct err *e)
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
		rc = filter_compile(f, expr, &p, e);
	if (rc >= 0)
		rc = filter_generate(f, p, e);
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
static void filter_show_record(struct ptt_filter *f, const struct tlp *t, const char *device)
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

	filter_show_record(f, t, device);
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
