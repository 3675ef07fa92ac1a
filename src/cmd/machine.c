/*
 * machine.c: `tally machine`, a model that outside clients use.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd/platform.h"

struct machine {
	struct cmd_ctx *cx;
	struct tally_machine_opts m;
	int write_error; /* errno of what it printed, or 0 */
};

static int take_profile(void *state, const char *value)
{
	struct machine *s = state;

	s->m.opensparc = !strcmp(value, "opensparc");
	if (s->m.opensparc || !strcmp(value, "spec"))
		return GO_ON;
	return refuse_usage(s->cx, "--profile: invalid value '%s' (expected spec or opensparc)", value);
}

static const struct opt options[] = {
	{ 0, "listen", "PATH", "serve other tallys' '--on unix:PATH' at this socket",
	  OPT_ONCE(struct machine, m.listen) },
	{ 0, "vfio-user", "SOCKET",
	  "serve one PTT device as a PCI function to QEMU's vfio-user-pci; no other server has it then",
	  OPT_ONCE(struct machine, m.vfio_user) },
	{ 0, "device", "NAME", "the device of --vfio-user (default hisi_ptt0_2)", OPT_ONCE(struct machine, m.device) },
	{ 0, "sysfs", "DIR",
	  "mount the devices' sysfs files, as the Linux driver has them, on this empty directory (FUSE)",
	  OPT_ONCE(struct machine, m.sysfs) },
	{ 0, "guests", "FILE", "sun4v: read the guests, their rights and strands from FILE",
	  OPT_ONCE(struct machine, m.guests) },
	{ 0, "profile", "PROFILE", "sun4v: spec (default), or opensparc: as the original Niagara hypervisor",
	  OPT_STEP(take_profile) },
	{ 0, "run", "IMAGE", "run this machine code as the only guest (Unicorn); exit with its status",
	  OPT_ONCE(struct machine, m.run) },
	{ 'h', "help", NULL, "show this help", OPT_HELP },
};

const struct opts *cmd_machine_opts(void)
{
	static const struct opts o = {
		.verb = "machine",
		.usage = "MACHINE[,KEY=VALUE...] [option]...",
		.intro = "Runs a model for other programs until it is interrupted. "
			 "MACHINE: kunpeng, with PTT devices; or one with a\n"
			 "hypervisor: niagara, maramba, batoka, power. "
			 "The KEYs are those of --on (see tally-machine(1)).\n",
		.outro = "\nExamples:\n"
			 "  tally machine kunpeng --listen kunpeng.sock &\n"
			 "  tally machine kunpeng,load=nvme --vfio-user ptt.sock &\n"
			 "  # with FUSE:\n"
			 "  tally machine kunpeng --sysfs ptt --listen files.sock &\n",
		.more = plat_help_loads,
		.opt = options,
		.n = COUNT(options),
	};
	return &o;
}

static int machine_write_stderr(void *arg, const char *p, size_t n)
{
	const struct machine *s = arg;

	complain(s->cx, "%.*s", (int)n, p);
	return 0;
}

/* What a guest prints, as it comes; but a guest gives no orders to a terminal, other than to go back to the line's
 * beginning. */
static int machine_write_guest(void *arg, const char *p, size_t n)
{
	struct machine *s = arg;
	struct buf shown = { 0 };

	for (size_t len; n; p += len, n -= len) {
		const char *cr = memchr(p, '\r', n);

		len = cr ? (size_t)(cr - p) : n;
		put_guarded(&shown, STDOUT_FILENO, p, len);
		buf_put(&shown, p + len, cr != NULL);
		len += cr != NULL;
	}
	if (!shown.failed && fwrite(shown.p ? shown.p : "", 1, shown.n, stdout) == shown.n && fflush(stdout) == 0)
		s->write_error = 0;
	else
		s->write_error = shown.failed ? ENOMEM : errno;
	buf_free(&shown);
	return s->write_error ? -TALLY_EIO : 0;
}

static int status_of(int rc)
{
	switch (-rc) {
	case TALLY_OK:
		return ST_OK;
	case TALLY_EINVAL:
		return ST_USAGE;
	case TALLY_ENOTSUP:
		return ST_NOTSUP;
	case TALLY_EPERM:
		return ST_NOPERM;
	default:
		return ST_FAILED;
	}
}

int cmd_machine(struct cmd_ctx *cx, int argc, char **argv)
{
	struct machine s = {
		.cx = cx,
		.m = { .size = sizeof(s.m), .note = machine_write_stderr, .arg = &s, .console = machine_write_guest }
	};
	struct tally_machine_result result = { .size = sizeof(result) };
	char words[512];
	int rc, first, status = opts_parse(cx, cmd_machine_opts(), &s, argc, argv, &first);

	if (status != GO_ON)
		return status;
	if (argc - first != 1)
		return opts_refuse(cx, cmd_machine_opts(),
				   argc == first ?
					   "no machine given (expected kunpeng, niagara, maramba, batoka or power)" :
					   "unexpected argument '%s': only one machine can be given",
				   argv[argc - 1]);
	s.m.machine = argv[first];
	s.m.stop = catch_signals();
	rc = tally_machine_run(&s.m, &result, words, sizeof(words));
	if (rc < 0 && s.write_error)
		return write_failed(cx, NULL, s.write_error);
	if (rc < 0)
		complain(cx, "%s", words);
	return rc == 0 && s.m.run ? result.status : status_of(rc);
}
