/*
 * hv_api.c: tally/hv.h: hypervisor services for somebody else's emulator.
 *
 * A thin layer: options are judged, numbers of virtual CPUs become the service's objects, and
 * everything else is the service's or the model's own.
 */
#include <stdatomic.h>
#include <string.h>
#include <tally/hv.h>

#include "platform/hv_machine_int.h"

struct tally_hv {
	struct model *m;
	struct model_opts keys;
	struct err err;
	uint32_t nguests; /* open ones */
	atomic_flag busy; /* err: several threads may fail at once */
};
struct tally_hv_guest {
	/* set by _guest_open, then read-only */
	struct tally_hv *h;
	struct tally_hv_guest_opts o;
	struct sun4v_guest *guest;
	struct papr_caller who;
	/* by strand; set by whoever takes it */
	struct sun4v_vcpu *vcpu[];
};

static int hv_fail(struct tally_hv *h, enum tally_err code, const char *words)
{
	h->err.code = 0;
	return err_set(&h->err, code, "%s", words);
}

/* As hv_fail(), of calls that several threads may make. */
static int hv_refuse(struct tally_hv *h, enum tally_err code, const char *fmt, ...) PRINTF_LIKE(3, 4);
static int hv_refuse(struct tally_hv *h, enum tally_err code, const char *fmt, ...)
{
	struct err e = { 0 };
	va_list ap;

	va_start(ap, fmt);
	(void)err_setv(&e, code, fmt, ap);
	va_end(ap);
	while (atomic_flag_test_and_set_explicit(&h->busy, memory_order_acquire))
		;
	h->err = e;
	atomic_flag_clear_explicit(&h->busy, memory_order_release);
	return -(int)code;
}

/* The handle of an open that failed has words and nothing else. */
static int hv_is_open(struct tally_hv *h)
{
	return h->m ? 0 : hv_refuse(h, TALLY_ESTATE, "no machine: tally_hv_open() failed");
}

/* ---- machines -------------------------------------------------------------------------------- */

static int open_machine(struct tally_hv *h, const struct tally_hv_opts *from)
{
	struct tally_hv_opts o = { 0 };
	struct plat_on on;
	int rc;

	if (!from || !opts_take(&o, sizeof(o), from) || o.zero || o.flags & ~(TALLY_HV_IDLE | TALLY_HV_OPENSPARC) ||
	    !o.machine)
		return hv_fail(h, TALLY_EINVAL, "unknown options, or no machine");
	rc = plat_parse(&on, o.machine, &h->err);
	if (rc < 0)
		return rc;
	if (!hv_machine_is(&on))
		return err_set(&h->err, TALLY_EINVAL,
			       "'%s' has no hypervisor (expected niagara, maramba, batoka or power)", o.machine);
	if (o.flags && on.row->keys == PLAT_POWER)
		return err_set(&h->err, TALLY_EINVAL,
			       "TALLY_HV_IDLE and TALLY_HV_OPENSPARC require a sun4v machine: '%s' is none", o.machine);
	if (o.flags & TALLY_HV_OPENSPARC)
		rc = plat_on_opensparc(&on, &h->err);
	if (rc < 0)
		return rc;
	h->keys = on.hv;
	return hv_machine_open(&h->m, &on, o.flags & TALLY_HV_IDLE, &h->err);
}

int tally_hv_open(struct tally_hv **ret, const struct tally_hv_opts *opts)
{
	struct tally_hv *h = mem_alloc(sizeof(*h));

	*ret = h;
	return h ? open_machine(h, opts) : -TALLY_ENOMEM;
}

int tally_hv_close(struct tally_hv *h)
{
	if (!h)
		return 0;
	if (h->nguests)
		return hv_fail(h, TALLY_ESTATE,
			       "a guest of this machine is open: call tally_hv_guest_close() before tally_hv_close()");
	model_close(h->m);
	mem_free(h);
	return 0;
}

const char *tally_hv_error(const struct tally_hv *h)
{
	return h->err.text;
}

int tally_hv_info(struct tally_hv *h, struct tally_hv_info *ret)
{
	struct tally_hv_info info = { .size = sizeof(info) };
	const struct model *m = h->m;
	int rc = hv_is_open(h);

	if (rc < 0)
		return rc;
	info.machine = m->name;
	info.strands = m->strands;
	if (m->kind) {
		info.sockets = m->kind->nodes;
		info.strands_per_socket = m->kind->strands_per_node;
	} else {
		info.firmware = power_level(m->power);
	}
	opts_give(ret, &info, sizeof(info));
	return 0;
}

int tally_hv_advance(struct tally_hv *h, uint64_t ns)
{
	int rc = hv_is_open(h);

	if (rc == 0)
		model_advance(h->m, ns);
	return rc;
}

uint64_t tally_hv_now(const struct tally_hv *h)
{
	return h->m ? model_now(h->m) : 0;
}

/* ---- guests -------------------------------------------------------------------------------------- */

static void *mem_at(void *arg, uint64_t ra, size_t n)
{
	const struct tally_hv_guest *g = arg;

	return n && ra > UINT64_MAX - n ? NULL : g->o.memory(g->o.arg, ra, n);
}

static struct hv_mem memory_of(struct tally_hv_guest *g)
{
	return (struct hv_mem){ .arg = g, .at = mem_at };
}

static int open_sun4v(struct tally_hv_guest *g)
{
	struct tally_hv *h = g->h;
	struct sun4v_guest_opts o = { .rights = model_rights(&h->keys),
				      .mem = memory_of(g),
				      .putchar = g->o.putchar,
				      .exited = g->o.exited,
				      .arg = g->o.arg };
	int rc = 0;

	if (g->o.rights)
		rc = sun4v_rights_parse(&o.rights, g->o.rights, &h->err);
	if (rc == 0)
		rc = sun4v_guest_open(&g->guest, h->m->sun4v, &o);
	if (rc == -TALLY_EBUSY)
		return hv_fail(h, TALLY_EBUSY,
			       o.rights.global ? "another guest has the right global, or there are too many guests" :
						 "there are too many guests");
	return rc < 0 && !h->err.code ? hv_fail(h, (enum tally_err) - rc, tally_strerror(rc)) : rc;
}

static int open_partition(struct tally_hv_guest *g)
{
	const uint32_t wanted = g->o.partition ? g->o.partition : 1;

	if (!model_has_partition(g->h->m, wanted))
		return err_set(&g->h->err, TALLY_EINVAL, "no such partition: %u", wanted);
	g->who.partition = (uint16_t)wanted;
	return 0;
}

static int open_guest(struct tally_hv_guest *g, const struct tally_hv_guest_opts *from)
{
	struct tally_hv *h = g->h;
	const bool power = h->m->power != NULL;

	if (!from || !opts_take(&g->o, sizeof(g->o), from) || g->o.zero || !g->o.memory)
		return hv_fail(h, TALLY_EINVAL, "unknown options, or no function for memory");
	if (power ? g->o.rights != NULL : g->o.partition)
		return hv_fail(h, TALLY_EINVAL,
			       power ? "the rights of a partition are set in the machine's configuration" :
				       "sun4v has no partitions");
	return power ? open_partition(g) : open_sun4v(g);
}

int tally_hv_guest_open(struct tally_hv_guest **ret, struct tally_hv *h, const struct tally_hv_guest_opts *opts)
{
	struct tally_hv_guest *g;
	int rc = hv_is_open(h);

	if (rc < 0)
		return rc;
	g = mem_alloc(sizeof(*g) + h->m->strands * sizeof(g->vcpu[0]));
	if (!g)
		return hv_fail(h, TALLY_ENOMEM, "out of memory");
	h->err = (struct err){ 0 };
	g->h = h;
	h->nguests++;
	rc = open_guest(g, opts);
	if (rc < 0)
		tally_hv_guest_close(g);
	else
		*ret = g;
	return rc;
}

void tally_hv_guest_close(struct tally_hv_guest *g)
{
	if (!g)
		return;
	for (uint32_t i = 0; i < g->h->m->strands; i++)
		if (g->vcpu[i])
			niagara_vcpu(g->h->m->niagara, i, NULL);
	sun4v_guest_close(g->guest);
	g->h->nguests--;
	mem_free(g);
}

/* ---- virtual CPUs ---------------------------------------------------------------------------------- */

int tally_hv_take(struct tally_hv_guest *g, uint32_t cpu)
{
	int rc;

	if (!g->guest)
		return cpu <= UINT16_MAX ?
			       0 :
			       hv_refuse(g->h, TALLY_EINVAL, "no such virtual processor: %u (65535 at most)", cpu);
	if (cpu >= g->h->m->strands)
		return hv_refuse(g->h, TALLY_EINVAL, "no such strand: %u (the machine has %u, from 0)", cpu,
				 g->h->m->strands);
	if (g->vcpu[cpu])
		return 0;
	rc = sun4v_vcpu_open(&g->vcpu[cpu], g->guest, cpu);
	if (rc == -TALLY_EBUSY)
		return hv_refuse(g->h, TALLY_EBUSY, "strand %u belongs to another guest", cpu);
	if (rc < 0)
		return hv_refuse(g->h, (enum tally_err) - rc, "strand %u: %s", cpu, tally_strerror(rc));
	niagara_vcpu(g->h->m->niagara, cpu, g->vcpu[cpu]);
	return 0;
}

/* A strand of sun4v's. */
static int hv_guest_strand(struct tally_hv_guest *g, uint32_t cpu)
{
	return g->guest ? tally_hv_take(g, cpu) :
			  hv_refuse(g->h, TALLY_ENOTSUP, "power has no strands: only sun4v machines have");
}

static int no_trap(struct tally_hv_guest *g, uint32_t trap)
{
	return hv_refuse(g->h, TALLY_EINVAL, "trap 0x%x is not a hypercall: %s", trap,
			 g->guest ? "0x80 and 0xff are" : "1 is");
}

static int no_asr(struct tally_hv_guest *g, uint32_t asr)
{
	return hv_refuse(g->h, TALLY_EINVAL, "no such ancillary state register: 0x%x (0x10 is PCR, 0x11 is PIC)", asr);
}

int tally_hv_reset(struct tally_hv_guest *g, uint32_t cpu)
{
	int rc = tally_hv_take(g, cpu);

	if (rc == 0 && g->guest)
		sun4v_vcpu_reset(g->vcpu[cpu]);
	return rc;
}

int tally_hv_call(struct tally_hv_guest *g, uint32_t cpu, uint32_t trap, uint64_t r[6])
{
	const struct hv_mem mem = memory_of(g);
	int rc = tally_hv_take(g, cpu);

	if (rc < 0)
		return rc;
	if (g->guest)
		return sun4v_call(g->vcpu[cpu], trap, r) ? 0 : no_trap(g, trap);
	if (trap != 1)
		return no_trap(g, trap);
	papr_call(g->h->m->papr, (struct papr_caller){ g->who.partition, (uint16_t)cpu }, &mem, r);
	return 0;
}

int tally_hv_asr_read(struct tally_hv_guest *g, uint32_t cpu, uint32_t asr, uint64_t *value)
{
	int rc = hv_guest_strand(g, cpu);

	return rc < 0 ? rc : sun4v_asr_read(g->vcpu[cpu], asr, value) ? 0 : no_asr(g, asr);
}

int tally_hv_asr_write(struct tally_hv_guest *g, uint32_t cpu, uint32_t asr, uint64_t value)
{
	int rc = hv_guest_strand(g, cpu);

	return rc < 0 ? rc : sun4v_asr_write(g->vcpu[cpu], asr, value) ? 0 : no_asr(g, asr);
}

/* ---- what happens in the emulator -------------------------------------------------------------------- */

static int hv_ref_check(struct tally_hv *h, const struct tally_hv_ref *r, size_t i)
{
	if (r->strand >= h->m->strands)
		return hv_refuse(h, TALLY_EINVAL, "reference %zu: no such strand: %u (the machine has %u, from 0)", i,
				 r->strand, h->m->strands);
	if (r->kind > TALLY_HV_ATOMIC)
		return hv_refuse(h, TALLY_EINVAL, "reference %zu: no such kind: %u (%u is the last)", i, r->kind,
				 TALLY_HV_ATOMIC);
	if (r->level > TALLY_HV_HYPER)
		return hv_refuse(h, TALLY_EINVAL, "reference %zu: no such level: %u (%u is the last)", i, r->level,
				 TALLY_HV_HYPER);
	return 0;
}

int tally_hv_refs(struct tally_hv *h, const struct tally_hv_ref *r, size_t n)
{
	if (hv_is_open(h) < 0)
		return -TALLY_ESTATE;
	if (!h->m->niagara)
		return hv_refuse(h, TALLY_ENOTSUP, "power takes no references: only sun4v machines do");
	for (size_t i = 0; i < n; i++) {
		int rc = hv_ref_check(h, &r[i], i);

		if (rc < 0)
			return rc;
	}
	for (; n; r++, n--)
		niagara_refs(h->m->niagara,
			     &(struct niagara_ref){ r->va, r->strand, r->context, r->kind, r->level, r->bytes,
						    r->instructions },
			     1);
	return 0;
}

int tally_hv_tsb_hit(struct tally_hv_guest *g, uint32_t cpu, bool data, bool context, uint64_t page, uint64_t ticks)
{
	static const uint64_t sizes[MMUSTAT_SIZES] = { 8u << 10, 64u << 10, 4u << 20, 256u << 20 };
	int rc = hv_guest_strand(g, cpu);

	if (rc == 0 && !g->h->m->kind->mmustat)
		return hv_refuse(g->h, TALLY_ENOTSUP, "%s has no MMU statistics: only niagara has", g->h->m->name);
	for (int i = 0; rc == 0 && i < MMUSTAT_SIZES; i++)
		if (sizes[i] == page) {
			sun4v_tsb_hit(g->vcpu[cpu], data, context, (enum mmustat_size)i, ticks);
			return 0;
		}
	return rc < 0 ? rc :
			hv_refuse(g->h, TALLY_EINVAL,
				  "invalid page size of %llu bytes (expected 8 KB, 64 KB, 4 MB or 256 MB)",
				  (unsigned long long)page);
}

int tally_hv_make_busy(struct tally_hv *h, uint32_t zambezi, uint32_t calls)
{
	if (hv_is_open(h) < 0)
		return -TALLY_ESTATE;
	if (!h->m->niagara)
		return hv_refuse(h, TALLY_ENOTSUP, "power has no Zambezis: only batoka has");
	if (zambezi >= h->m->kind->zambezis)
		return hv_refuse(h, TALLY_EINVAL, "no such Zambezi: %u (%s has %u)", zambezi, h->m->name,
				 h->m->kind->zambezis);
	niagara_make_busy(h->m->niagara, zambezi, calls);
	return 0;
}
