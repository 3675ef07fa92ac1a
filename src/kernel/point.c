/*
 * point.c: programs at raw tracepoints and at functions of the kernel.
 *
 * The kernel runs such a program from the moment it is attached, and as long as the descriptor is open: so attaching is
 * what k_enable() does, and closing what k_disable() does.  It runs no program inside itself: an interrupt in its midst
 * that comes by the same tracepoint is left out, and counted.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "kernel/kernel_int.h"
#include "kernel/libbpf_int.h"

int k_attach_point(struct k_run *k, uint32_t prog, const char *name, struct err *e)
{
	struct run_point *p;

	if (prog >= k->nprogs)
		return err_set(e, TALLY_EINVAL, "there is no program %u", prog);
	p = VEC_NEW(k->point, k->npoints, k->cap_points);
	if (!p)
		return err_oom(e);
	*p = (struct run_point){ .prog = prog,
				 .name = name,
				 .typed = k->image[prog].typed,
				 .at = k->image[prog].at,
				 .module = k->image[prog].module,
				 .may_fail = k->image[prog].may_fail,
				 .is_refused = k->prog[prog] < 0,
				 .fd = -1 };
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
	case ENOMEM:
		return err_oom(e);
	case ENOENT:
		if (p->at != POINT_TRACEPOINT)
			break;
		return err_set(e, TALLY_ENOTSUP, "this kernel has no tracepoint %s", p->name);
	default:
		if (p->at != POINT_TRACEPOINT)
			break;
		return err_set(e, TALLY_EIO, "attaching to tracepoint %s failed: %s", p->name, strerror(no));
	}
	return err_set(e, TALLY_ENOTSUP, "the kernel lets nobody probe the %s of its function %s: %s",
		       p->at == POINT_ENTRY ? "beginning" : "end", p->name, strerror(no));
}

/* A descriptor, or -errno. */
static int point_attach(const struct k_run *k, const struct run_point *p)
{
	int event, fd;

	if (p->typed || p->at == POINT_TRACEPOINT) {
		fd = bpf_raw_tracepoint_open(p->typed ? NULL : p->name, k->prog[p->prog]);
		return fd < 0 ? -errno : fd;
	}
	event = function_kprobe(p->module, p->name, p->at == POINT_RETURN);
	if (event < 0)
		return event;
	fd = bpf_link_create(k->prog[p->prog], event, BPF_PERF_EVENT, NULL);
	if (fd < 0)
		fd = -errno;
	close(event); /* the link holds it */
	return fd;
}

int points_enable(struct k_run *k, struct err *e)
{
	/* Programs of returns are attached first: whoever is seen to enter is seen to return. */
	for (int pass = 0; pass < 2; pass++)
		for (uint32_t i = 0; i < k->npoints; i++) {
			struct run_point *p = &k->point[i];
			int fd;

			if (p->fd >= 0 || p->is_refused || (p->at == POINT_RETURN) != (pass == 0))
				continue;
			fd = point_attach(k, p);
			if (fd == -EMFILE && run_more_files())
				fd = point_attach(k, p);
			if (fd < 0 && p->may_fail && function_is_refused(-fd))
				p->is_refused = true;
			else if (fd < 0)
				return point_refused(p, -fd, e);
			p->fd = fd < 0 ? -1 : fd;
		}
	return 0;
}

uint32_t k_points_refused(const struct k_run *k)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < k->npoints; i++)
		n += k->point[i].is_refused;
	return n;
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

uint64_t run_recursion_misses(int prog)
{
	struct bpf_prog_info info = { 0 };
	uint32_t size = sizeof(info);

	return bpf_obj_get_info_by_fd(prog, &info, &size) == 0 ? info.recursion_misses : 0;
}

uint64_t k_missed(const struct k_run *k, uint32_t prog)
{
	return prog < k->nprogs ? run_recursion_misses(k->prog[prog]) : 0;
}
