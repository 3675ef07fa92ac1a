/*
 * service.c: a power machine and its service, one call at a time.
 *
 * The machine's time is the caller's clock: it stands still between calls and catches up in the next one, a hundred
 * times faster than it passes.  Or it is counted in calls, so that the same calls give the same answers.
 *
 * The log has a line for each call: ticks of the machine, what was asked, the code.
 */
#include <stdio.h>

#include "base/file.h"
#include "qemu/qemu_int.h"

struct service {
	struct model *model;
	struct bytes_out log;
	bool has_log, by_step;
	uint16_t partition;
	uint64_t start, step, ticks; /* since the CEC was booted */
};

static int service_set_up(struct service *s, const struct qemu_options *o, struct err *e)
{
	int rc = model_open(&s->model, &o->model, e);

	if (rc < 0)
		return rc;
	if (!model_has_partition(s->model, o->partition))
		return err_set(e, TALLY_EINVAL, "partition=%u: no such partition", o->partition);
	if (o->log && (rc = file_out_open(&s->log, o->log, e)) < 0)
		return rc;
	s->has_log = o->log;
	s->partition = o->partition;
	s->by_step = o->by_step;
	s->step = o->step;
	s->start = s->ticks = o->start;
	model_run_to(s->model, s->ticks);
	return 0;
}

int service_open(struct service **ret, const struct qemu_options *o, struct err *e)
{
	struct service *s = mem_alloc(sizeof(*s));
	int rc = s ? service_set_up(s, o, e) : err_oom(e);

	if (rc < 0)
		service_close(s);
	else
		*ret = s;
	return rc;
}

void service_close(struct service *s)
{
	if (!s)
		return;
	if (s->has_log)
		(void)file_out_close(&s->log);
	model_close(s->model);
	mem_free(s);
}

/* What of a block is input, from its header (papr.h); nothing, when it is no memory. */
struct asked {
	uint64_t request_index, secondary;
	uint8_t version;
};
static void write_log(struct service *s, uint16_t vcpu, uint64_t size, const struct asked *a, int64_t code)
{
	char line[192];
	int n = snprintf(line, sizeof(line),
			 "%llu vcpu %u request 0x%x index %d secondary %u version %u size %llu code %lld\n",
			 (unsigned long long)power_now(s->model->power), vcpu, (uint32_t)(a->request_index >> 32),
			 (int32_t)a->request_index, (unsigned)a->secondary, a->version, (unsigned long long)size,
			 (long long)code);

	(void)s->log.put(s->log.arg, line, (size_t)n);
}

void service_call(struct service *s, uint64_t ns, uint16_t vcpu, const struct hv_mem *mem, uint64_t r[3])
{
	const uint64_t address = r[1], size = r[2];
	struct asked a = { 0 };

	if (s->has_log) {
		uint8_t block[GPCI_HEADER] = { 0 };

		(void)mem->read(mem->arg, address, block, sizeof(block));
		a = (struct asked){ be64_get(block), be64_get(block + 8) >> 48, block[18] };
	}
	s->ticks = s->by_step ? s->ticks + s->step :
				s->start + (uint64_t)((unsigned __int128)ns * POWER_TB_HZ / SECOND_NS);
	model_run_to(s->model, s->ticks);
	papr_call(s->model->papr, (struct papr_caller){ s->partition, vcpu }, mem, r);
	if (s->has_log)
		write_log(s, vcpu, size, &a, (int64_t)r[0]);
}
