/*
 * papr.c: the call.
 *
 * What is input of the block is read once, into a copy of our own; everything is judged by the copy and the answer is
 * made in it, so a guest that changes the block meanwhile fools only itself.  The copy is as long as the records need,
 * whatever size the guest claims.  It is written once: the header, and the records behind it; bytes behind the last
 * record are not touched, and on an error none at all, but for "no such record" and "does not fit", which answer in the
 * header.
 *
 * Order of the checks (papr_gpci.txt, "Semantics"): the block is accessible (H_Privilege); size and contents
 * (H_Parameter); the request is available here (H_Not_Available); the partition may have it (H_Authority).
 */
#include "hv/papr_int.h"

#define RETURNED_MOST 65535u /* in the 16 bits that levels from 3 on have for it */

struct papr {
	struct papr_opts o;
};

/* a call, from the copy of its block */
struct ask {
	struct papr *p;
	struct papr_caller who;
	const struct gpci_request *r;
	uint8_t *block; /* the copy, as long as its records need: `page`, or memory of its own */
	uint64_t size;  /* of the guest's block, as far as it is used */
	int32_t index;
	uint32_t number, room, written; /* bytes of the copy; of it those that go back */
	uint8_t page[GPCI_MOST];
};

static bool is_level(uint8_t level)
{
	return level == 0 || level == 3 || level == 5 || level == 6 || level == 8;
}

int papr_open(struct papr **ret, const struct papr_opts *o)
{
	struct papr *p;

	if (!o->ops || !is_level(o->level) || (o->most && o->most < GPCI_HEADER))
		return -TALLY_EINVAL;
	p = mem_alloc(sizeof(*p));
	if (!p)
		return -TALLY_ENOMEM;
	p->o = *o;
	*ret = p;
	return 0;
}

void papr_close(struct papr *p)
{
	mem_free(p);
}

int papr_rights_parse(struct papr_rights *ret, const char *text, struct err *e)
{
	struct papr_rights r = { 0 };
	size_t n;

	for (const char *p = text;; p += n + 1) {
		n = strcspn(p, "+,");
		if (n == 3 && !memcmp(p, "all", n))
			r.all = true;
		else if (n == 8 && !memcmp(p, "expanded", n))
			r.expanded = true;
		else if (n == 3 && !memcmp(p, "lab", n))
			r.lab = true;
		else if (n != 4 || memcmp(p, "none", n))
			return err_set(e, TALLY_EINVAL,
				       "rights: invalid value '%.*s' (expected all, "
				       "expanded, lab or none; join several with +)",
				       (int)n, p);
		if (!p[n])
			break;
	}
	*ret = r;
	return 0;
}

/* ---- checks ---------------------------------------------------------------------------------- */

static bool is_own(const struct ask *a)
{
	return a->index == -1;
}

static bool is_available(const struct ask *a)
{
	const struct papr_opts *o = &a->p->o;

	return a->r && (!o->ops->has || o->ops->has(o->arg, a->r));
}

static enum papr_rc papr_contents(const struct ask *a)
{
	if (a->r && a->size < GPCI_HEADER + a->r->size)
		return H_PARAMETER;
	if (a->number == GPCI_REQUEST_capabilities && !is_own(a))
		return H_NOT_AVAILABLE; /* the spec says so of this request alone */
	if (a->index < -1 && a->number != GPCI_REQUEST_mmcrh)
		return H_PARAMETER;
	return is_available(a) ? H_SUCCESS : H_NOT_AVAILABLE;
}

static enum papr_rc papr_authority(const struct ask *a)
{
	struct papr_rights have = a->p->o.ops->rights(a->p->o.arg, a->who.partition);
	bool ok = true;

	switch ((enum gpci_right)a->r->right) {
	case GPCI_FREE:
		break;
	case GPCI_OWN_FREE:
		ok = is_own(a) || have.all;
		break;
	case GPCI_OWN_EXPANDED:
		ok = is_own(a) || (have.all && have.expanded);
		break;
	case GPCI_ALL:
		ok = have.all;
		break;
	case GPCI_EXPANDED:
		ok = have.all && have.expanded;
		break;
	case GPCI_LAB:
		ok = have.lab;
		break;
	}
	return ok ? H_SUCCESS : H_AUTHORITY;
}

/* ---- the answer -------------------------------------------------------------------------------- */

struct first {
	uint64_t id, secondary;
}; /* of the first record */

static void papr_answer(struct ask *a, const struct first *first, uint32_t returned, uint32_t detail)
{
	const uint8_t level = a->p->o.level;

	if (first)
		gpci_put(a->block + GPCI_AT_INDEX, 4, first->id);
	gpci_put(a->block + GPCI_AT_SECONDARY, 4,
		 returned); /* 32 bits in the text; the upper half is Linux's second index */
	if (level) {        /* level 0 leaves what the spec calls reserved */
		gpci_put(a->block + GPCI_AT_SECONDARY, 2, first ? first->secondary : 0);
		gpci_put(a->block + GPCI_AT_DETAIL, 4, detail);
		gpci_put(a->block + GPCI_AT_ELEMENT, 2, a->r->size);
		a->block[GPCI_AT_VERSION_OUT] = level;
	}
}

/* Makes the copy longer. False: memory is out. */
static bool give_room(struct ask *a, uint32_t bytes)
{
	uint32_t room = a->room * 2 > a->written + bytes ? a->room * 2 : a->written + bytes;
	uint8_t *block = mem_alloc(room);

	if (!block)
		return false;
	memcpy(block, a->block, a->written);
	if (a->block != a->page)
		mem_free(a->block);
	a->block = block;
	a->room = room;
	return true;
}

/* One more fits the guest's block, and can be counted. */
static bool block_has_room(const struct ask *a, uint32_t bytes, uint32_t n)
{
	return bytes <= a->size - a->written && !(a->p->o.level && n == RETURNED_MOST);
}

static enum papr_rc papr_records(struct ask *a)
{
	const struct papr_opts *o = &a->p->o;
	gpci_write_fn *const write = gpci_writer(a->r);
	const bool elements = gpci_has_elements(a->r);
	struct gpci_values v;
	struct first first = { 0 };
	uint64_t from = is_own(a) ? 0 : (uint64_t)a->index;
	uint64_t secondary = gpci_get(a->block + GPCI_AT_SECONDARY, 2);
	uint32_t n = 0;
	int rc;

	for (;;) {
		rc = o->ops->next(o->arg, a->who, a->r, is_own(a), from, secondary, &v);
		if (rc <= 0 || !block_has_room(a, gpci_bytes(a->r, &v), n))
			break;
		if (gpci_bytes(a->r, &v) > a->room - a->written && !give_room(a, gpci_bytes(a->r, &v)))
			return H_HARDWARE;
		if (!n++)
			first = (struct first){ v.id, v.secondary };
		write(a->block + a->written, v.v, o->level);
		if (elements)
			gpci_write_elements(a->r, &v, a->block + a->written);
		a->written += gpci_bytes(a->r, &v);
		if (is_own(a))
			break;
		from = a->r->index == GPCI_BY_VP ? v.id : v.id + 1;
		secondary = v.secondary + 1;
	}
	if (rc < 0)
		return H_HARDWARE;
	if (rc > 0 && !(n && is_own(a))) { /* one more does not fit */
		papr_answer(a, n ? &first : NULL, n, GPCI_BUF_TOO_SMALL);
		return n && (!o->level || o->partial_success) ? H_SUCCESS : H_PARAMETER;
	}
	papr_answer(a, n ? &first : NULL, n, 0);
	return n ? H_SUCCESS : H_PARAMETER;
}

static enum papr_rc papr_understood(struct ask *a)
{
	const struct papr_opts *o = &a->p->o;
	enum papr_rc rc;

	a->written = GPCI_HEADER;
	if (a->number == GPCI_REQUEST_mmcrh) {
		papr_answer(a, NULL, 0, 0);
		return H_SUCCESS;
	}
	if (o->ops->begin)
		o->ops->begin(o->arg);
	rc = papr_records(a);
	if (o->ops->end)
		o->ops->end(o->arg);
	return rc;
}

/* The inputs: the header, and behind it what Set MMCRH sets. */
static int papr_fetch(struct ask *a, const struct hv_mem *mem, uint64_t address, uint64_t size)
{
	const struct papr_opts *o = &a->p->o;
	const uint32_t inputs = GPCI_HEADER + sizeof(uint64_t);

	a->size = o->most && size > o->most ? o->most : size;
	if (hv_mem_read(mem, address, a->block, a->size < inputs ? (size_t)a->size : inputs) < 0)
		return -1;
	a->number = (uint32_t)gpci_get(a->block + GPCI_AT_REQUEST, 4);
	a->index = (int32_t)gpci_get(a->block + GPCI_AT_INDEX, 4);
	a->r = gpci_request(a->number, o->level, a->block[GPCI_AT_VERSION_IN]);
	return 0;
}

static enum papr_rc papr_gpci_call(struct ask *a, const struct hv_mem *mem, uint64_t address, uint64_t size)
{
	const struct papr_opts *o = &a->p->o;
	enum papr_rc rc;

	if (!hv_mem_is(mem, address, size))
		return H_PRIVILEGE;
	if (size < GPCI_HEADER)
		return H_PARAMETER;
	if (papr_fetch(a, mem, address, size) < 0)
		return H_PRIVILEGE;
	rc = papr_contents(a);
	if (rc == H_SUCCESS)
		rc = papr_authority(a);
	if (rc != H_SUCCESS)
		return rc;
	rc = papr_understood(a);
	if (rc == H_HARDWARE)
		return rc;
	if (hv_mem_write(mem, address, a->block, a->written) < 0)
		return H_PRIVILEGE;
	if (a->number == GPCI_REQUEST_mmcrh) /* the last step: an error has no effect */
		o->ops->set_mmcrh(o->arg, be64_get(a->block + GPCI_HEADER));
	return rc;
}

void papr_ask(struct papr *p, struct papr_caller who, const struct hv_mem *mem, uint64_t r[3])
{
	struct ask a;

	a.p = p;
	a.who = who;
	a.block = a.page;
	a.room = sizeof(a.page);
	r[0] = r[0] != PAPR_GPCI || p->o.absent ? (uint64_t)H_FUNCTION : (uint64_t)papr_gpci_call(&a, mem, r[1], r[2]);
	if (a.block != a.page)
		mem_free(a.block);
}

void papr_call(struct papr *p, struct papr_caller who, const struct hv_mem *mem, uint64_t r[3])
{
	bool size_first = p->o.size_first;
	uint64_t plain[3] = { r[0], r[size_first ? 2 : 1], r[size_first ? 1 : 2] };

	papr_ask(p, who, mem, plain);
	r[0] = plain[0];
}
