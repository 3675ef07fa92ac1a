/*
 * point.c: programs at raw tracepoints.
 *
 * The kernel runs such a program from the moment it is attached, and as long as the descriptor is open: so attaching is what
 * k_enable() does, and closing what k_disable() does.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "kernel/kernel_int.h"
#include "kernel/libbpf_int.h"

int k_attach_point(struct k_run *k, uint32_t prog, const char *tracepoint, struct err *e)
{
	struct run_point *p;

	if (prog >= k->nprogs)
		return err_set(e, TALLY_EINVAL, "there is no program %u", prog);
	p = VEC_NEW(k->point, k->npoints, k->cap_points);
	if (!p)
		return err_oom(e);
	*p = (struct run_point){ .prog = prog, .name = tracepoint, .fd = -1 };
	return 0;
}

static int point_refused(const struct run_point *p, int no, struct err *e)
{
	switch (no) {
	case EPERM:
	case EACCES:
		return rights_bpf("attaching a BPF program to a tracepoint", e);
	case EMFILE:
	case ENFILE:
		return run_file_refused("attaching a BPF program to a tracepoint", no, e);
	case ENOENT:
		return err_set(e, TALLY_ENOTSUP, "this kernel has no tracepoint %s", p->name);
	default:
		return err_set(e, TALLY_EIO, "attaching to tracepoint %s failed: %s", p->name, strerror(no));
	}
}

int points_enable(struct k_run *k, struct err *e)
{
	for (uint32_t i = 0; i < k->npoints; i++) {
		struct run_point *p = &k->point[i];

		if (p->fd < 0 && (p->fd = bpf_raw_tracepoint_open(p->name, k->prog[p->prog])) < 0)
			return point_refused(p, errno, e);
	}
	return 0;
}

void points_disable(struct k_run *k)
{
	for (uint32_t i = 0; i < k->npoints; i++) {
		if (k->point[i].fd >= 0)
			close(k->point[i].fd);
		k->point[i].fd = -1;
	}
}

void points_close(struct k_run *k)
{
	points_disable(k);
	mem_free(k->point);
	k->point = NULL;
	k->npoints = k->cap_points = 0;
}
