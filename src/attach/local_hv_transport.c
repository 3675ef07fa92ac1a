/*
 * local_hv_transport.c: a hypervisor behind a socket, as a guest's transport.
 *
 * Calls are one request and one answer each.  The guest's memory is a memfd of ours, which
 * the server maps, too: what it writes there is there when the answer is.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "attach/local_hv.h"

#define BASE UINT64_C(0x80000000)
#define LEAST_BYTES (64u << 10)

struct transport {
	struct local_client *c;
	struct hv_transport_ops op; /* its `what` is this connection's */
	uint8_t *memory;
	size_t bytes;
	uint64_t ns; /* the last that was heard of the machine's time */
	struct err lost;
};

/* The payload of the answer goes to `to`, all n bytes of it. */
static int hv_transport_ask(const struct transport *l, uint16_t op, const void *p, size_t np, void *to, size_t n,
			    struct err *e)
{
	struct local_answer a;
	int rc = local_ask_and_wait(l->c, op, p, np, &a, NULL, e);

	if (rc < 0)
		return rc;
	if (a.head.bytes != sizeof(a.head) + n)
		return err_set(e, TALLY_ECORRUPT, "%s: invalid answer: not a tally server", l->op.what);
	if (n)
		memcpy(to, a.p, n);
	return 0;
}

static int hv_transport_call(const struct transport *l, uint32_t vcpu, uint32_t trap, uint64_t *r, size_t n,
			     struct err *e)
{
	struct local_hv_call q = { .vcpu = vcpu, .trap = trap };
	struct local_hv_regs to;
	int rc;

	memcpy(q.r, r, n * sizeof(*r));
	rc = hv_transport_ask(l, LOCAL_HV_CALL, &q, sizeof(q), &to, sizeof(to), e);
	if (rc == 0)
		memcpy(r, to.r, n * sizeof(*r));
	return rc;
}

static int line_sun4v(void *arg, uint32_t vcpu, unsigned trap, uint64_t o[6], struct err *e)
{
	return hv_transport_call(arg, vcpu, trap, o, 6, e);
}

static int line_papr(void *arg, uint32_t vcpu, uint64_t r[3], struct err *e)
{
	return hv_transport_call(arg, vcpu, 1, r, 3, e);
}

static int line_asr(void *arg, uint32_t vcpu, uint32_t asr, bool write, uint64_t *value, struct err *e)
{
	const struct local_hv_assign to = { vcpu, asr, *value };
	const struct local_hv_asr from = { vcpu, asr };
	struct local_hv_value v = { 0 };
	int rc;

	if (write)
		return hv_transport_ask(arg, LOCAL_HV_ASR_WRITE, &to, sizeof(to), NULL, 0, e);
	rc = hv_transport_ask(arg, LOCAL_HV_ASR_READ, &from, sizeof(from), &v, sizeof(v), e);
	if (rc == 0)
		*value = v.value;
	return rc;
}

/* Where the server is gone, time stands still. */
static uint64_t line_now(void *arg)
{
	struct transport *l = arg;
	struct local_hv_value v = { 0 };
	struct err e = { 0 };

	if (hv_transport_ask(l, LOCAL_HV_TIME, NULL, 0, &v, sizeof(v), &e) < 0)
		l->lost = l->lost.code ? l->lost : e;
	else if (v.value > l->ns)
		l->ns = v.value;
	return l->ns;
}

static const struct err *line_lost(void *arg)
{
	const struct transport *l = arg;

	return l->lost.code ? &l->lost : NULL;
}

static void line_end(void *arg)
{
	struct transport *l = arg;

	local_disconnect(l->c);
	if (l->memory)
		munmap(l->memory, l->bytes);
	mem_free(l);
}

/* ---- opening --------------------------------------------------------------------------------------------- */

static int make_memory(struct transport *l, struct err *e)
{
	int fd = memfd_create("tally-guest", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	void *p = MAP_FAILED;

	if (fd >= 0 && ftruncate(fd, (off_t)l->bytes) == 0 &&
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
		p = mmap(NULL, l->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED) {
		err_set(e, TALLY_EIO, "cannot allocate %zu bytes of guest memory: %s", l->bytes, strerror(errno));
		if (fd >= 0)
			close(fd);
		return -TALLY_EIO;
	}
	l->memory = p;
	return fd;
}

static int lend_memory(struct transport *l, struct err *e)
{
	const struct local_hv_memory m = { BASE, l->bytes };
	int fd = make_memory(l, e), rc;

	if (fd < 0)
		return fd;
	local_enclose(l->c, fd);
	rc = hv_transport_ask(l, LOCAL_HV_MEMORY, &m, sizeof(m), NULL, 0, e);
	close(fd);
	return rc;
}

static size_t memory_bytes(const struct local_transport_opts *o, const struct local_hv_machine *m)
{
	size_t n = o && o->bytes ? o->bytes : (size_t)m->strands * MMUSTAT_BYTES;

	n = n < LEAST_BYTES ? LEAST_BYTES : n;
	return (n + LOCAL_HV_PAGE - 1) / LOCAL_HV_PAGE * LOCAL_HV_PAGE;
}

/* Whether the machine is one that there is. */
static bool is_known(const struct local_hv_machine *m)
{
	const struct sun4v_kind *kind;

	if (!memchr(m->machine, '\0', sizeof(m->machine)) || !local_hv_service(m->machine))
		return false;
	if (!sun4v_kind(m->machine, 0)) /* POWER */
		return m->strands == 0 && m->partition && m->partition <= UINT16_MAX && m->level <= UINT8_MAX;
	kind = sun4v_kind(m->machine, m->sockets);
	return m->sockets && kind && m->strands == (uint32_t)kind->nodes * kind->strands_per_node &&
	       m->strands_per_node == kind->strands_per_node;
}

static int be_guest(struct transport *l, const struct local_transport_opts *o, struct local_hv_machine *m,
		    struct err *e)
{
	struct local_hv_ask q = { .partition = o ? o->partition : 0 };
	int rc;

	if (o && o->guest && strlen(o->guest) >= sizeof(q.guest))
		return err_set(e, TALLY_EINVAL, "guest name too long: '%s' (15 bytes at most)", o->guest);
	if (o && o->guest)
		strcpy(q.guest, o->guest);
	rc = hv_transport_ask(l, LOCAL_HV_GUEST, &q, sizeof(q), m, sizeof(*m), e);
	if (rc == 0 && !is_known(m))
		rc = err_set(e, TALLY_ECORRUPT, "%s: the server names an unknown machine", l->op.what);
	return rc;
}

static void hv_transport_fill(struct hv_transport *ret, struct transport *l, const struct local_hv_machine *m)
{
	*ret = (struct hv_transport){ .arg = l,
				      .op = &l->op,
				      .kind = sun4v_kind(m->machine, m->sockets),
				      .sockets = m->sockets,
				      .strands = m->strands,
				      .strands_per_node = m->strands_per_node,
				      .partition = (uint16_t)m->partition,
				      .level = (uint8_t)m->level,
				      .memory = l->memory,
				      .base = BASE,
				      .bytes = l->bytes };
	l->ns = m->ns;
	l->op.now = line_now;
	l->op.lost = line_lost;
	l->op.close = line_end;
	if (m->strands) {
		l->op.sun4v = line_sun4v;
		l->op.asr = line_asr;
	} else {
		l->op.papr = line_papr;
	}
}

int local_transport_open(struct hv_transport *ret, const char *path, const struct local_transport_opts *o,
			 struct err *e)
{
	struct transport *l = mem_alloc(sizeof(*l));
	struct local_hv_machine m = { 0 };
	int rc;

	if (!l)
		return err_oom(e);
	rc = local_connect(&l->c, path, 0, o ? &o->wait : NULL, e);
	if (rc < 0) {
		mem_free(l);
		return rc;
	}
	l->op.what = local_client_name(l->c);
	if (!local_hv_service(local_welcomed(l->c)->platform))
		rc = err_set(e, TALLY_ENOTSUP,
			     "%s: the platform there has no hypervisor; 'tally machine batoka' has one", l->op.what);
	if (rc == 0)
		rc = be_guest(l, o, &m, e);
	l->bytes = memory_bytes(o, &m);
	if (rc == 0)
		rc = lend_memory(l, e);
	if (rc < 0)
		line_end(l);
	else
		hv_transport_fill(ret, l, &m);
	return rc;
}
