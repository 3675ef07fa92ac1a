/*
 * kallsyms.c: the kernel's own symbols, "address type name\t[module]" a line.
 *
 * 120,000 lines and more, of which the kernel spends most of the time; so no
 * scanf and no copies here.  Addresses that the kernel hides (kptr_restrict, or
 * no CAP_SYSLOG) read as zero: zero is handed on to those only who ask for names
 * alone, and nothing but zeroes is a refusal to all others.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <string.h>
#include <unistd.h>

#include "kernel/kernel_int.h"
#include "kernel/libbpf_int.h"
#include "kernel/task_int.h"

/* Cuts a line in place. False: not of this form. */
static bool line_cut(char *line, uint64_t *addr, char *type, const char **name, const char **mod)
{
	char *s = (char *)k_hex(line, addr), *tab, *end;

	if (s == line || s[0] != ' ' || !s[1] || s[2] != ' ' || !s[3])
		return false;
	*type = s[1];
	*name = s + 3;
	*mod = "vmlinux";
	tab = strchr(s + 3, '\t');
	if (!tab)
		return true;
	*tab = 0;
	end = strchr(tab + 1, ']');
	if (tab[1] == '[' && end) {
		*end = 0;
		*mod = tab + 2;
	}
	return true;
}

static int kallsyms_refuse_hidden(struct err *e)
{
	char level[16];

	if (file_small("/proc/sys/kernel/kptr_restrict", level, sizeof(level)) < 0)
		strcpy(level, "unknown");
	if (*level == '2')
		return err_set(e, TALLY_EPERM,
			       "the kernel hides its addresses from all: sudo sysctl kernel.kptr_restrict=1");
	return err_set(e, TALLY_EPERM, "the kernel hides its addresses (kernel.kptr_restrict is %s): %s", level,
		       has_capability(CAP_SYSLOG) ?
			       "cap_syslog of a user namespace (a container) does not show them" :
			       "cap_syslog shows them, and 'tally doctor' has the command that grants it");
}

int k_kallsyms_fd(int fd, bool hidden, k_symbol_sink *sink, void *arg, struct err *e)
{
	struct k_lines *l = mem_alloc(sizeof(*l));
	const char *name, *mod;
	uint64_t addr, told = 0;
	char *line, type;

	if (!l)
		return err_oom(e);
	l->fd = fd;
	while ((line = k_lines_next(l)))
		if (line_cut(line, &addr, &type, &name, &mod) && (addr || hidden)) {
			sink(arg, addr, type, name, mod);
			told++;
		}
	mem_free(l);
	return told ? 0 : kallsyms_refuse_hidden(e);
}

static int kallsyms_read(bool hidden, k_symbol_sink *sink, void *arg, struct err *e)
{
	int fd = rights_open(CAP_SYSLOG, "/proc/kallsyms", O_RDONLY), rc;

	if (fd < 0 && (errno == EPERM || errno == EACCES))
		return err_set(e, TALLY_EPERM, "no permission to read /proc/kallsyms: run as root");
	if (fd < 0)
		return err_set(e, TALLY_ENOTSUP, "no symbols of the kernel: /proc/kallsyms: %s", strerror(errno));
	rc = k_kallsyms_fd(fd, hidden, sink, arg, e);
	close(fd);
	return rc;
}

int k_kallsyms(void (*sink)(void *arg, uint64_t addr, char type, const char *name, const char *mod), void *arg,
	       struct err *e)
{
	return kallsyms_read(false, sink, arg, e);
}

int k_kallsyms_names(k_symbol_sink *sink, void *arg)
{
	return kallsyms_read(true, sink, arg, NULL);
}

/* "name bytes users by-whom state address (flags)", of which only its users change while a module is there. */
uint64_t k_modules_hash(void)
{
	struct k_lines *l = mem_alloc(sizeof(*l));
	uint64_t hash = 0;
	char *line;

	if (l && (l->fd = rights_open(CAP_SYSLOG, "/proc/modules", O_RDONLY)) >= 0) {
		while ((line = k_lines_next(l))) {
			const char *address = strstr(line, " 0x");

			hash = hash * 31 + text_hash(line, strcspn(line, " "));
			hash = hash * 31 + (address ? text_hash(address, strlen(address)) : 0);
		}
		close(l->fd);
	}
	mem_free(l);
	return hash;
}

/* ---- programs of BPF -------------------------------------------------------------- */

#define FUNCTIONS_MOST 512u /* of a program */

bool k_program_functions(void (*sink)(void *arg, uint64_t addr, uint32_t bytes), void *arg)
{
	uint64_t addr[FUNCTIONS_MOST];
	uint32_t bytes[FUNCTIONS_MOST], id = 0, told = 0;

	while (bpf_prog_get_next_id(id, &id) == 0) {
		struct bpf_prog_info info = { .nr_jited_ksyms = FUNCTIONS_MOST,
					      .nr_jited_func_lens = FUNCTIONS_MOST,
					      .jited_ksyms = (uintptr_t)addr,
					      .jited_func_lens = (uintptr_t)bytes };
		uint32_t size = sizeof(info);
		const int fd = bpf_prog_get_fd_by_id(id);

		if (fd < 0)
			continue; /* it has gone meanwhile, or is not for us */
		if (bpf_obj_get_info_by_fd(fd, &info, &size) == 0 && info.nr_jited_ksyms == info.nr_jited_func_lens &&
		    info.nr_jited_ksyms <= FUNCTIONS_MOST)
			for (uint32_t i = 0; i < info.nr_jited_ksyms; i++, told++)
				sink(arg, addr[i], bytes[i]);
		close(fd);
	}
	return told;
}
