/*
 * stat_gpci.c: the records of a request, followed from reading to reading.
 *
 * By id, never by row: partitions come and go, and the place of a record among the
 * others says nothing.  A record that came counts from its first reading on; one that
 * went is there once more, as gone.  A counter that went back (the machine was booted, a partition was made
 * anew under an old id) has no delta, and counts on from there.  Each is said once: of requests that are read together
 * one speaks for all that are by the same thing.
 */
#include <stdio.h>
#include <string.h>

#include "ask/stat_int.h"

void follow_free(struct follow *f)
{
	mem_free(f->v);
	f->v = NULL;
	f->n = f->cap = 0;
}

int32_t follow_field(const struct follow *f, const char *name)
{
	for (uint32_t i = 0; i < f->r->nfields; i++)
		if (!strcmp(f->r->field[i].name, name))
			return (int32_t)i;
	return -1;
}

const struct followed *follow_find(const struct follow *f, uint64_t id)
{
	for (uint32_t i = 0; i < f->n; i++)
		if (f->v[i].id == id)
			return &f->v[i];
	return NULL;
}

static const char *follow_name(char to[static 64], const struct follow *f, const struct followed *v)
{
	const char *key = gpci_key(f->r);

	if (f->r->index == GPCI_BY_VP)
		snprintf(to, 64, "partition %llu's virtual processor %llu", (unsigned long long)v->id,
			 (unsigned long long)v->secondary);
	else if (key)
		snprintf(to, 64, "%s %llu", key, (unsigned long long)v->id);
	else
		snprintf(to, 64, "the record");
	return to;
}

static void follow_came(struct follow *f, struct followed *v, const struct gpci_values *now, struct tally_platform *p)
{
	char name[64];

	*v = (struct followed){ .id = now->id,
				.secondary = now->secondary,
				.state = f->readings ? FOLLOW_CAME : FOLLOW_HERE };
	memcpy(v->now, now->v, sizeof(v->now));
	if (f->readings && !f->quiet)
		plat_note(p, "%s: %s is new; counted from now on", f->r->name, follow_name(name, f, v));
}

static void follow_counted(struct follow *f, struct followed *v, const struct gpci_values *now,
			   struct tally_platform *p)
{
	char name[64];

	v->state = FOLLOW_HERE;
	v->back = 0;
	for (uint32_t i = 0; i < f->r->nfields; i++) {
		const struct gpci_field *is = &f->r->field[i];

		v->delta[i] = 0;
		if (is->flags & GPCI_F_COUNTER && !gpci_is_none(is, now->v[i]) && !gpci_is_none(is, v->now[i])) {
			if (now->v[i] < v->now[i]) {
				v->back |= 1u << i;
				plat_note(p, "%s: %s of %s went back from %llu to %llu; counted from now on",
					  f->r->name, is->name, follow_name(name, f, v), (unsigned long long)v->now[i],
					  (unsigned long long)now->v[i]);
			} else {
				v->delta[i] = now->v[i] - v->now[i];
				v->total[i] += v->delta[i];
			}
		}
		v->now[i] = now->v[i];
	}
}

static int follow_compare(const struct followed *v, const struct gpci_values *now)
{
	if (v->id != now->id)
		return v->id < now->id ? -1 : 1;
	return v->secondary < now->secondary ? -1 : v->secondary > now->secondary;
}

/* Both lists ascend: one walk.  What went before is forgotten. */
static int follow_merge(struct follow *f, const struct gpci_table *t, struct tally_platform *p)
{
	struct follow next = { .r = f->r };
	uint32_t i = 0, k = 0;
	char name[64];

	while (i < f->n || k < t->n) {
		int order = i == f->n ? 1 : k == t->n ? -1 : follow_compare(&f->v[i], &t->v[k]);
		struct followed *to;

		if (order < 0 && f->v[i].state == FOLLOW_WENT) {
			i++;
			continue;
		}
		to = VEC_NEW(next.v, next.n, next.cap);
		if (!to) {
			follow_free(&next);
			return plat_oom(p);
		}
		if (order > 0 || (order == 0 && f->v[i].state == FOLLOW_WENT)) {
			i += order == 0;
			follow_came(f, to, &t->v[k++], p);
			continue;
		}
		*to = f->v[i++];
		if (order == 0) {
			follow_counted(f, to, &t->v[k++], p);
		} else {
			to->state = FOLLOW_WENT;
			if (!f->quiet)
				plat_note(p, "%s: %s went", f->r->name, follow_name(name, f, to));
		}
	}
	mem_free(f->v);
	f->v = next.v;
	f->n = next.n;
	f->cap = next.cap;
	return 0;
}

int follow_read(struct follow *f, struct tally_platform *p, struct hv_transport *l)
{
	struct gpci_table t = { .n = 0 };
	int rc;

	f->why = (struct err){ 0 };
	f->rc = gpci_all(&t, l, f->r, &f->own, &f->why);
	if (f->rc < 0)
		return f->rc;
	rc = follow_merge(f, &t, p);
	gpci_table_free(&t);
	f->readings += rc >= 0;
	return rc;
}
