/* power_test_int.h: for the tests of the POWER model: a machine behind its service, chance, and machines made by
 * chance. */
#ifndef TALLY_MACHINE_POWER_TEST_INT_H
#define TALLY_MACHINE_POWER_TEST_INT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "hv/gpci_guest.h"
#include "machine/power_int.h"

/* ---- a machine, its service, and a partition that asks --------------------------------------------------------- */

struct world {
	struct power *p;
	struct papr *s;
	const struct papr_machine_ops *ops; /* power_ops, or something in front of it */
	void *arg;
	uint16_t who;
	uint8_t block[GPCI_MOST];
	struct hv_transport transport;
};

static inline bool world_is(void *arg, uint64_t ra, uint64_t n)
{
	(void)arg;
	return ra <= GPCI_MOST && n <= GPCI_MOST - ra;
}

static inline int world_read(void *arg, uint64_t ra, void *to, size_t n)
{
	memcpy(to, ((struct world *)arg)->block + ra, n);
	return 0;
}

static inline int world_write(void *arg, uint64_t ra, const void *from, size_t n)
{
	memcpy(((struct world *)arg)->block + ra, from, n);
	return 0;
}

static inline int world_call(void *arg, uint32_t vcpu, uint64_t r[3], struct err *e)
{
	struct world *w = arg;
	const struct hv_mem mem = { .arg = w, .is = world_is, .read = world_read, .write = world_write };

	(void)e;
	papr_call(w->s, (struct papr_caller){ .partition = w->who, .vcpu = (uint16_t)vcpu }, &mem, r);
	return 0;
}

static const struct hv_transport_ops world_line = { .what = "the test", .papr = world_call };

/* ops: NULL: the machine's own. */
static inline void world_open(struct world *w, const struct power_opts *o, const struct papr_machine_ops *ops,
			      void *arg)
{
	struct papr_opts service = { .ops = ops ? ops : &power_ops };
	struct err e = { 0 };

	memset(w, 0, sizeof(*w));
	if (power_open(&w->p, o, &e) < 0)
		fail_msg("%s\n%.*s", e.text, (int)o->config_bytes, o->config ? o->config : "");
	service.arg = ops ? arg : w->p;
	service.level = power_level(w->p);
	assert_int_equal(papr_open(&w->s, &service), 0);
	w->who = 1;
	w->transport = (struct hv_transport){ .arg = w,
					      .op = &world_line,
					      .memory = w->block,
					      .bytes = GPCI_MOST,
					      .partition = 1,
					      .level = service.level };
}

static inline void world_close(struct world *w)
{
	papr_close(w->s);
	power_close(w->p);
}

static inline void world_run(struct world *w, uint32_t windows)
{
	power_run(w->p, power_now(w->p) + (uint64_t)windows * POWER_WINDOW);
}

static inline const struct gpci_request *newest(uint32_t number)
{
	const struct gpci_request *r, *found = NULL;

	for (uint32_t i = 0; (r = gpci_request_at(i)); i++)
		found = r->number == number ? r : found;
	return found;
}

/* All records of a request, which must be there; nobody at all is an empty table. */
static inline struct gpci_table world_table(struct world *w, uint32_t number)
{
	struct gpci_table t = { 0 };
	struct err e = { 0 };
	int rc = gpci_read(&t, &w->transport, newest(number), newest(number)->index == GPCI_BY_NOTHING ? -1 : 0, &e);

	if (rc < 0 && rc != -TALLY_EINVAL)
		fail_msg("%s", e.text);
	t.r = t.r ? t.r : newest(number);
	return t;
}

static inline uint64_t field(const struct gpci_table *t, const struct gpci_values *v, const char *name)
{
	const struct gpci_field *f = t->r->field;

	for (uint32_t i = 0; i < t->r->nfields; i++)
		if (f[i].name[0] == name[0] && !strcmp(f[i].name, name))
			return v->v[i];
	fail_msg("%s has no %s", t->r->name, name);
	return 0;
}

static inline uint64_t field_sum(const struct gpci_table *t, const char *name)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < t->n; i++)
		n += field(t, &t->v[i], name);
	return n;
}

/* ---- chance ---------------------------------------------------------------------------------- */

struct dice {
	uint64_t s;
};

static inline uint32_t roll(struct dice *d, uint32_t n)
{
	d->s = d->s * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)((d->s >> 32) * n >> 32);
}

static inline bool often(struct dice *d, uint32_t of_100)
{
	return roll(d, 100) < of_100;
}

/* What a machine has left to give to partitions. */
struct room {
	uint32_t chips, shared, lmbs;
	uint64_t hundredths;
};

/* Words of a partition that fits in; it has partition 1's rights. */
static inline void random_partition(struct dice *d, struct room *room, uint16_t id, struct buf *to)
{
	bool dedicated = room->shared > 1 && room->hundredths > 300 && often(d, 30);
	uint32_t vps = 1 + roll(d, often(d, 20) ? 12 : 4), lmbs = 1 + roll(d, often(d, 20) ? 300 : 20), most;

	if (dedicated) {
		most = (uint32_t)(room->hundredths / 100);
		vps = vps < most ? vps : most - 1;
		room->shared -= vps;
		room->hundredths -= vps * 100;
	}
	lmbs = lmbs < room->lmbs ? lmbs : room->lmbs;
	room->lmbs -= lmbs;
	buf_printf(
		to,
		"partition %u type=%s vps=%u home=%u memory=%u demand=%u swing=%u period=%u snooze=%u ipc=%u/%u traffic=%u writes=%u idle=%s%s%s",
		id, dedicated ? "dedicated" : "shared", vps, roll(d, room->chips), lmbs,
		often(d, 20) ? 1000 : roll(d, 1001), roll(d, 500), roll(d, 60), often(d, 50) ? 0 : roll(d, 1001),
		1 + roll(d, 20), 2 + roll(d, 9),
		often(d, 20) ? 0 :
		often(d, 15) ? 1000 :
			       roll(d, 40),
		roll(d, 1001), often(d, 60) ? "yes" : "no", dedicated && often(d, 60) ? " donate" : "",
		often(d, 25) ? " spread" : "");
	if (!dedicated) {
		most = room->hundredths < vps * 100 ? (uint32_t)room->hundredths : vps * 100;
		most = 1 + roll(d, most);
		room->hundredths -= most;
		buf_printf(to, " entitlement=%u weight=%u %s", most, often(d, 10) ? 0 : roll(d, 256),
			   often(d, 25) ? "capped" : "uncapped");
	}
	buf_printf(to, "%s\n", id == 1 ? " rights=all,expanded,lab" : "");
}

static inline struct room random_machine(struct dice *d, struct buf *to)
{
	uint32_t nodes = 1 + roll(d, 4), chips = 1 + roll(d, 5), cores = 2 + roll(d, 6), lmbs = 100 + roll(d, 400),
		 out = 0;
	struct room room = { .chips = nodes * chips };

	buf_printf(to, "nodes %u\nchips %u\ncores %u\nmemory %u\ncollection %u\n", nodes, chips, cores, lmbs,
		   1 + roll(d, 8));
	buf_printf(to, "clock %u/%u\n%s", 50 + roll(d, 100), 16 + roll(d, 5),
		   often(d, 20) ? "hardware-ids sparse\n" : "");
	for (uint32_t i = 0; i < room.chips * cores; i++)
		if (often(d, 4) && out + 2 < room.chips * cores) {
			buf_printf(to, "core %u %s\n", i,
				   often(d, 50) ? "guarded" :
				   often(d, 50) ? "unlicensed" :
						  "not-installed");
			out++;
		}
	room.shared = room.chips * cores - out;
	room.hundredths = room.shared * 100;
	room.lmbs = room.chips * lmbs;
	return room;
}

/* A machine with partitions 1, and others with gaps between them. */
static inline struct room random_config(struct dice *d, struct buf *to)
{
	struct room room = random_machine(d, to);
	uint16_t id = 1;

	for (uint32_t n = 1 + roll(d, 12); n && room.hundredths > 20 && room.lmbs; n--) {
		random_partition(d, &room, id, to);
		id = (uint16_t)(id + 1 + (often(d, 30) ? roll(d, 200) : 0));
	}
	return room;
}

#endif
