/*
 * server_race_test_int.h: servers that start together at one path, each in a process of its own.
 *
 * They end with the test, however that ends; one that says nothing is not waited for without end.
 */
#ifndef TALLY_SERVER_RACE_TEST_INT_H
#define TALLY_SERVER_RACE_TEST_INT_H

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/attach.h"
#include "attach/server_path_int.h"

enum { RACE_SERVERS = 4, RACE_SILENCE_MS = 60000 };
typedef int race_open(struct server **ret, void *arg, const char *path, struct err *e);
struct race {
	pid_t pid[RACE_SERVERS];
	int won, said;
};

/* A server that is killed at once: its socket stays. */
static inline void race_leave_dead(race_open *open, void *arg, const char *path)
{
	struct server *d;
	struct err e = { 0 };
	pid_t pid = fork();

	if (pid == 0) {
		(void)!open(&d, arg, path, &e);
		kill(getpid(), SIGKILL);
	}
	waitpid(pid, NULL, 0);
}

static inline void race_serve(race_open *open, void *arg, const char *path, int go, int say)
{
	struct err e = { 0 };
	struct server *d;
	char byte = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)!read(go, &byte, 1);
	byte = open(&d, arg, path, &e) == 0 ? 'y' : 'n';
	(void)!write(say, &byte, 1);
	for (;;)
		pause();
}

/* won: how many have the path; said: how many told whether they have. */
static inline struct race race_begin(race_open *open, void *arg, const char *path)
{
	struct race r = { .won = 0 };
	struct pollfd p = { .events = POLLIN };
	int go[2] = { -1, -1 }, say[2] = { -1, -1 };
	char byte;

	if (pipe(go) < 0 || pipe(say) < 0)
		return r;
	for (int i = 0; i < RACE_SERVERS; i++) {
		r.pid[i] = fork();
		if (r.pid[i] == 0) {
			close(go[1]);
			race_serve(open, arg, path, go[0], say[1]);
		}
	}
	close(go[0]);
	close(say[1]);
	close(go[1]); /* all at once */
	p.fd = say[0];
	while (r.said < RACE_SERVERS && poll(&p, 1, RACE_SILENCE_MS) == 1 && read(say[0], &byte, 1) == 1) {
		r.said++;
		r.won += byte == 'y';
	}
	close(say[0]);
	return r;
}

/* While somebody else starts at the path (the lock is held), a server there says nothing; it has the path after
 * that. */
static inline bool race_waits_its_turn(race_open *open, void *arg, const char *path)
{
	struct pollfd p = { .events = POLLIN };
	int go[2], say[2], lock = -1;
	struct err e = { 0 };
	bool waits, wins;
	char byte = 0;
	pid_t pid;

	if (pipe(go) < 0 || pipe(say) < 0 || server_path_lock(path, &lock, &e) < 0)
		return false;
	pid = fork();
	if (pid == 0) {
		close(go[1]);
		close(lock);
		race_serve(open, arg, path, go[0], say[1]);
	}
	close(go[0]);
	close(say[1]);
	close(go[1]);
	p.fd = say[0];
	waits = poll(&p, 1, 200) == 0 && access(path, F_OK) < 0;
	server_path_unlock(path, lock);
	wins = poll(&p, 1, RACE_SILENCE_MS) == 1 && read(say[0], &byte, 1) == 1 && byte == 'y';
	close(say[0]);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return waits && wins;
}

static inline void race_end(const struct race *r)
{
	for (int i = 0; i < RACE_SERVERS; i++) {
		kill(r->pid[i], SIGKILL);
		waitpid(r->pid[i], NULL, 0);
	}
}

#endif
