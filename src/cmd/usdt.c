/*
 * usdt.c: `tally trace -h` and `-G`: what a program with static probes is built with.
 *
 * Both take a D source with provider definitions.  A header is all that a program needs.  An object file is what the
 * build of a program for DTrace expects besides, and links; its probes are in the program's own files already, so it is
 * empty.  A source that is no D is refused, so that a build stops there.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "cmd/trace_int.h"
#include "cmd/usdt_int.h"

#define SOURCE_MOST (16u << 20)

/* prov.d: prov.h, here */
static bool usdt_output_name(const char *script, const char *suffix, char *to, size_t n)
{
	const char *slash = strrchr(script, '/'), *name = slash ? slash + 1 : script;
	size_t len = strlen(name);

	if (len > 2 && !strcmp(name + len - 2, ".d"))
		len -= 2;
	return len && len + strlen(suffix) < n && snprintf(to, n, "%.*s%s", (int)len, name, suffix) > 0;
}

static int usdt_write(struct trace *c, const char *path, const struct buf *b)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	size_t at = 0;
	ssize_t n = fd < 0 ? -1 : 0;

	while (fd >= 0 && at < b->n && (n = write(fd, b->p + at, b->n - at)) >= 0)
		at += (size_t)n;
	if (fd >= 0 && close(fd) < 0)
		n = -1;
	if (n < 0) {
		complain(c->cx, "failed to write %s: %s", path, strerror(errno));
		return ST_FAILED;
	}
	return ST_OK;
}

/* An object file that says nothing but that its stack is not executable. */
static void usdt_object(struct buf *to)
{
	static const char names[] = "\0.note.GNU-stack\0.shstrtab";
	struct {
		Elf64_Ehdr eh;
		Elf64_Shdr sh[3];
	} o = { 0 };

	memcpy(o.eh.e_ident, ELFMAG, SELFMAG);
	o.eh.e_ident[EI_CLASS] = ELFCLASS64;
	o.eh.e_ident[EI_DATA] = ELFDATA2LSB;
	o.eh.e_ident[EI_VERSION] = o.eh.e_version = EV_CURRENT;
	o.eh.e_type = ET_REL;
#if defined(__aarch64__)
	o.eh.e_machine = EM_AARCH64;
#else
	o.eh.e_machine = EM_X86_64;
#endif
	o.eh.e_ehsize = sizeof(o.eh);
	o.eh.e_shoff = sizeof(o.eh);
	o.eh.e_shentsize = sizeof(o.sh[0]);
	o.eh.e_shnum = COUNT(o.sh);
	o.eh.e_shstrndx = 2;
	o.sh[1] = (Elf64_Shdr){ .sh_name = 1, .sh_type = SHT_PROGBITS, .sh_offset = sizeof(o), .sh_addralign = 1 };
	o.sh[2] = (Elf64_Shdr){ .sh_name = 17, .sh_type = SHT_STRTAB, .sh_offset = sizeof(o), .sh_addralign = 1 };
	o.sh[2].sh_size = sizeof(names);
	buf_put(to, &o, sizeof(o));
	buf_put(to, names, sizeof(names));
}

/* -x errtags */
static bool usdt_has_tags(const struct trace *c)
{
	for (uint32_t i = 0; i < c->nsteps; i++)
		if (c->step[i].apply == apply_option && !strcmp(c->step[i].value, "errtags"))
			return true;
	return false;
}

/* The first provider whose name is longer than those that DTrace links, or NULL. */
static const char *usdt_too_long(const struct usdt_def *def)
{
	for (uint32_t i = 0; i < def->n; i++)
		if (strlen(def->provider[i].name) > USDT_LINKED_MOST)
			return def->provider[i].name;
	return NULL;
}

/*
 * Whether the script is D: it is compiled as it would be for a run.  Its syntax alone is judged, on a platform that
 * everybody may use: what probes, types and macros there are where it will run is not known where a program is built.
 */
static int usdt_check_syntax(struct trace *c)
{
	static const char tag[] = "[D_SYNTAX] ";
	const char *words, *at;
	int status, rc;

	c->platform = "vm";
	status = trace_open_session(c);
	for (uint32_t i = 0; i < c->nsteps && status == GO_ON; i++)
		status = c->step[i].apply(c, c->step[i].value);
	rc = status == GO_ON ? tally_trace_option(c->t, "errtags", NULL) : 0;
	if (rc >= 0 && status == GO_ON)
		rc = tally_trace_option(c->t, "zdefs", NULL);
	if (rc < 0)
		status = trace_failed(c, rc);
	else if (status == GO_ON && tally_trace_compile(c->t) < 0 &&
		 (at = strstr(words = tally_trace_error(c->t), tag)) != NULL) {
		complain(c->cx, "%.*s%s", (int)(at - words), words, usdt_has_tags(c) ? at : at + strlen(tag));
		status = ST_FAILED;
	}
	tally_trace_close(c->t);
	c->t = NULL;
	return status;
}

int trace_make_usdt(struct trace *c)
{
	const char *suffix = c->header ? ".h" : ".o", *path = c->output;
	struct usdt_def def = { 0 };
	struct buf out = { 0 };
	struct err e = { 0 };
	uint8_t *text = NULL;
	char name[256];
	int status = ST_FAILED;
	size_t n;

	if (!path && usdt_output_name(c->script, suffix, name, sizeof(name)))
		path = name;
	if (!path)
		return refuse_usage(c->cx, "-o FILE must say where the %s goes", c->header ? "header" : "object file");
	if (file_read_all(c->script, SOURCE_MOST, &text, &n, &e) < 0) {
		complain(c->cx, "failed to open %s: %s", c->script, e.text);
		return ST_FAILED;
	}
	if (usdt_def_parse(&def, (const char *)text, n, usdt_has_tags(c), &e) < 0) {
		complain(c->cx, "failed to compile script %s: %s", c->script, e.text);
	} else if (c->header && !def.n) {
		complain(c->cx, "failed to compile script %s: it defines no provider: provider NAME { probe NAME(); };",
			 c->script);
	} else if (c->object && usdt_too_long(&def)) {
		complain(c->cx, "failed to link script %s: USDT provider name may not exceed %d characters: %s",
			 usdt_output_name(c->script, "", name, sizeof(name)) ? name : c->script, USDT_LINKED_MOST,
			 usdt_too_long(&def));
	} else if ((status = usdt_check_syntax(c)) == GO_ON) {
		status = ST_FAILED;
		if (c->header)
			usdt_header(&def, path, c->script, &out);
		else
			usdt_object(&out);
		if (out.failed)
			complain(c->cx, "out of memory");
		else
			status = usdt_write(c, path, &out);
	}
	buf_free(&out);
	usdt_def_free(&def);
	mem_free(text);
	return status;
}
