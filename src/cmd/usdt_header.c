/*
 * usdt_header.c: a C header with a macro for each static probe.
 *
 *	MYAPP_REQUEST(fd, path)       the probe, where it stands: one nop, and a note in the file that says where
 *	MYAPP_REQUEST_ENABLED()       whether somebody traces it: for arguments that are dear to make
 *
 * Nothing else is needed to build the program: no library, no object file, no other header.  The semaphore behind
 * _ENABLED is a weak symbol, so that each file of a program that includes the header may have it.  Names are upper
 * case, with one underscore for two.
 */
#include <ctype.h>
#include <string.h>

#include "cmd/usdt_int.h"

/* test_prov, u__nder: TEST_PROV_U_NDER */
static void header_put_macro(struct buf *to, const char *prov, const char *name)
{
	const char *const part[] = { prov, name };

	for (size_t i = 0; i < COUNT(part); i++) {
		if (i)
			buf_putc(to, '_');
		for (const char *s = part[i]; *s; s++)
			if (s[0] != '_' || s[1] != '_')
				buf_putc(to, (char)toupper((unsigned char)*s));
	}
}

static void header_put_semaphore(struct buf *to, const char *prov, const char *name)
{
	buf_printf(to, "%s_%s_semaphore", prov, name);
}

static void header_put_params(struct buf *to, const struct usdt_probe *p)
{
	buf_putc(to, '(');
	for (uint32_t i = 0; i < p->nargs; i++)
		buf_printf(to, "%sarg%u", i ? ", " : "", i);
	buf_putc(to, ')');
}

/* The notes's arguments: "-4@%0 8@%1"; operands are numbered from 0. */
static void header_put_probe(struct buf *to, const char *prov, const struct usdt_probe *p)
{
	buf_puts(to, "#define ");
	header_put_macro(to, prov, p->name);
	header_put_params(to, p);
	buf_printf(to, " \\\n\tTALLY_USDT_PROBE(\"%s\", \"%s\", \"", prov, p->name);
	header_put_semaphore(to, prov, p->name);
	buf_puts(to, "\", \"");
	for (uint32_t i = 0; i < p->nargs; i++)
		buf_printf(to, "%s%d@%%%u", i ? " " : "", p->arg[i].bytes, i);
	buf_puts(to, "\"");
	for (uint32_t i = 0; i < p->nargs; i++)
		buf_printf(to, "%s \"nr\"((%s)(arg%u))", i ? "," : ", ::", p->arg[i].type, i);
	buf_puts(to, p->nargs ? " : \"memory\")\n" : ", ::: \"memory\")\n");
}

static void header_put_enabled(struct buf *to, const char *prov, const char *name, bool works)
{
	buf_puts(to, "#define ");
	header_put_macro(to, prov, name);
	buf_puts(to, "_ENABLED() ");
	if (works) {
		buf_puts(to, "__builtin_expect(");
		header_put_semaphore(to, prov, name);
		buf_puts(to, " != 0, 0)\n");
	} else {
		buf_puts(to, "(0)\n");
	}
}

/* The layout of the note: src/symbol/code.c. */
static const char header_macro[] =
	"#ifndef TALLY_USDT_PROBE\n"
	"#define TALLY_USDT_PROBE(provider, name, semaphore, arguments, ...) \\\n"
	"\t__asm__ __volatile__( \\\n"
	"\t\t\"990:\\tnop\\n\" \\\n"
	"\t\t\"\\t.pushsection .note.stapsdt, \\\"?\\\", \\\"note\\\"\\n\" \\\n"
	"\t\t\"\\t.balign 4\\n\\t.4byte 992f - 991f, 994f - 993f, 3\\n\" \\\n"
	"\t\t\"991:\\t.asciz \\\"stapsdt\\\"\\n992:\\t.balign 4\\n\" \\\n"
	"\t\t\"993:\\t.8byte 990b, _.stapsdt.base, \" semaphore \"\\n\" \\\n"
	"\t\t\"\\t.asciz \\\"\" provider \"\\\"\\n\\t.asciz \\\"\" name \"\\\"\\n\\t.asciz \\\"\" arguments \"\\\"\\n\" \\\n"
	"\t\t\"994:\\t.balign 4\\n\\t.popsection\\n\" \\\n"
	"\t\t\"\\t.ifndef _.stapsdt.base\\n\" \\\n"
	"\t\t\"\\t.pushsection .stapsdt.base, \\\"aG\\\", \\\"progbits\\\", .stapsdt.base, comdat\\n\" \\\n"
	"\t\t\"\\t.weak _.stapsdt.base\\n\\t.hidden _.stapsdt.base\\n\" \\\n"
	"\t\t\"_.stapsdt.base:\\t.space 1\\n\\t.size _.stapsdt.base, 1\\n\\t.popsection\\n\\t.endif\\n\" \\\n"
	"\t\t__VA_ARGS__)\n"
	"#endif\n\n";

static void header_put_guard(struct buf *to, const char *name)
{
	const char *slash = strrchr(name, '/');

	buf_putc(to, '_');
	for (const char *s = slash ? slash + 1 : name; *s; s++)
		buf_putc(to, isalnum((unsigned char)*s) ? (char)toupper((unsigned char)*s) : '_');
}

void usdt_header(const struct usdt_def *d, const char *name, const char *source, struct buf *to)
{
	buf_printf(to, "/* Static probes. Made by tally from %s: edit that. */\n#ifndef ", source);
	header_put_guard(to, name);
	buf_puts(to, "\n#define ");
	header_put_guard(to, name);
	buf_puts(
		to,
		"\n\n#if defined(__GNUC__) && defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))\n\n");
	buf_puts(to, header_macro);
	buf_puts(to, "#ifdef __cplusplus\nextern \"C\" {\n#endif\n");
	for (uint32_t i = 0; i < d->n; i++)
		for (uint32_t k = 0; k < d->provider[i].n; k++) {
			buf_puts(to, "volatile unsigned short ");
			header_put_semaphore(to, d->provider[i].name, d->provider[i].probe[k].name);
			buf_puts(to, " __attribute__((weak, visibility(\"hidden\"), section(\".probes\"), used));\n");
		}
	buf_puts(to, "#ifdef __cplusplus\n}\n#endif\n");
	for (uint32_t i = 0; i < d->n; i++)
		for (uint32_t k = 0; k < d->provider[i].n; k++) {
			buf_putc(to, '\n');
			header_put_probe(to, d->provider[i].name, &d->provider[i].probe[k]);
			header_put_enabled(to, d->provider[i].name, d->provider[i].probe[k].name, true);
		}
	buf_puts(to, "\n#else /* this machine has no such probes */\n");
	for (uint32_t i = 0; i < d->n; i++)
		for (uint32_t k = 0; k < d->provider[i].n; k++) {
			buf_puts(to, "\n#define ");
			header_put_macro(to, d->provider[i].name, d->provider[i].probe[k].name);
			header_put_params(to, &d->provider[i].probe[k]);
			buf_puts(to, " do { } while (0)\n");
			header_put_enabled(to, d->provider[i].name, d->provider[i].probe[k].name, false);
		}
	buf_puts(to, "\n#endif\n#endif\n");
}
