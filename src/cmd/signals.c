/*
 * signals.c: the first signal ends a run cleanly, a second one ends it at once.
 *
 * timeout(1) and a terminal may send the same signal twice within a moment: to the process and to its process group.
 * So a second signal counts only PATIENCE_MS after the first.
 *
 * SIGPIPE must not end the process before a device has its old settings again: each write reports that its reader has
 * gone (ST_READER).  The signal is caught and not ignored, since a command would inherit SIG_IGN; exec resets a
 * handler. SIGXFSZ likewise: a file that grows past RLIMIT_FSIZE is a failed write, reported as a full disk is. Signals
 * that the shell ignored (SIGINT of a background job) stay ignored.
 */
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "cmd/cmd_int.h"

#define PATIENCE_MS 500

static volatile sig_atomic_t interrupted; /* a signal handler can reach nothing else */

int64_t clock_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void on_signal(int sig)
{
	static volatile int64_t first_ms;

	if (interrupted && clock_ms() - first_ms > PATIENCE_MS)
		_exit(128 + sig);
	if (!interrupted)
		first_ms = clock_ms();
	interrupted = 1;
}

static volatile sig_atomic_t reload;

static void on_reload(int sig)
{
	(void)sig;
	reload = 1;
}

static void on_failed_write(int sig)
{
	(void)sig;
}

static void signal_catch(int sig, void (*handler)(int))
{
	struct sigaction old, new = { .sa_handler = handler };

	if (!sigaction(sig, NULL, &old) && old.sa_handler != SIG_IGN)
		sigaction(sig, &new, NULL);
}

void catch_failed_writes(void)
{
	signal_catch(SIGPIPE, on_failed_write);
	signal_catch(SIGXFSZ, on_failed_write);
}

const volatile int *catch_signals(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };

	for (size_t i = 0; i < COUNT(signals); i++)
		signal_catch(signals[i], on_signal);
	return &interrupted;
}

/* nohup ignores SIGHUP for programs that end of it: who reads its files again goes on. */
volatile int *catch_reload(void)
{
	const struct sigaction on_hup = { .sa_handler = on_reload };

	sigaction(SIGHUP, &on_hup, NULL);
	return &reload;
}
