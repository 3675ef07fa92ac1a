/*
 * hv.c: the transport of a handle to its hypervisor, and the guest library that asks through it.
 *
 * Opened when a call first needs it.  Its time is the platform's: an embedded model's passes here alone.
 */
#include <errno.h>
#include <poll.h>

#include "kernel/kernel.h"
#include "platform/hv.h"

#define SLICE_NS 1000000u /* of a model's time; bounds how long *stop is unseen */
#define TURN_MS 100

int hv_failed(struct tally_platform *p, int rc, const struct err *e)
{
	return plat_fail(p, (enum tally_err) - rc, "%s", e->text[0] ? e->text : tally_strerror(rc));
}

static int no_counters(struct tally_platform *p, const char *why)
{
	return plat_fail(p, TALLY_ENOTSUP,
			 "%s has no hypervisor counters; '--on batoka' (vfalls), '--on niagara' (mmustat) "
			 "and '--on power' (gpci) are models that have them%s%s",
			 p->name, *why ? ": " : "", why);
}

int hv_transport_of(struct tally_platform *p, struct hv_transport **ret)
{
	struct err e = { 0 };
	int rc;

	if (!p->has_transport) {
		rc = p->on.row->transport ? p->on.row->transport(p, &p->transport, &e) : -TALLY_ENOTSUP;
		if (rc < 0)
			return rc == -TALLY_ENOTSUP && !p->on.path ? no_counters(p, e.text) : hv_failed(p, rc, &e);
		p->has_transport = true;
	}
	*ret = &p->transport;
	return 0;
}

int hv_client_of(struct tally_platform *p, const char *what, struct sun4v_client **ret)
{
	struct err e = { 0 };
	struct hv_transport *t;
	int rc = hv_transport_of(p, &t);

	if (rc < 0)
		return rc;
	if (!t->op || !t->op->sun4v)
		return plat_fail(p, TALLY_ENOTSUP, "%s has no %s; the model '--on %s' has", p->name, what,
				 strcmp(what, "mmustat") ? "batoka" : "niagara");
	if (!p->client && (rc = sun4v_client_open(&p->client, t, &e)) < 0)
		return hv_failed(p, rc, &e);
	*ret = p->client;
	return 0;
}

int hv_power_of(struct tally_platform *p, struct hv_transport **ret)
{
	int rc = hv_transport_of(p, ret);

	if (rc < 0)
		return rc;
	if (!(*ret)->op || !(*ret)->op->papr)
		return plat_fail(p, TALLY_ENOTSUP, "%s has no gpci; the model '--on power' has", p->name);
	return 0;
}

uint64_t hv_now(const struct hv_transport *t)
{
	return t->op->now ? t->op->now(t->arg) : k_now_ns();
}

int hv_is_there(struct tally_platform *p, const struct hv_transport *t)
{
	const struct err *why = t->op->lost ? t->op->lost(t->arg) : NULL;

	return why ? hv_failed(p, -(int)why->code, why) : 0;
}

int hv_pass(struct hv_transport *t, uint64_t ns, const volatile int *stop)
{
	uint64_t end = k_now_ns() + ns;

	for (uint64_t left = ns; t->op->advance && left;) {
		uint64_t n = left < SLICE_NS ? left : SLICE_NS;

		if (stop && *stop)
			return 1;
		t->op->advance(t->arg, n);
		left -= n;
	}
	while (!t->op->advance) {
		uint64_t now = k_now_ns(), ms = now < end ? (end - now + 999999) / 1000000 : 0;

		if (!ms || (stop && *stop))
			return ms != 0;
		(void)poll(NULL, 0, ms < TURN_MS ? (int)ms : TURN_MS);
	}
	return stop && *stop;
}

const struct sun4v_kind *hv_kind(const struct tally_platform *p, const struct hv_transport *t)
{
	return p->on.row->is == PLAT_MODEL ? t->kind : NULL;
}
