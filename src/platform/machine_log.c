/*
 * machine_log.c: lines of traces that ended, in windows.
 */
#include "platform/machine_log.h"

static void machine_log_line(const struct machine_log *l, const char *fmt, ...) PRINTF_LIKE(2, 3);
static void machine_log_line(const struct machine_log *l, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	note_line(l->note, l->arg, fmt, ap);
	va_end(ap);
}

void machine_log_end(struct machine_log *l)
{
	const struct ptt_dev_counts *c = &l->sum;

	if (l->left_out)
		machine_log_line(l,
				 "%llu more trace%s ended within %u s: %llu packets "
				 "seen, %llu recorded, %llu lost, %llu buffers",
				 (unsigned long long)l->left_out, l->left_out == 1 ? "" : "s",
				 (unsigned)(MACHINE_LOG_NS / 1000000000), (unsigned long long)c->seen,
				 (unsigned long long)c->recorded, (unsigned long long)c->lost,
				 (unsigned long long)c->buffers);
	l->left_out = 0;
	l->lines = 0;
	l->sum = (struct ptt_dev_counts){ 0 };
}

void machine_log_passed(struct machine_log *l, uint64_t now_ns)
{
	if (l->lines && now_ns - l->began_ns >= MACHINE_LOG_NS)
		machine_log_end(l);
}

void machine_log_trace(struct machine_log *l, uint64_t now_ns, const char *device, const struct ptt_dev_counts *c)
{
	machine_log_passed(l, now_ns);
	if (!l->lines)
		l->began_ns = now_ns;
	if (l->lines < MACHINE_LOG_LINES) {
		l->lines++;
		machine_log_line(l, "%s: a trace ended: %llu packets seen, %llu recorded, %llu lost, %llu buffers",
				 device, (unsigned long long)c->seen, (unsigned long long)c->recorded,
				 (unsigned long long)c->lost, (unsigned long long)c->buffers);
		return;
	}
	l->left_out++;
	l->sum.seen += c->seen;
	l->sum.recorded += c->recorded;
	l->sum.lost += c->lost;
	l->sum.buffers += c->buffers;
}
