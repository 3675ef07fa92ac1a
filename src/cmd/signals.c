/*
 * signals.c: the first signal ends a run cleanly, a second one at once.
 *
 * timeout(1) and a terminal may send the same interrupt twice at once, to the
 * process and to its group: only one that comes later means that somebody has lost
 * patience.
 *
 * SIGPIPE is caught, not ignored: a command would inherit that it is ignored, but a
 * handler ends with its exec.  What the shell had ignored (a background job's SIGINT)
 * stays so.
 */
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "cmd/cmd_int.h"

#define PATIENCE_MS 500

static volatile sig_atomic_t interrupted;     /* a signal handler can reach nothing else */

static int64_t clock_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void on_signal(int sig)
{
	static volatile int64_t first_ms;

	if (sig == SIGPIPE)
		return;
	if (interrupted && clock_ms() - first_ms > PATIENCE_MS)
		_exit(128 + sig);
	if (!interrupted)
		first_ms = clock_ms();
	interrupted = 1;
}

const volatile int *catch_signals(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGPIPE };
	struct sigaction old, new = { .sa_handler = on_signal };

	for (size_t i = 0; i < COUNT(signals); i++)
		if (!sigaction(signals[i], NULL, &old) && old.sa_handler != SIG_IGN)
			sigaction(signals[i], &new, NULL);
	return &interrupted;
}
