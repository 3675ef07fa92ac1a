/*
 * gpci_fuzz.c: a hypervisor that answers anything: a reading ends, its records ascend, and the invariants have a
 * verdict.
 *
 * The input: the firmware's level, the request, how the reading starts, then answers: a code, how many of the bytes
 * that follow lie over the block that was asked with, and those.  When it is used up, it starts again once; then there
 * are no records.
 */
#include "hv/gpci_guest_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct liar {
	const uint8_t *data;
	size_t n, at;
	uint32_t rounds;
	uint8_t memory[GPCI_MOST];
};

static uint8_t byte(struct liar *x)
{
	if (x->at == x->n) {
		x->at = 0;
		x->rounds++;
	}
	return x->n ? x->data[x->at++] : 0;
}

static int lie(void *arg, uint32_t vcpu, uint64_t r[3], struct err *e)
{
	static const int64_t codes[] = { H_SUCCESS,       H_PARAMETER, H_SUCCESS,   H_AUTHORITY,
					 H_NOT_AVAILABLE, H_HARDWARE,  H_PRIVILEGE, H_FUNCTION };
	struct liar *x = arg;
	size_t n;

	(void)vcpu;
	(void)e;
	if (x->rounds > 1) {
		r[0] = (uint64_t)H_PARAMETER;
		return 0;
	}
	r[0] = (uint64_t)codes[byte(x) % COUNT(codes)];
	n = byte(x) * 4u;
	for (size_t i = 8; i < 8 + n && i < r[2]; i++)
		x->memory[i] = byte(x);
	return 0;
}

static void judge(const struct gpci_table *t)
{
	assert(t->n == 0 || t->r);
	for (uint32_t i = 1; i < t->n; i++)
		assert(t->v[i].id > t->v[i - 1].id ||
		       (t->v[i].id == t->v[i - 1].id && t->v[i].secondary > t->v[i - 1].secondary));
	for (uint32_t i = 0; i < t->n; i++)
		assert(t->v[i].nelements <= GPCI_ELEMENTS_MOST &&
		       gpci_table_find(t, t->v[i].id, t->v[i].secondary) == &t->v[i]);
}

static void invariants(struct hv_transport *l)
{
	struct gpci_snapshot *s[2] = { NULL, NULL };
	const struct gpci_invariant *invariant;
	struct err e = { 0 };

	if (gpci_snapshot_take(&s[0], l, &e) >= 0) {
		e = (struct err){ 0 };
		(void)gpci_snapshot_take(&s[1], l, &e);
	}
	for (uint32_t i = 0; s[0] && s[1] && (invariant = gpci_invariant_at(i)) != NULL; i++) {
		struct err why = { 0 };
		enum gpci_verdict v = gpci_invariant_check(invariant, s[0], s[1], &why);

		assert(v == GPCI_HOLDS || why.text[0]);
	}
	gpci_snapshot_free(s[0]);
	gpci_snapshot_free(s[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct hv_transport_ops op = { .what = "a liar", .papr = lie };
	static struct liar x;
	struct hv_transport l = { .arg = &x, .op = &op, .memory = x.memory, .bytes = sizeof(x.memory) };
	const struct gpci_request *r = NULL;
	struct gpci_table t = { .n = 0 };
	struct err e = { 0 };
	uint32_t requests = 0;

	if (size < 4)
		return 0;
	while (gpci_request_at(requests))
		requests++;
	x = (struct liar){ .data = data + 4, .n = size - 4 };
	l.level = data[0] % 9;
	l.bytes -= data[3] * 15u;
	r = gpci_request_at(data[1] % requests);
	if (gpci_read(&t, &l, r, data[2] & 1 ? -1 : data[2], &e) >= 0)
		judge(&t);
	else
		assert(e.text[0]);
	gpci_table_free(&t);
	if (data[2] & 2)
		invariants(&l);
	assert(mem_live() == 0);
	return 0;
}
