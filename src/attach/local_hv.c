/*
 * local_hv.c: hypervisor services behind the local protocol: the server's end.
 *
 * Each client is a guest of its own, with its memory, rights and strands.  A
 * strand is a guest's from its first call until it goes: guests that use different ones run
 * beside each other.  Memory is lent once and stays until the guest goes, so
 * no address that the service keeps ever dangles; when a guest goes its strands leave the machine
 * first, then the guest, then the mapping.
 *
 * What is mapped is a memfd, sealed against shrinking: nothing else is, since a file that is cut short, or that cannot
 * be read, would be a signal in our hands.  Bytes of it may change at any time; the services read each once.
 *
 * Thread rule: the server's thread, which also lets the machine's time pass.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "attach/local_hv.h"

struct hv_service {
	struct local_hv hv;
	uint32_t strands;
};
struct hv_client {
	struct hv_service *s;
	uint8_t *memory; /* NULL: none yet */
	uint64_t base;
	size_t bytes;
	/* sun4v */
	struct sun4v_guest *guest;
	struct local_hv_guest *row; /* its line of the configuration; NULL: it has no name */
	struct sun4v_rights rights;
	bool exited;
	struct papr_caller who;    /* POWER */
	struct sun4v_vcpu *vcpu[]; /* by strand */
};

/* ---- a guest's memory ------------------------------------------------------------------------------ */

static void *mem_at(void *arg, uint64_t ra, size_t n)
{
	const struct hv_client *c = arg;

	return c->memory && range_holds(c->base, c->bytes, ra, n) ? c->memory + (ra - c->base) : NULL;
}

static struct hv_mem mem_of(struct hv_client *c)
{
	return (struct hv_mem){ .arg = c, .at = mem_at };
}

/* Whether it is safe to touch all of it for good. Seals are asked for first: only a memfd has them. */
static int memory_check_fd(int fd, const struct local_hv_memory *m, struct err *e)
{
	int seals = fcntl(fd, F_GET_SEALS);
	struct statfs fs;
	struct stat st;

	if (seals < 0 || fstatfs(fd, &fs) < 0 || fs.f_type != TMPFS_MAGIC || fstat(fd, &st) < 0)
		return err_set(e, TALLY_EINVAL, "guest memory must be a memfd of ordinary pages");
	if (!(seals & F_SEAL_SHRINK))
		return err_set(e, TALLY_EINVAL, "guest memory must be sealed with F_SEAL_SHRINK");
	if (st.st_size < 0 || (uint64_t)st.st_size < m->bytes)
		return err_set(e, TALLY_EINVAL, "the memfd has %lld bytes, not %llu", (long long)st.st_size,
			       (unsigned long long)m->bytes);
	return 0;
}

static int map_fd(struct hv_client *c, int fd, const struct local_hv_memory *m, struct err *e)
{
	void *p;
	int rc = memory_check_fd(fd, m, e);

	if (rc < 0)
		return rc;
	p = mmap(NULL, (size_t)m->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
	if (p == MAP_FAILED)
		return err_set(e, errno == ENOMEM ? TALLY_ENOMEM : TALLY_EINVAL,
			       "cannot map guest memory for writing: %s", strerror(errno));
	c->memory = p;
	c->base = m->base;
	c->bytes = (size_t)m->bytes;
	return 0;
}

static int memory_check_range(const struct local_hv_memory *m, struct err *e)
{
	if (m->base % LOCAL_HV_PAGE || m->bytes % LOCAL_HV_PAGE || !m->bytes || m->bytes > LOCAL_HV_MEMORY_MOST)
		return err_set(e, TALLY_EINVAL, "guest memory must be whole pages of %u bytes, %llu MiB at most",
			       LOCAL_HV_PAGE, (unsigned long long)LOCAL_HV_MEMORY_MOST >> 20);
	if (m->base > UINT64_MAX - m->bytes)
		return err_set(e, TALLY_EINVAL, "guest memory ends beyond the last address");
	return 0;
}

/* ---- the guest ---------------------------------------------------------------------------------------- */

static struct hv_client *client_of(const struct local_call *c)
{
	struct hv_client *client = *local_peer_own(c->peer);

	if (!client)
		err_set(c->e, TALLY_ESTATE, "no guest yet: HV_GUEST must come first");
	return client;
}

static void guest_exited(void *arg, uint64_t status)
{
	struct hv_client *c = arg;

	(void)status;
	c->exited = true;
}

static int find_row(struct hv_client *c, const char *name, struct err *e)
{
	struct local_hv_guests *g = c->s->hv.guests;

	for (uint32_t i = 0; *name && g && i < g->n; i++)
		if (!strcmp(g->guest[i].name, name))
			c->row = &g->guest[i];
	if (*name && !c->row)
		return err_set(e, TALLY_EINVAL, "unknown guest name; the names are in the server's --guests file");
	if (c->row && c->row->taken)
		return err_set(e, TALLY_EBUSY, "guest '%s' is already connected", name);
	return 0;
}

static struct sun4v_rights hv_rights_of_others(const struct local_hv_guests *g)
{
	static const struct sun4v_rights all = { true, true, true, true };

	return g ? g->others : all;
}

static int open_sun4v(struct hv_client *c, const char *name, struct err *e)
{
	struct sun4v_guest_opts o = { .mem = mem_of(c), .exited = guest_exited, .arg = c };
	int rc = find_row(c, name, e);

	if (rc < 0)
		return rc;
	o.rights = c->row ? c->row->rights : hv_rights_of_others(c->s->hv.guests);
	rc = sun4v_guest_open(&c->guest, c->s->hv.sun4v, &o);
	if (rc == -TALLY_EBUSY && !c->row && o.rights.global) {
		o.rights.global = false;
		rc = sun4v_guest_open(&c->guest, c->s->hv.sun4v, &o);
	}
	if (rc == -TALLY_EBUSY)
		return err_set(e, TALLY_EBUSY,
			       o.rights.global ? "another guest has the right `global`, which only one can have" :
						 "too many guests for this machine");
	if (rc < 0)
		return err_set(e, (enum tally_err) - rc, "%s", tally_strerror(rc));
	if (c->row)
		c->row->taken = true;
	c->rights = o.rights;
	return 0;
}

static int open_power(struct hv_client *c, uint32_t partition, struct err *e)
{
	const struct power_partition *p = NULL;
	uint32_t n = power_partitions(c->s->hv.power, &p), wanted = partition ? partition : 1;

	for (uint32_t i = 0; i < n; i++)
		if (p[i].id == wanted) {
			c->who.partition = p[i].id;
			return 0;
		}
	return err_set(e, TALLY_EINVAL, "no such partition: %u", wanted);
}

static void client_close(struct hv_client *c)
{
	for (uint32_t i = 0; i < c->s->strands; i++)
		if (c->vcpu[i])
			niagara_vcpu(c->s->hv.niagara, i, NULL);
	sun4v_guest_close(c->guest); /* and its strands */
	if (c->row && c->guest)
		c->row->taken = false;
	if (c->memory)
		munmap(c->memory, c->bytes);
	mem_free(c);
}

static bool hv_strand_reserved(const struct hv_client *c, uint32_t strand)
{
	const struct local_hv_guests *g = c->s->hv.guests;

	if (c->row && c->row->pinned)
		return strand < c->row->first || strand > c->row->last;
	for (uint32_t i = 0; g && i < g->n; i++)
		if (g->guest[i].pinned && strand >= g->guest[i].first && strand <= g->guest[i].last)
			return true;
	return false;
}

static int take_strand(struct hv_client *c, uint32_t strand, struct err *e)
{
	int rc;

	if (strand >= c->s->strands)
		return err_set(e, TALLY_EINVAL, "no such strand: %u (the machine has %u, from 0)", strand,
			       c->s->strands);
	if (hv_strand_reserved(c, strand))
		return err_set(e, TALLY_EPERM, "strand %u is not assigned to this guest", strand);
	rc = sun4v_vcpu_open(&c->vcpu[strand], c->guest, strand);
	if (rc == -TALLY_EBUSY)
		return err_set(e, TALLY_EBUSY, "strand %u is in use by another guest", strand);
	if (rc < 0)
		return err_set(e, (enum tally_err) - rc, "strand %u: %s", strand, tally_strerror(rc));
	niagara_vcpu(c->s->hv.niagara, strand, c->vcpu[strand]);
	return 0;
}

/* NULL, with words: it can't be had. */
static inline struct sun4v_vcpu *vcpu_of(struct hv_client *c, uint32_t strand, struct err *e)
{
	if (strand < c->s->strands && c->vcpu[strand])
		return c->vcpu[strand];
	return take_strand(c, strand, e) < 0 ? NULL : c->vcpu[strand];
}

/* ---- operations --------------------------------------------------------------------------------------- */

static int hv_call_reply(struct local_call *c, const void *p, uint32_t n)
{
	memcpy(c->out, p, n);
	c->nout = n;
	return 0;
}

static uint32_t rights_of(const struct hv_client *c)
{
	struct papr_rights p;

	if (c->guest)
		return (c->rights.perf ? LOCAL_HV_PERF : 0) | (c->rights.strand ? LOCAL_HV_STRAND : 0) |
		       (c->rights.global ? LOCAL_HV_GLOBAL : 0) | (c->rights.ht ? LOCAL_HV_HT : 0);
	p = power_ops.rights(c->s->hv.power, c->who.partition);
	return (p.all ? LOCAL_HV_ALL : 0) | (p.expanded ? LOCAL_HV_EXPANDED : 0) | (p.lab ? LOCAL_HV_LAB : 0);
}

static int hv_call_welcome(struct local_call *call, const struct hv_client *c)
{
	const struct local_hv *hv = &c->s->hv;
	struct local_hv_machine m = { .rights = rights_of(c),
				      .memory_most = LOCAL_HV_MEMORY_MOST,
				      .ns = hv->now(hv->arg) };

	strcpy(m.machine, hv->kind ? hv->kind->name : "power");
	if (hv->kind) {
		m.sockets = hv->kind->nodes;
		m.strands = c->s->strands;
		m.strands_per_node = hv->kind->strands_per_node;
	} else {
		m.partition = c->who.partition;
		m.level = power_level(hv->power);
	}
	return hv_call_reply(call, &m, sizeof(m));
}

static int run_HV_GUEST(struct local_call *call)
{
	struct hv_service *s = call->service;
	void **own = local_peer_own(call->peer);
	struct local_hv_ask ask;
	struct hv_client *c;
	int rc;

	memcpy(&ask, call->in, sizeof(ask));
	if (*own)
		return err_set(call->e, TALLY_ESTATE, "this connection has its guest already");
	if (!memchr(ask.guest, '\0', sizeof(ask.guest)))
		return err_set(call->e, TALLY_EINVAL, "guest name without a NUL (15 bytes at most)");
	c = mem_alloc(sizeof(*c) + s->strands * sizeof(c->vcpu[0]));
	if (!c)
		return err_set(call->e, TALLY_ENOMEM, "the server is out of memory");
	c->s = s;
	rc = s->hv.sun4v ? open_sun4v(c, ask.guest, call->e) : open_power(c, ask.partition, call->e);
	if (rc < 0) {
		client_close(c);
		return rc;
	}
	*own = c;
	return hv_call_welcome(call, c);
}

static int run_HV_MEMORY(struct local_call *call)
{
	struct hv_client *c = client_of(call);
	int fd = local_peer_take_fd(call->peer), rc;
	struct local_hv_memory m;

	memcpy(&m, call->in, sizeof(m));
	if (!c)
		rc = -TALLY_ESTATE;
	else if (c->memory)
		rc = err_set(call->e, TALLY_ESTATE, "this guest has its memory already");
	else if (fd < 0)
		rc = err_set(call->e, TALLY_EINVAL, "no descriptor came with that request");
	else if ((rc = memory_check_range(&m, call->e)) == 0)
		rc = map_fd(c, fd, &m, call->e);
	if (fd >= 0)
		close(fd);
	return rc;
}

static int call_sun4v(struct hv_client *c, struct local_hv_call *q, struct err *e)
{
	struct sun4v_vcpu *v = vcpu_of(c, q->vcpu, e);

	if (!v)
		return -e->code;
	(void)sun4v_call(v, q->trap, q->r);
	if (c->exited) {
		/* mach_exit: all strands start again; what was negotiated stays. */
		c->exited = false;
		for (uint32_t i = 0; i < c->s->strands; i++)
			if (c->vcpu[i])
				sun4v_vcpu_reset(c->vcpu[i]);
	}
	return 0;
}

static int call_papr(struct hv_client *c, struct local_hv_call *q, struct err *e)
{
	const struct hv_mem mem = mem_of(c);

	if (q->trap != 1)
		return err_set(e, TALLY_EINVAL, "trap %u is not a hypercall (`sc 1` is)", q->trap);
	if (q->vcpu > UINT16_MAX)
		return err_set(e, TALLY_EINVAL, "no such virtual processor: %u", q->vcpu);
	c->who.vcpu = (uint16_t)q->vcpu;
	papr_ask(c->s->hv.papr, c->who, &mem, q->r);
	return 0;
}

static int run_HV_CALL(struct local_call *call)
{
	struct hv_client *c = client_of(call);
	struct local_hv_call q;
	int rc;

	if (!c)
		return -TALLY_ESTATE;
	memcpy(&q, call->in, sizeof(q));
	rc = c->guest ? call_sun4v(c, &q, call->e) : call_papr(c, &q, call->e);
	return rc < 0 ? rc : hv_call_reply(call, q.r, sizeof(q.r));
}

static int no_asr(struct local_call *call, uint32_t asr)
{
	return err_set(call->e, TALLY_EINVAL, "no such ancillary state register: 0x%x (0x10 is PCR, 0x11 is PIC)", asr);
}

/* Its strand; NULL, with words, also where there are no such registers. */
static struct sun4v_vcpu *asr_vcpu(struct local_call *call, uint32_t strand)
{
	struct hv_client *c = client_of(call);

	if (c && !c->guest)
		err_set(call->e, TALLY_ENOTSUP, "a POWER machine has no ancillary state registers");
	return c && c->guest ? vcpu_of(c, strand, call->e) : NULL;
}

static int run_HV_ASR_READ(struct local_call *call)
{
	struct local_hv_asr q;
	struct local_hv_value to;
	struct sun4v_vcpu *v;

	memcpy(&q, call->in, sizeof(q));
	v = asr_vcpu(call, q.vcpu);
	if (!v)
		return -call->e->code;
	return sun4v_asr_read(v, q.asr, &to.value) ? hv_call_reply(call, &to, sizeof(to)) : no_asr(call, q.asr);
}

static int run_HV_ASR_WRITE(struct local_call *call)
{
	struct local_hv_assign q;
	struct sun4v_vcpu *v;

	memcpy(&q, call->in, sizeof(q));
	v = asr_vcpu(call, q.vcpu);
	if (!v)
		return -call->e->code;
	return sun4v_asr_write(v, q.asr, q.value) ? 0 : no_asr(call, q.asr);
}

static int run_HV_TIME(struct local_call *call)
{
	const struct hv_service *s = call->service;
	const struct local_hv_value to = { s->hv.now(s->hv.arg) };

	return hv_call_reply(call, &to, sizeof(to));
}

/* ---- the service ------------------------------------------------------------------------------------------ */

static int service_open(void **ret, void *platform, struct err *e)
{
	struct hv_service *s = mem_alloc(sizeof(*s));

	if (!s)
		return err_oom(e);
	s->hv = *(const struct local_hv *)platform;
	if (s->hv.kind)
		s->strands = (uint32_t)s->hv.kind->nodes * s->hv.kind->strands_per_node;
	*ret = s;
	return 0;
}

static void service_close(void *service)
{
	mem_free(service);
}

static void service_client_gone(void *service, struct local_peer *p)
{
	void **own = local_peer_own(p);

	(void)service;
	if (*own)
		client_close(*own);
	*own = NULL;
}

static const struct local_row rows[] = {
#define X(name, number, right, request, reply, more) \
	[(number)-LOCAL_HV_FIRST] = { (right), sizeof(request), sizeof(reply) + (more), run_##name },
	LOCAL_HV_OPS(X)
#undef X
};

#define SERVICE(name)                                                                                                 \
	{                                                                                                             \
		.platform = (name), .first = LOCAL_HV_FIRST, .nrows = COUNT(rows), .row = rows, .open = service_open, \
		.close = service_close, .gone = service_client_gone, .takes_fds = true                                \
	}
static const struct local_service services[] = { SERVICE("niagara"), SERVICE("maramba"), SERVICE("batoka"),
						 SERVICE("power") };

const struct local_service *local_hv_service(const char *machine)
{
	for (size_t i = 0; i < COUNT(services); i++)
		if (!strcmp(services[i].platform, machine))
			return &services[i];
	return NULL;
}
