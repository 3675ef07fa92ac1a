/*
 * signals.c: the first signal ends a run cleanly, a second one at once.
 *
 * timeout(1) and a terminal may send the same interrupt twice at once, to the
 * process and to its group: only one that comes later means that somebody has lost
 * patience.
 *
 * A reader that goes away is seen where we write, in every verb alike (ST_READER), so SIGPIPE must not end us
 * before a device is put back. It is caught, not ignored: a command would inherit that it is ignored, but a
 * handler ends with its exec.  So is SIGXFSZ: a file that grows past RLIMIT_FSIZE is a failed write, told as a full disk is.
 * What the shell had ignored (a background job's SIGINT) stays so.
 */
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "cmd/cmd_int.h"

#define PATIENCE_MS 500

static volatile sig_atomic_t interrupted; /* a signal handler can reach nothing else */

static int64_t clock_ms(void)
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

static void on_failed_write(int sig)
{
	(void)sig;
}

static void catch (int sig, void (*handler)(int))
{
	struct sigaction old, new = { .sa_handler = handler };

	if (!sigaction(sig, NULL, &old) && old.sa_handler != SIG_IGN)
		sigaction(sig, &new, NULL);
}

void catch_failed_writes(void)
{
	catch (SIGPIPE, on_failed_write);
	catch (SIGXFSZ, on_failed_write);
}

const volatile int *catch_signals(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };

	for (size_t i = 0; i < COUNT(signals); i++)
		catch (signals[i], on_signal);
	return &interrupted;
}
