/*
 * timer.c: tick-N by timerfd.  No perf event is involved, so that a tick can
 * neither suppress firings nor be lost by throttling.  Ticks start when the
 * events do and stop with them.
 */
#include <errno.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "kernel/kernel_int.h"

static int timer_set(const struct run_timer *t, bool on)
{
	struct timespec period = { .tv_sec = (time_t)(t->period_ns / SECOND_NS),
				   .tv_nsec = (long)(t->period_ns % SECOND_NS) };
	struct itimerspec when = { .it_interval = period, .it_value = period };

	if (!on)
		when = (struct itimerspec){ 0 };
	return timerfd_settime(t->fd, 0, &when, NULL);
}

int timers_set(struct k_run *k, bool on)
{
	int rc = 0;

	for (uint32_t i = 0; i < k->ntimers; i++)
		if (timer_set(&k->timer[i], on) < 0)
			rc = -TALLY_EIO;
	return rc;
}

void timers_close(struct k_run *k)
{
	for (uint32_t i = 0; i < k->ntimers; i++)
		close(k->timer[i].fd);
	mem_free(k->timer);
	k->timer = NULL;
	k->ntimers = k->cap_timers = 0;
}

int k_timer(struct k_run *k, uint64_t period_ns, struct err *e)
{
	struct run_timer *t;
	int fd;

	if (!period_ns)
		return err_set(e, TALLY_EINVAL, "a timer needs a period");
	fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (fd < 0)
		return run_file_refused("making a timer", errno, e);
	if (run_watch(k, fd) < 0) {
		int no = errno;

		close(fd);
		return run_file_refused("waiting for a timer", no, e);
	}
	t = VEC_NEW(k->timer, k->ntimers, k->cap_timers);
	if (!t) {
		close(fd);
		return err_oom(e);
	}
	*t = (struct run_timer){ .fd = fd, .period_ns = period_ns };
	if (k->enabled)
		timer_set(t, true);
	return (int)k->ntimers - 1;
}

uint64_t k_timer_fired(struct k_run *k, int timer)
{
	uint64_t n = 0;

	if (timer < 0 || (uint32_t)timer >= k->ntimers)
		return 0;
	return read(k->timer[timer].fd, &n, sizeof(n)) == sizeof(n) ? n : 0;
}
