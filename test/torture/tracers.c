/*
 * tracers: `tally trace` that is killed.
 *
 * A round starts a tracer, with a command more often than not, and kills it (SIGKILL) within half a second: while it
 * compiles, loads, attaches, starts the command, runs.  Every second one is stopped first, so that what it holds can be
 * read: each BPF program and map of it must be gone afterwards.  The command may not run on (what that starts in turn
 * is its own affair), tracefs has no entry more, and the next tracer works.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "torture.h"

enum { IDS_MOST = 256, PATIENCE_MS = 3000 };
struct held {
	uint32_t program[IDS_MOST], map[IDS_MOST];
	size_t programs, maps;
};

static const char *const tracers[][8] = {
	{ "-n", "cpc:::page_faults-user-100 { @[ustack()] = count(); }", "-c", "sleep 60" },
	{ "-n", "cpc:::page_faults-all-10 { @[execname] = count(); } tick-10ms { printa(@); }", "-c", "yes" },
	{ "-n", "profile-997 { @[pid] = quantize(arg0); }", "-c", "sleep 60" },
	{ "-n", "cpc:::cpu_clock-all-97hz { @[stack()] = count(); }" },
	{ "-n", "cpc:::context_switches-all-10 { self->n++; @[self->n] = count(); }", "-c", "'sleep' \"60\"" },
	{ "-n", "BEGIN { x = 1; } tick-1ms { x++; printf(\"%d\\n\", x); }" },
	{ "-n", "cpc:::page_faults-user-1 { @[execname, ufunc(arg1)] = sum(1); }", "-c", "sleep 60" },
};

/* ---- what a process holds --------------------------------------------------------------------------- */

static void held_read(struct held *h, pid_t pid)
{
	char path[400], line[128];
	struct dirent *e;
	DIR *d;

	memset(h, 0, sizeof(*h));
	snprintf(path, sizeof(path), "/proc/%d/fdinfo", (int)pid);
	d = opendir(path);
	while (d && (e = readdir(d))) {
		FILE *f;
		uint32_t id;

		snprintf(path, sizeof(path), "/proc/%d/fdinfo/%s", (int)pid, e->d_name);
		f = fopen(path, "re");
		while (f && fgets(line, sizeof(line), f)) {
			if (sscanf(line, "prog_id: %u", &id) == 1 && h->programs < IDS_MOST)
				h->program[h->programs++] = id;
			if (sscanf(line, "map_id: %u", &id) == 1 && h->maps < IDS_MOST)
				h->map[h->maps++] = id;
		}
		if (f)
			fclose(f);
	}
	if (d)
		closedir(d);
}

static bool held_is_there(enum bpf_cmd cmd, uint32_t id)
{
	union bpf_attr a;
	int fd;

	memset(&a, 0, sizeof(a));
	a.prog_id = id; /* the same place as map_id */
	fd = (int)syscall(SYS_bpf, cmd, &a, sizeof(a));
	if (fd >= 0)
		close(fd);
	return fd >= 0 || errno != ENOENT;
}

/* The kernel lets go of them a little later. */
static bool held_goes(enum bpf_cmd cmd, const uint32_t *id, size_t n)
{
	const uint64_t end = torture_now_ns() + PATIENCE_MS * UINT64_C(1000000);

	for (size_t i = 0; i < n; i++)
		while (held_is_there(cmd, id[i])) {
			if (torture_now_ns() > end)
				return false;
			torture_wait_us(1000);
		}
	return true;
}

static bool tracer_is_stopped(pid_t pid)
{
	char path[64];
	const char *state;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	state = strrchr(torture_first_line(path), ')');
	return !state || !state[1] || strchr("TZX", state[2]);
}

/* Bytes of tracefs's lists of probes; 0: not mounted. */
static size_t tracefs_entries(void)
{
	static const char *const lists[] = { "/sys/kernel/tracing/kprobe_events", "/sys/kernel/tracing/uprobe_events",
					     "/sys/kernel/tracing/dynamic_events" };
	size_t sum = 0, n;

	for (size_t i = 0; i < COUNT(lists); i++) {
		free(torture_slurp(lists[i], &n));
		sum += n;
	}
	return sum;
}

/* ---- a round ------------------------------------------------------------------------------------------ */

static void tracer_round(struct torture *t)
{
	const char *const *words = tracers[torture_below(t, COUNT(tracers))];
	const char *argv[16] = { t->tally, "trace", "-q", "-x", "dcpc_min_overflow=1" };
	const bool stops = torture_below(t, 2);
	struct held held = { 0 };
	char name[32] = "";
	pid_t pid;

	for (size_t i = 0; i < 8 && words[i]; i++)
		argv[i + 5] = words[i];
	pid = torture_start(t, NULL, argv);
	torture_wait_us(torture_below(t, UINT64_C(1) << (10 + torture_below(t, 10))));
	if (stops) {
		kill(pid, SIGSTOP);
		while (!tracer_is_stopped(pid))
			torture_wait_us(200);
		held_read(&held, pid);
	}
	torture_kill(pid);
	if (!torture_orphans_end(NULL, 0, PATIENCE_MS, name))
		torture_fell(t, "%s runs on, though %s was killed", name, torture_words(argv));
	if (!held_goes(BPF_PROG_GET_FD_BY_ID, held.program, held.programs))
		torture_fell(t, "a BPF program stays when %s is killed", torture_words(argv));
	if (!held_goes(BPF_MAP_GET_FD_BY_ID, held.map, held.maps))
		torture_fell(t, "a BPF map stays when %s is killed", torture_words(argv));
	torture_count(t, "tracers killed", 1);
	torture_count(t, "BPF programs and maps of them that went", held.programs + held.maps);
}

static void next_tracer(struct torture *t)
{
	const char *argv[] = { t->tally,
			       "trace",
			       "-q",
			       "-x",
			       "dcpc_min_overflow=1",
			       "-n",
			       "cpc:::page_faults-user-1 { @n = count(); } END { printa(\"%@d\\n\", @n); }",
			       "-c",
			       "/bin/true",
			       NULL };
	const int status = torture_run(t, NULL, argv);

	if (status != 0)
		torture_fell(t, "the next tracer: %d: %s", status, torture_first_line(torture_path(t, "stderr")));
}

int main(int argc, char **argv)
{
	struct torture t;
	size_t entries;

	torture_open(&t, argc, argv);
	if (geteuid() != 0)
		torture_skip("loading BPF programs needs root here");
	entries = tracefs_entries();
	while (torture_round(&t) && t.fell < 20) {
		tracer_round(&t);
		if (t.round % 8 == 0)
			next_tracer(&t);
	}
	next_tracer(&t);
	if (tracefs_entries() > entries)
		torture_fell(&t, "tracefs has more entries than before");
	return torture_close(&t);
}
