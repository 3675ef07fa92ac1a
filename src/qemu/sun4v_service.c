/*
 * sun4v_service.c: a machine of sun4v and its service, for a guest whose memory can't be mapped.
 *
 * An MMU statistics buffer lies in the guest's memory, and the service adds to it where it lies. QEMU's plugins have no
 * address of a guest's memory, they read and write it. So the service gets a buffer of ours, which is zero at first and
 * holds what is new; before each call that is added to the guest's words, and ours are zero again. The guest may clear
 * its own between calls, as if the hypervisor wrote there: so a word of which nothing is new is not written. Each vCPU
 * has two, since the buffer before is in use until another is accepted; the one that is not in use is zero.
 *
 * Time goes on by a step with each call and not otherwise: the same guest gets the same answers.
 *
 * The log has a line for each call: cycles of the machine, what was asked, what was answered.
 */
#include <stdio.h>

#include "qemu/qemu_int.h"

#define WORDS (MMUSTAT_BYTES / 8)
#define T1_GET 0x100u /* 0x100 and 0x101 are of the group 0x200, too */

struct cpu {
	struct sun4v_vcpu *vcpu;  /* NULL until its first call */
	uint64_t area;            /* the guest's buffer; 0: none */
	uint32_t using;           /* which of ours is its */
	uint64_t fresh[2][WORDS]; /* big-endian */
};
struct sun4v_service {
	/* set by _open, then read-only */
	struct hv_mem mem;
	struct model *model;
	struct sun4v_guest *guest;
	struct bytes_out log;
	bool has_log;
	uint64_t step;
	/* since then */
	uint64_t cycles;
	struct cpu *calling;
	struct cpu cpu[];
};

/* ---- buffers ---------------------------------------------------------------------------------- */

static void *mem_at(void *arg, uint64_t ra, size_t n)
{
	struct sun4v_service *s = arg;

	return n == MMUSTAT_BYTES && s->mem.is(s->mem.arg, ra, n) ? s->calling->fresh[!s->calling->using] : NULL;
}

static bool mem_is(void *arg, uint64_t ra, uint64_t n)
{
	const struct sun4v_service *s = arg;

	return s->mem.is(s->mem.arg, ra, n);
}

static int mem_read(void *arg, uint64_t ra, void *to, size_t n)
{
	const struct sun4v_service *s = arg;

	return s->mem.read(s->mem.arg, ra, to, n);
}

static int mem_write(void *arg, uint64_t ra, const void *from, size_t n)
{
	const struct sun4v_service *s = arg;

	return s->mem.write(s->mem.arg, ra, from, n);
}

/* Memory that has gone away loses what was new of it. */
static void mmustat_flush(struct sun4v_service *s, struct cpu *c)
{
	uint64_t *fresh = c->fresh[c->using], word;

	for (uint32_t i = 0; c->area && i < WORDS; i++) {
		uint64_t ra = c->area + i * sizeof(word);

		if (!fresh[i])
			continue;
		if (s->mem.read(s->mem.arg, ra, &word, sizeof(word)) == 0) {
			be64_put(&word, be64_get(&word) + be64_get(&fresh[i]));
			(void)s->mem.write(s->mem.arg, ra, &word, sizeof(word));
		}
		fresh[i] = 0;
	}
}

/* After MMUSTAT_CONF, which the service answered by `status`: it says which of the guest's buffers is in use now. Where
 * it accepted one, that is our other one. */
static void mmustat_follow(struct cpu *c, uint64_t status)
{
	uint64_t o[6] = { [5] = SUN4V_MMUSTAT_INFO };

	(void)sun4v_call(c->vcpu, HV_FAST_TRAP, o);
	if (o[0] != HV_EOK)
		return;
	if (status == HV_EOK)
		c->using = !c->using;
	c->area = o[1];
}

/* ---- calls -------------------------------------------------------------------------------------- */

bool sun4v_service_has(unsigned trap, const uint64_t o[6])
{
	const uint64_t f = o[5];

	if (trap == HV_FAST_TRAP)
		return (f >= T1_GET && f <= SUN4V_MMUSTAT_INFO) || f == SUN4V_GET_PERFREG || f == SUN4V_SET_PERFREG;
	return trap == HV_CORE_TRAP && (f == SUN4V_API_SET_VERSION || f == SUN4V_API_GET_VERSION) &&
	       (o[0] == SUN4V_GROUP_NIAGARA || o[0] == SUN4V_GROUP_VFALLS);
}

/* NULL: there is no such strand, or no memory for it. */
static struct cpu *service_strand(struct sun4v_service *s, unsigned vcpu)
{
	struct cpu *c = vcpu < s->model->strands ? &s->cpu[vcpu] : NULL;

	if (!c || c->vcpu)
		return c;
	if (sun4v_vcpu_open(&c->vcpu, s->guest, vcpu) < 0)
		return NULL;
	niagara_vcpu(s->model->niagara, vcpu, c->vcpu);
	return c;
}

static void write_log(struct sun4v_service *s, unsigned vcpu, unsigned trap, const uint64_t in[6],
		      const uint64_t out[6])
{
	char line[256];
	int n = snprintf(
		line, sizeof(line),
		"%llu vcpu %u trap 0x%x function 0x%llx arguments 0x%llx 0x%llx 0x%llx answer 0x%llx 0x%llx 0x%llx\n",
		(unsigned long long)s->cycles, vcpu, trap, (unsigned long long)in[5], (unsigned long long)in[0],
		(unsigned long long)in[1], (unsigned long long)in[2], (unsigned long long)out[0],
		(unsigned long long)out[1], (unsigned long long)out[2]);

	(void)s->log.put(s->log.arg, line, (size_t)n);
}

bool sun4v_service_call(struct sun4v_service *s, unsigned vcpu, unsigned trap, uint64_t o[6])
{
	struct cpu *c = service_strand(s, vcpu);
	uint64_t in[6];

	if (!c)
		return false;
	memcpy(in, o, sizeof(in));
	s->cycles += s->step;
	model_run_to(s->model, s->cycles);
	for (unsigned i = 0; i < s->model->strands; i++)
		mmustat_flush(s, &s->cpu[i]);
	s->calling = c;
	(void)sun4v_call(c->vcpu, trap, o);
	if (trap == HV_FAST_TRAP && in[5] == SUN4V_MMUSTAT_CONF)
		mmustat_follow(c, o[0]);
	if (s->has_log)
		write_log(s, vcpu, trap, in, o);
	return true;
}

/* ---- opening --------------------------------------------------------------------------------------- */

static int sun4v_service_set_up(struct sun4v_service *s, const struct qemu_options *o, struct err *e)
{
	const struct sun4v_guest_opts g = { .rights = model_rights(&o->model),
					    .mem = { s, mem_is, mem_read, mem_write, mem_at } };
	int rc = sun4v_guest_open(&s->guest, s->model->sun4v, &g);

	if (rc < 0)
		return err_oom(e);
	if (o->log && (rc = file_out_open(&s->log, o->log, e)) < 0)
		return rc;
	s->has_log = o->log;
	s->step = o->step;
	s->cycles = o->start;
	model_run_to(s->model, s->cycles);
	return 0;
}

int sun4v_service_open(struct sun4v_service **ret, const struct qemu_options *o, const struct hv_mem *mem,
		       struct err *e)
{
	struct sun4v_service *s;
	struct model *model;
	int rc = model_open(&model, &o->model, e);

	if (rc < 0)
		return rc;
	s = mem_alloc(sizeof(*s) + model->strands * sizeof(s->cpu[0]));
	if (!s) {
		model_close(model);
		return err_oom(e);
	}
	s->model = model;
	s->mem = *mem;
	rc = sun4v_service_set_up(s, o, e);
	if (rc < 0)
		sun4v_service_close(s);
	else
		*ret = s;
	return rc;
}

void sun4v_service_close(struct sun4v_service *s)
{
	if (!s)
		return;
	for (unsigned i = 0; i < s->model->strands; i++)
		niagara_vcpu(s->model->niagara, i, NULL);
	if (s->has_log)
		(void)file_out_close(&s->log);
	sun4v_guest_close(s->guest);
	model_close(s->model);
	mem_free(s);
}
