/*
 * sample.c: what providers of hypervisors' counters share.
 *
 * A probe of gpci, vfalls or mmustat is named WORD-INTERVAL: it fires by the platform's own time, once for each record,
 * register or slot that a reading gives.  A name is understood as far as the platform can serve it: a request that the
 * firmware doesn't have, or that these rights don't give, is asked for once and refused in the hypervisor's words.
 * Who reads, and when, is the session; what a reading is, each provider's begin and fire.
 */
#include <stdio.h>
#include <string.h>

#include "provider/provider_int.h"

bool sample_cut_interval(const char *name, char word[static SAMPLE_WORD], const char **interval)
{
	const char *dash = strrchr(name, '-');
	size_t n = dash ? (size_t)(dash - name) : 0;

	if (!n || n >= SAMPLE_WORD)
		return false;
	memcpy(word, name, n);
	word[n] = '\0';
	*interval = dash + 1;
	return true;
}

int sample_no_platform(const struct probes *t, const struct provider *prov, const char *name, struct err *why)
{
	const struct hv_transport *l = t->opts.transport;

	if (l)
		return err_set(why, TALLY_ENOPROBE, "%s has none; '--on %s' is a model that has", l->op->what,
			       prov->model);
	return err_set(why, TALLY_ENOPROBE,
		       "%s requires a hypervisor, and this machine has none; 'tally trace --on %s' has one", name,
		       prov->model);
}

int sample_no_interval(const char *name, const char *word, struct err *why)
{
	return err_set(why, TALLY_ENOPROBE, "no probe \"%s\"; there is %s-INTERVAL, e.g. %s-" SAMPLE_USUAL, name, word,
		       word);
}

int sample_why_none(const struct provider *prov, bool is_there, struct err *why)
{
	return is_there ? 0 :
			  err_set(why, TALLY_ENOPROBE,
				  "%s: its probes require a hypervisor; 'tally trace --on %s' has one", prov->name,
				  prov->model);
}

struct probe *sample_make_probe(struct probes *t, const struct provider *prov, const char *name, uint64_t ns,
				struct err *why)
{
	struct probe *p = probes_add(t, prov, name);

	if (!p) {
		err_oom(why);
		return NULL;
	}
	p->arm = ARM_SAMPLE;
	p->tick_ns = ns;
	return p;
}

int sample_added(const struct probe *p, int (*add)(void *arg, uint32_t id), void *arg)
{
	int rc = p ? add(arg, p->id) : -TALLY_ENOMEM;

	return rc < 0 ? rc : 1;
}

static int sample_ignore_probe(void *arg, uint32_t id)
{
	(void)arg, (void)id;
	return 0;
}

int sample_offer(struct probes *t, const struct provider *prov, const char *word, struct err *e)
{
	char name[SAMPLE_WORD + sizeof(SAMPLE_USUAL)];
	struct err why = { 0 };
	int rc;

	snprintf(name, sizeof(name), "%s-" SAMPLE_USUAL, word);
	rc = prov->name_probe(t, name, sample_ignore_probe, NULL, &why);
	return rc == -TALLY_ENOMEM ? err_oom(e) : 0;
}
