/*
 * hv_gpci_count.c: records whose counters are perf events.
 *
 * perf counts an event of the PMU as the difference of two calls: what a counter was when its event was opened is never
 * told.  So each field of each record is an event that is opened when it is first asked for and stays open, and a
 * record here counts from then on.  Which records there are, and what in them is no counter, is taken from the
 * topology: a processor's from processor_config, partitions from the affinity by partition, chips from the bus
 * topology.
 *
 * A call that fails inside the driver reads as 0, so that the event jumps back by all it ever was, and forth again
 * with the next call (hv-gpci.c, h_gpci_get_value); what goes back stays here as it was.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <unistd.h>

#include "kernel/hv_gpci_int.h"
#include "kernel/kernel_int.h"

#define VERSION 8u /* counter_info_version: as Linux's own events ask */
#define COUNTER_BYTES 8u

/* ---- events ------------------------------------------------------------------------------------- */

static int perf_open(void *arg, uint32_t type, uint32_t cpu, uint64_t config, uint64_t config1)
{
	struct perf_event_attr a = { .size = sizeof(a), .type = type, .config = config, .config1 = config1 };

	(void)arg;
	return event_syscall(&a, 0, -1, (int)cpu);
}

static int perf_read(void *arg, int fd, uint64_t *ret)
{
	(void)arg;
	return read(fd, ret, sizeof(*ret)) == sizeof(*ret) ? 0 : -EIO;
}

static void perf_close(void *arg, int fd)
{
	(void)arg;
	close(fd);
}

const struct k_gpci_perf gpci_perf_kernel = { NULL, perf_open, perf_read, perf_close };

/* They are asked for in the same order each time. */
static struct gpci_counter *gpci_find_counter(struct gpci_pmu *g, const struct gpci_counter *like)
{
	for (uint32_t i = 0; i < g->n; i++) {
		struct gpci_counter *c = &g->counter[(g->next + i) % g->n];

		if (c->request == like->request && c->offset == like->offset && c->index == like->index) {
			g->next = (uint32_t)(c - g->counter) + 1;
			return c;
		}
	}
	return NULL;
}

static int gpci_event_refused(const struct gpci_request *r, int no, int64_t *code, struct err *e)
{
	switch (no) {
	case EPERM:
		*code = H_AUTHORITY;
		return 0;
	case EINVAL:
		*code = H_NOT_AVAILABLE;
		return 0;
	case EACCES:
		return err_set(e, TALLY_EPERM, "%s: events of whole CPUs need cap_perfmon: %s", r->name,
			       k_fix(FIX_COUNT).text);
	case EMFILE:
	case ENFILE:
		return err_set(e, TALLY_ENOTSUP, "%s: each counter is an open file, and there are too many: ulimit -n",
			       r->name);
	case ENOMEM:
		return err_oom(e);
	default:
		return err_set(e, TALLY_EIO, "%s: cannot open the event: %s", r->name, strerror(no));
	}
}

static int gpci_count_event(struct gpci_pmu *g, const struct gpci_request *r, uint32_t offset, int32_t index,
			    uint64_t *ret, int64_t *code, struct err *e)
{
	struct gpci_counter like = { .request = r->number, .offset = offset, .index = index },
			    *c = gpci_find_counter(g, &like);
	uint64_t now;

	if (!c) {
		uint64_t config = like.request | (uint64_t)(uint32_t)like.index << 32;
		uint64_t config1 = VERSION << 16 | COUNTER_BYTES << 24 | (uint64_t)like.offset << 32;

		/* Where the fields lie: format/ of the PMU, the same since the driver is there. */
		like.fd = g->perf.open(g->perf.arg, g->about.type, g->cpu, config, config1);
		if (like.fd < 0)
			return gpci_event_refused(r, -like.fd, code, e);
		c = VEC_NEW(g->counter, g->n, g->cap);
		if (!c) {
			g->perf.close(g->perf.arg, like.fd);
			return err_oom(e);
		}
		*c = like;
	}
	if (g->perf.read(g->perf.arg, c->fd, &now) < 0)
		return err_set(e, TALLY_EIO, "%s: cannot read the event", r->name);
	if ((int64_t)(now - c->last) > 0)
		c->last = now;
	*ret = c->last;
	return 0;
}

void gpci_counters_close(struct gpci_pmu *g)
{
	for (uint32_t i = 0; i < g->n; i++)
		g->perf.close(g->perf.arg, g->counter[i].fd);
	mem_free(g->counter);
	g->counter = NULL;
	g->n = g->cap = 0;
}

/* ---- what is no counter ------------------------------------------------------------------------------ */

struct known {
	const struct gpci_request *r;
	const struct gpci_values *v;
}; /* a record of the topology */

static bool known_field(const struct known *k, const char *name, uint64_t *ret)
{
	for (uint32_t i = 0; k->r && i < k->r->nfields; i++)
		if (!strcmp(k->r->field[i].name, name)) {
			*ret = k->v->v[i];
			return true;
		}
	return false;
}

/* A link that is not wired has no counter to be opened: its idle cycles are none. The mask's bits: request 0xD0. */
static bool is_unwired(const struct known *k, const char *field)
{
	static const char *const link = "idle_";
	uint64_t installed;
	char name;

	if (strncmp(field, link, strlen(link)) || !known_field(k, "installed", &installed))
		return false;
	name = field[strlen(link)];
	return !(installed >> (name >= 'w' ? 8 + name - 'w' : name - 'a') & 1);
}

/* Nodes are the primary domains and chips the secondary ones, as far as a reader of the records can see. */
static uint64_t gpci_plain_id(const struct known *k, const struct gpci_field *f, uint64_t id)
{
	static const struct {
		const char *name, *as;
	} other[] = {
		{ "primary_domain", "hw_node_id" },
		{ "secondary_domain", "hw_chip_id" },
	};
	uint64_t v;

	if (f->flags & GPCI_F_ID)
		return id;
	if (known_field(k, f->name, &v))
		return v;
	for (size_t i = 0; i < COUNT(other); i++)
		if (!strcmp(other[i].name, f->name) && known_field(k, other[i].as, &v))
			return v;
	return f->flags & GPCI_F_NONE ? UINT64_MAX : 0;
}

/* ---- a record --------------------------------------------------------------------------------------- */

/* index: how the driver is asked for it. */
static int add_record(struct gpci_pmu *g, const struct known *k, uint64_t id, int32_t index, struct gpci_bytes *to,
		      int64_t *code, struct err *e)
{
	uint8_t record[256] = { 0 };

	for (uint32_t i = 0; i < to->r->nfields; i++) {
		const struct gpci_field *f = &to->r->field[i];
		uint64_t v = UINT64_MAX;
		int rc = 0;

		if (!(f->flags & GPCI_F_COUNTER))
			v = gpci_plain_id(k, f, id);
		else if (!is_unwired(k, f->name))
			rc = gpci_count_event(g, to->r, f->offset, index, &v, code, e);
		if (rc < 0 || *code != H_SUCCESS)
			return rc;
		gpci_put_be(record + f->offset, f->bytes, v);
	}
	buf_put(&to->b, record, to->r->size);
	to->all.returned++;
	return 0;
}

static uint32_t topology_of(const struct gpci_request *r)
{
	static const uint32_t number[] = { [GPCI_BY_PROCESSOR] = GPCI_REQUEST_processor_config,
					   [GPCI_BY_PARTITION] = GPCI_REQUEST_affinity_by_partition,
					   [GPCI_BY_CHIP] = GPCI_REQUEST_bus_topology,
					   [GPCI_BY_DOMAIN] = GPCI_REQUEST_affinity_by_domain,
					   [GPCI_BY_VP] = GPCI_REQUEST_affinity_by_vp,
					   [GPCI_BY_NOTHING] = 0 };

	return number[r->index];
}

/* The topology's records from index on. One that is gone meanwhile is left out. */
static int add_records(struct gpci_pmu *g, const struct gpci_bytes *topology, int32_t index, struct gpci_bytes *to,
		       int64_t *code, struct err *e)
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && *code == H_SUCCESS && i < topology->all.returned; i++) {
		struct gpci_values v;

		rc = gpci_record(topology->r, &topology->all, i, &v, e);
		if (rc < 0 || v.id < (uint64_t)index || v.id > INT32_MAX)
			continue;
		rc = add_record(g, &(struct known){ topology->r, &v }, v.id, (int32_t)v.id, to, code, e);
		if (rc == 0 && *code == H_NOT_AVAILABLE && to->all.returned)
			*code = H_SUCCESS;
	}
	return rc;
}

static int one_record(struct gpci_pmu *g, const struct gpci_request *r, struct gpci_bytes *to, int64_t *code,
		      struct err *e)
{
	uint32_t id = r->index == GPCI_BY_PARTITION ? gpci_own_partition(g) : 0;

	if (r->index != GPCI_BY_PARTITION && r->index != GPCI_BY_NOTHING)
		return err_set(e, TALLY_ENOTSUP, "%s: the kernel does not say which %s is your own: give its number",
			       r->name, r->index == GPCI_BY_CHIP ? "chip" : "processor");
	return add_record(g, &(struct known){ .r = NULL }, id, -1, to, code, e);
}

int gpci_counted(struct gpci_pmu *g, const struct gpci_request *r, int32_t index, struct gpci_bytes *ret, int64_t *code,
		 struct err *e)
{
	struct gpci_bytes topology = { .r = NULL };
	int rc;

	*code = H_SUCCESS;
	*ret = (struct gpci_bytes){ .r = r };
	if (r->size > 256)
		return err_set(e, TALLY_ENOTSUP, "%s has no counters", r->name);
	if (index == -1 || r->index == GPCI_BY_NOTHING) {
		rc = one_record(g, r, ret, code, e);
	} else {
		rc = gpci_topology(g, topology_of(r), &topology, code, e);
		if (rc == 0 && *code == H_NOT_AVAILABLE)
			rc = err_set(e, TALLY_ESTATE,
				     "%s: this kernel does not list them (POWER10 and later do); 'tally stat -e "
				     "hv_gpci/EVENT,%s=N/' counts one",
				     r->name,
				     r->index == GPCI_BY_CHIP      ? "hw_chip_id" :
				     r->index == GPCI_BY_PROCESSOR ? "phys_processor_idx" :
								     "partition_id");
		if (rc == 0 && *code == H_SUCCESS)
			rc = add_records(g, &topology, index, ret, code, e);
		buf_free(&topology.b);
	}
	ret->all.record = (const uint8_t *)ret->b.p;
	ret->all.bytes = ret->b.n;
	return rc == 0 && ret->b.failed ? err_oom(e) : rc;
}
