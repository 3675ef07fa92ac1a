/*
 * torture.h: what the campaigns of test/torture share.
 *
 * A campaign is a program that attacks tally for a given time and counts what it did.  It works in rounds.  The random
 * numbers of a round come from the seed and the round's number alone, so a round that fell is repeated by naming both:
 *
 *	CAMPAIGN SECONDS SEED ROUND DIR
 *
 * ROUND 0: rounds 1, 2, ... until the time is over; else that round alone.  DIR is an empty directory of the campaign's
 * own. TALLY and TALLY_ASAN name the released and the sanitized program.  Output, a line each: `count N WORDS` and
 * `fell ROUND WORDS`. Exit status: 0; 1 when something fell; 77 with a line `skip WORDS` when this machine can't run
 * the campaign.
 */
#ifndef TALLY_TORTURE_H
#define TALLY_TORTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifndef COUNT /* base.h has the same */
#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#endif

struct torture {
	const char *dir, *tally, *tally_asan;
	uint64_t seed, round, only; /* only: the one round; 0: all */
	uint64_t end_ns;
	uint64_t random; /* state of the round's numbers */
	unsigned fell;
	struct {
		const char *words;
		uint64_t n;
	} count[16];
};
void torture_open(struct torture *t, int argc, char **argv);
/* Begins the next round; false: the time is over. */
bool torture_round(struct torture *t);
void torture_count(struct torture *t, const char *words, uint64_t n);
/* Something fell: words say what, and how it is seen again. */
void torture_fell(struct torture *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Prints the counts; returns the campaign's exit status. */
int torture_close(struct torture *t);
_Noreturn void torture_skip(const char *words);
/* The campaign itself can't go on: what it needs failed. */
_Noreturn void torture_broken(const char *words);

/* ---- random numbers --------------------------------------------------------------------------- */
uint64_t torture_random(struct torture *t);
uint64_t torture_below(struct torture *t, uint64_t n); /* n > 0 */
/* A number at an edge more often than not: 0, powers of two and their neighbours, all ones. */
uint64_t torture_odd(struct torture *t);
void torture_fill(struct torture *t, void *p, size_t n);

/* ---- other processes ---------------------------------------------------------------------------- */
uint64_t torture_now_ns(void);
void torture_wait_us(uint64_t us);
/* A path in DIR; good until the call after the next three. */
char *torture_path(struct torture *t, const char *name);

#define TORTURE_DIES 1000  /* status of a process that signal n ended: TORTURE_DIES + n */
#define TORTURE_HANGS 2000 /* it ran past its time and was killed */
#define TORTURE_FINDING 99 /* exit status of the sanitizers */
struct torture_run {
	const char *in;      /* file on stdin; NULL: /dev/null */
	const char *out;     /* file for stdout; NULL: /dev/null */
	const char *err;     /* file for stderr; NULL: DIR/stderr */
	const char *preload; /* LD_PRELOAD; NULL: none */
	unsigned limit_ms;   /* 0: 30 s */
	long rss_kb;         /* result: the most memory that it had */
};
/* Starts a process that ends with this one. argv ends with NULL. r NULL: defaults. */
pid_t torture_start(struct torture *t, const struct torture_run *r, const char *const *argv);
/* Waits for it, at most limit_ms. Returns its status. */
int torture_wait(pid_t pid, unsigned limit_ms, long *rss_kb);
int torture_run(struct torture *t, struct torture_run *r, const char *const *argv);
bool torture_alive(pid_t pid);
void torture_kill(pid_t pid); /* SIGKILL, and waits */
/* What killed processes left behind is this one's child. Waits up to limit_ms until there are no children but keep[];
 * else kills the others, and returns false with the name of one. */
bool torture_orphans_end(const pid_t *keep, size_t n, unsigned limit_ms, char name[32]);
/* Starts `tally machine ...` and waits until the socket is there. Broken when it doesn't come. */
pid_t torture_serve(struct torture *t, const char *program, const char *machine, const char *server, const char *path);
/* Connects to a UNIX stream socket; -1: nobody listens. Both directions time out after 10 s. */
int torture_connect(const char *path);
/* Open descriptors and resident KiB of a process; -1: it is gone. */
int torture_descriptors(pid_t pid);
long torture_resident_kb(pid_t pid);
/* Waits up to 5 s until the process has no more than `most` descriptors. */
bool torture_descriptors_settle(pid_t pid, int most);
/* The file's bytes and a NUL, or NULL; the caller frees it. */
char *torture_slurp(const char *path, size_t *n);
/* The first line of a file, for words; "" when there is none. Static. */
const char *torture_first_line(const char *path);
/* Whether the file has a line that begins with that, or has that anywhere. */
bool torture_file_has(const char *path, const char *text);
/* argv as a command line; static. */
const char *torture_words(const char *const *argv);

#endif
