/*
 * find_here.c: whether the platform of --on has what a hypervisor or a PCIe device has, in the words of column HERE.
 *
 * A platform that has the family is asked for each thing, as the lists of list_hv.c are; of one that has not, the word
 * is a model that has. Its words of refusal are about the family, not about the list, so they are dropped; but a
 * platform with a path that can't be reached is an error: somebody wanted that one.
 */
#include <string.h>

#include "ask/find_int.h"
#include "ask/stat_int.h"

/* Why the family can't be had, in a word; 0: it is had. */
static int find_why_absent(struct find *f, int rc, const char *model, struct here *ret)
{
	if (rc == -TALLY_ENOMEM || (rc < 0 && rc != -TALLY_ENOTSUP && rc != -TALLY_EPERM && f->p->on.path))
		return rc;
	if (rc < 0) {
		ret->word = rc == -TALLY_ENOTSUP ? model : hv_why_not(rc);
		f->p->err = (struct err){ 0 };
	}
	return 0;
}

/* Names alone are not tried, nor is a model of another family. */
static bool here_exclude(const struct find *f, uint8_t family, const char *model, struct here *ret)
{
	const uint8_t keys = f->p->on.row->keys;

	*ret = (struct here){ .p = f->p };
	if (f->each || (keys && !(keys & family)))
		ret->word = model;
	return ret->word != NULL;
}

static int of_sun4v(struct find *f, const char *what, bool niagara, const char *model, struct here *ret)
{
	int rc = hv_client_of(f->p, what, &ret->client);

	if (rc >= 0 && f->p->transport.kind->mmustat != niagara)
		rc = -TALLY_ENOTSUP;
	return find_why_absent(f, rc, model, ret);
}

int here_vfalls(struct find *f, struct here *ret)
{
	return here_exclude(f, PLAT_VFALLS, "--on batoka", ret) ? 0 : of_sun4v(f, "vfalls", false, "--on batoka", ret);
}

int here_mmustat(struct find *f, struct here *ret)
{
	return here_exclude(f, PLAT_NIAGARA, "--on niagara", ret) ? 0 :
								    of_sun4v(f, "mmustat", true, "--on niagara", ret);
}

int here_gpci(struct find *f, struct here *ret)
{
	struct hv_transport *transport;

	return here_exclude(f, PLAT_POWER, "--on power", ret) ?
		       0 :
		       find_why_absent(f, hv_power_of(f->p, &transport), "--on power", ret);
}

int here_ptt(struct find *f, struct here *ret)
{
	const struct ptt_pmu *d;
	uint32_t n;

	return here_exclude(f, PLAT_KUNPENG, "--on kunpeng", ret) ?
		       0 :
		       find_why_absent(f, plat_ptt_list(f->p, &d, &n), "--on kunpeng", ret);
}

int here_model(struct find *f, const char *model, struct here *ret)
{
	const struct plat_row *row = NULL;

	for (uint32_t i = 0; (row = plat_row(i)) != NULL && strcmp(row->name, model); i++)
		;
	switch (row ? row->keys : 0) {
	case PLAT_POWER:
		return here_gpci(f, ret);
	case PLAT_VFALLS:
		return here_vfalls(f, ret);
	case PLAT_NIAGARA:
		return here_mmustat(f, ret);
	default:
		return here_ptt(f, ret);
	}
}

/* ---- of one that is there ---------------------------------------------------------------------- */

const char *here_register(const struct here *h, uint32_t number)
{
	struct err e = { 0 };
	int rc;

	if (h->word)
		return h->word;
	rc = vf_probe(h->client, sun4v_client_home(h->client), number, &e);
	return rc < 0 ? hv_why_not(rc) : "yes";
}

/* Who may have any register that selects events of the set may have these. */
const char *here_vf_event(const struct here *h, enum vf_eventset set)
{
	const char *word = h->word;

	for (uint32_t i = 0; !h->word && i < VF_REGS && (!word || strcmp(word, "yes")); i++) {
		const struct vf_reg *r = &vf_regs[i];

		if (vf_events_of(r) == set && vf_is_control(r))
			word = here_register(h, i);
	}
	return word ? word : "no";
}

const char *here_request(const struct here *h, const struct gpci_request *r)
{
	struct err e = { 0 };

	return h->word ? h->word :
			 hv_request_access(h->p, gpci_layout(h->p, &h->p->transport, gpci_request_find(r->name)), &e);
}

/* The first of its requests that is not to be had. */
const char *here_view(const struct here *h, uint32_t view)
{
	static const char *const shown[] = { "yes", "own only", "to count" };
	const char *word = h->word ? h->word : "yes", *request;

	for (uint32_t k = 0; !h->word && (request = stat_view_must(view, k)) != NULL; k++) {
		bool is_shown = false;

		word = here_request(h, gpci_request_find(request));
		for (size_t i = 0; i < COUNT(shown); i++)
			is_shown |= !strcmp(word, shown[i]);
		if (!is_shown)
			return word;
	}
	return word;
}

const char *here_tunable(const struct here *h, enum ptt_tune t)
{
	struct err e = { 0 };
	uint32_t value;
	int rc;

	if (h->word)
		return h->word;
	rc = h->p->ptt.op->tune_get(h->p->ptt.arg, 0, t, &value, &e);
	return rc < 0 ? hv_why_not(rc) : "yes";
}
