/*
 * ptt.c: probes that fire for the records of a PCIe trace (hisi_ptt.rst, "Trace").
 *
 *	tlp           every record
 *	p np cpl      posted requests, non-posted requests, completions
 *	transaction   a non-posted request whose last completion was seen
 *
 * args[0] is the record (in transaction: the request), args[1] of transaction
 * what its completions add up to; arg0 is the record's time in ticks.  A
 * record fires tlp, then its class, then transaction.  The probes exist
 * where there are records: a trace of this machine's events has none.
 */
#include <string.h>

#include "provider/provider_int.h"
#include "provider/ptt_record.h"
#include "ptt/dump.h"

/* Why a probe of records can't be had; its name goes in. */
#define PTT_NO_RECORDS "%s fires for records, and there are none: give a trace with --on FILE"

/* ---- which records ------------------------------------------------------------ */

static const struct ptt_row {
	const char *name;
	uint8_t record; /* enum ptt_record_kind */
	const char *source;
} rows[] = {
	{ "tlp", RECORD_ANY, "every record of the trace" },
	{ "p", RECORD_P, "records of posted requests" },
	{ "np", RECORD_NP, "records of non-posted requests" },
	{ "cpl", RECORD_CPL, "records of completions" },
	{ "transaction", RECORD_TRANSACTION, "requests matched with their completions" },
};

enum ptt_record_kind ptt_fires_for(const struct probe *p)
{
	return (enum ptt_record_kind)((const struct ptt_row *)p->data)->record;
}

/* ---- args[] ------------------------------------------------------------------ */

#define FIELD(member, ctype, help) { #member, #ctype, offsetof(struct STRUCT, member), sizeof(ctype) },
#define TEXT(member, bytes, help) { #member, "string", offsetof(struct ptt_record, member), bytes },
#define SAME(member, text) \
	{ #member, "string", offsetof(struct ptt_record, text), sizeof(((struct ptt_record *)0)->text) },
#define STRUCT tlp
static const struct d_field tlp_members[] = {
#include "facts/tlp_field.def"
	PTT_TEXTS(TEXT) PTT_SAME_TEXTS(SAME)
};
#undef STRUCT
#define STRUCT tlp_transaction
static const struct d_field transaction_members[] = {
#include "facts/tlp_transaction_field.def"
};
#undef STRUCT
#undef SAME
#undef TEXT
#undef FIELD

static const struct d_args arguments[] = {
	{ .name = "struct tlp",
	  .field = tlp_members,
	  .nfields = COUNT(tlp_members),
	  .base = 0,
	  .size = offsetof(struct ptt_record, transaction) },
	{ .name = "struct tlp_transaction",
	  .field = transaction_members,
	  .nfields = COUNT(transaction_members),
	  .base = offsetof(struct ptt_record, transaction),
	  .size = sizeof(struct tlp_transaction) },
};

static const struct d_args *ptt_args(const struct probe *p, uint32_t index)
{
	uint32_t n = ptt_fires_for(p) == RECORD_TRANSACTION ? 2 : 1;

	return index < n ? &arguments[index] : NULL;
}

const char *ptt_record_member(uint32_t i, const char **help)
{
	static const char *const helps[] = {
#define FIELD(member, ctype, help) help,
#define TEXT(member, bytes, help) help,
#define SAME(member, text) "text: the same as " #text,
#include "facts/tlp_field.def"
		PTT_TEXTS(TEXT) PTT_SAME_TEXTS(SAME)
#undef SAME
#undef TEXT
#undef FIELD
	};

	static_assert(COUNT(helps) == COUNT(tlp_members), "both are made of the same rows");
	if (i >= COUNT(helps))
		return NULL;
	*help = helps[i];
	return tlp_members[i].name;
}

/* ---- texts ------------------------------------------------------------------------- */

static const struct {
	uint32_t offset, bytes;
} texts[] = {
#define TEXT(member, bytes, help) { offsetof(struct ptt_record, member), bytes },
	PTT_TEXTS(TEXT)
#undef TEXT
};

/* A load reads the text that it lies in; an address may lead to any. */
static uint32_t ptt_insn_reads(const struct ir_ins *i)
{
	uint32_t all = (1u << PTT_NTEXTS) - 1;

	if (i->op == IR_ARGS)
		return all;
	for (uint32_t k = 0; i->op == IR_ARGLOAD && k < PTT_NTEXTS; k++)
		if (i->O >= texts[k].offset && i->O < texts[k].offset + texts[k].bytes)
			return 1u << k;
	return 0;
}

uint32_t ptt_record_reads(const struct d_program *p)
{
	uint32_t set = 0;

	for (uint32_t c = 0; c < p->nclauses; c++)
		for (uint32_t i = 0; i < p->clause[c].nins; i++)
			set |= ptt_insn_reads(&p->clause[c].ins[i]);
	return set;
}

static const char *text_of(const struct tlp *t, enum ptt_text which, const char *device, char bdf[PTT_BDF_MOST])
{
	static const char *const classes[] = {
		[TLP_P] = "P",
		[TLP_NP] = "NP",
		[TLP_CPL] = "CPL",
		[TLP_RESERVED] = "reserved",
	};
	const struct tlp_type *type = tlp_type_at(t->type_index);

	switch (which) {
	case PTT_TEXT_name:
		return type ? type->name : NULL;
	case PTT_TEXT_classname:
		return t->class < COUNT(classes) ? classes[t->class] : NULL;
	case PTT_TEXT_statusname:
		return t->class == TLP_CPL ? tlp_status_name(t->status) : NULL;
	case PTT_TEXT_message:
		return type && type->layout == TLP_MSG ? tlp_msg_name(t->code) : NULL;
	case PTT_TEXT_requester_text:
		ptt_bdf_text(bdf, t->segment, t->requester);
		return bdf;
	default:
		return device;
	}
}

void ptt_record_fill(struct ptt_record *r, uint32_t set, const char *device)
{
	char bdf[PTT_BDF_MOST];

	for (unsigned k = 0; k < PTT_NTEXTS; k++) {
		const char *s = set >> k & 1 ? text_of(&r->tlp, (enum ptt_text)k, device, bdf) : NULL;

		if (!(set >> k & 1))
			continue;
		memset((char *)r + texts[k].offset, 0, texts[k].bytes);
		if (s)
			memcpy((char *)r + texts[k].offset, s, strnlen(s, texts[k].bytes - 1));
	}
}

/* ---- probes ---------------------------------------------------------------------------- */

static struct probe *ptt_make_probe(struct probes *t, size_t row, struct err *e)
{
	struct probe *p = probes_add(t, &prov_ptt, rows[row].name);

	if (!p) {
		err_oom(e);
		return NULL;
	}
	p->arm = ARM_RECORD;
	p->data = &rows[row];
	p->source = rows[row].source;
	return p;
}

static int ptt_name(struct probes *t, const char *name, int (*add)(void *arg, uint32_t id), void *arg, struct err *why)
{
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct probe *p;
		int rc;

		if (strcmp(name, rows[i].name))
			continue;
		if (!t->opts.records)
			return err_set(why, TALLY_ENOPROBE, PTT_NO_RECORDS, name);
		p = ptt_make_probe(t, i, why);
		rc = p ? add(arg, p->id) : -TALLY_ENOMEM;
		return rc < 0 ? rc : 1;
	}
	return prov_misspelt("probe", name, TEXT_NAMES_OF(rows, name), why);
}

static int ptt_offer(struct probes *t, struct err *e)
{
	for (size_t i = 0; t->opts.records && i < COUNT(rows); i++)
		if (!ptt_make_probe(t, i, e))
			return -TALLY_ENOMEM;
	return 0;
}

static int ptt_why_none(const struct probes *t, const struct d_probedesc *d, struct err *why)
{
	(void)d;
	return t->opts.records ? 0 : err_set(why, TALLY_ENOPROBE, "ptt: " PTT_NO_RECORDS, "this probe");
}

const struct provider prov_ptt = {
	.name = "ptt",
	.help = "records of a PCIe trace: transaction layer packets",
	PROV_EVOLVING(DEP_PLATFORM),
	.name_probe = ptt_name,
	.offer = ptt_offer,
	.why_none = ptt_why_none,
	.args_of = ptt_args,
};
