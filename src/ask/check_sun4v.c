/*
 * check_sun4v.c: the invariants of vfalls and mmustat, over a model, a socket, a saved buffer or this machine.
 */
#include "ask/ask_int.h"
#include "hv/sun4v_invariant.h"

#define MODEL_NS UINT64_C(10000000) /* a model of all strands takes its time */

struct watching {
	struct tally_platform *p;
	const struct tally_check_opts *c;
	struct hv_transport *transport;
};

static int check_pass_time(void *arg, uint64_t ns)
{
	const struct watching *k = arg;

	return hv_pass(k->transport, ns, k->c->stop);
}

static uint64_t check_now(void *arg)
{
	return hv_now(((const struct watching *)arg)->transport);
}

static int watch_line(struct watching *k, enum sun4v_provider of, struct sun4v_watch **ret)
{
	const bool is_model = k->p->on.row->is == PLAT_MODEL;
	const struct sun4v_watch_opts o = { .of = of,
					    .ns = k->c->interval_ns || !is_model ? k->c->interval_ns : MODEL_NS,
					    .pass = check_pass_time,
					    .now = check_now,
					    .arg = k };
	struct sun4v_client *client;
	struct err e = { 0 };
	int rc = hv_client_of(k->p, of == SUN4V_VFALLS ? "vfalls" : "mmustat", &client);

	if (rc >= 0)
		rc = hv_transport_of(k->p, &k->transport);
	if (rc < 0)
		return rc;
	if (is_model) /* a machine that has run, like any other */
		(void)hv_pass(k->transport, MODEL_NS / 10, k->c->stop);
	rc = sun4v_watch_open(ret, client, &o, &e);
	return rc < 0 ? hv_failed(k->p, rc, &e) : 0;
}

int check_sun4v(struct tally_platform *p, const struct tally_check_opts *c, struct tally_check_result *result,
		bool is_vfalls, struct an_rows *t)
{
	const enum sun4v_provider of = is_vfalls ? SUN4V_VFALLS : SUN4V_MMUSTAT;
	struct watching k = { .p = p, .c = c };
	struct sun4v_watch *w = NULL;
	const struct sun4v_invariant *invariant;
	struct hv_transport *transport;
	int rc = hv_transport_of(p, &transport);

	if (rc >= 0 && p->file.is_mmustat && is_vfalls)
		rc = plat_fail(p, TALLY_ENOTSUP, "%s holds MMU statistics, not vfalls registers", p->name);
	else if (rc >= 0 && p->file.is_mmustat)
		rc = (rc = sun4v_watch_saved(&w, p->file.mmustat)) < 0 ? plat_oom(p) : 0;
	else if (rc >= 0)
		rc = watch_line(&k, of, &w);
	for (uint32_t i = 0; rc >= 0 && (invariant = sun4v_invariant_at(of, i)) != NULL; i++) {
		static const uint8_t verdict[] = {
			[SUN4V_HOLDS] = CHECK_HOLDS, [SUN4V_BROKEN] = CHECK_BROKEN, [SUN4V_UNKNOWN] = CHECK_UNKNOWN
		};
		struct err e = { 0 };
		const enum sun4v_verdict v = sun4v_watch_invariant(w, invariant, &e);

		check_row(p, result, t,
			  (struct check_invariant){ invariant->number, invariant->name, verdict[v], invariant->text,
						    e.text });
	}
	sun4v_watch_close(w);
	if (rc >= 0 && !result->holds && !result->broken)
		return plat_fail(p, TALLY_ENOTSUP,
				 "nothing was checked: the counts between the readings concern no invariant; "
				 "use a longer interval (-I), or %s",
				 p->on.row->is != PLAT_MODEL ? "run a workload" :
				 is_vfalls                   ? "another load ('tally list loads')" :
							       "a load that misses the TLBs, as load=chase does");
	return rc;
}
