/*
 * suffix.c: the form of an answer by the suffix of -o's file.
 *
 * A suffix of the table is what a name ends in; "pb.gz" is one. Else it is up to SUFFIX_MOST letters and digits behind
 * the last dot of the file's name, a letter first: "t.2" and what mktemp makes have none, and mean what no -o means. A
 * suffix that tally does not know is refused, since a file that is called t.pcap and holds CSV misleads whoever opens
 * it. Where an option has chosen the form, the file may have any suffix but that of another form.
 */
#include <ctype.h>
#include <string.h>

#include <tally/ptt.h>

#include "cmd/cmd_int.h"

#define SUFFIX_MOST 8u

#define FORM_RECORDING (UINT32_MAX - 1) /* of record: no form of a table */
#define OF_TEXT "dump report list get tune stat check trace"
static const struct suffix {
	const char *text, *verbs;
	uint32_t form;
} suffixes[] = {
	{ "json", "dump report export list get tune stat check trace", TALLY_FORMAT_JSON },
	{ "csv", "dump export list get tune stat check", TALLY_FORMAT_CSV },
	{ "html", "report trace", TALLY_FORMAT_HTML },
	{ "htm", "report trace", TALLY_FORMAT_HTML },
	{ "parquet", "export", TALLY_FORMAT_PARQUET },
	{ "folded", "trace", TALLY_FORMAT_FOLDED },
	{ "pb.gz", "trace", TALLY_FORMAT_PPROF },
	{ "data", "record", FORM_RECORDING },
	{ "perf", "record", FORM_RECORDING },
	{ "txt", OF_TEXT, TALLY_FORMAT_TEXT },
	{ "log", OF_TEXT, TALLY_FORMAT_TEXT },
	{ "out", OF_TEXT, TALLY_FORMAT_TEXT },
	{ "stacks", "trace", TALLY_FORMAT_TEXT },
};

static bool suffix_is_of(const struct suffix *s, const char *verb)
{
	const size_t n = strlen(verb);

	for (const char *at = s->verbs; *at; at += strspn(at, " ")) {
		const size_t word = strcspn(at, " ");

		if (word == n && !memcmp(at, verb, n))
			return true;
		at += word;
	}
	return false;
}

/* What stands behind the dot, or NULL: the name has no suffix. */
static const char *suffix_find(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
	size_t n = 0;

	while (dot && isalnum((unsigned char)dot[1 + n]))
		n++;
	return dot && dot > name && n && n <= SUFFIX_MOST && !dot[1 + n] && isalpha((unsigned char)dot[1]) ? dot + 1 :
													     NULL;
}

static int suffix_unknown(const struct cmd_ctx *cx, const char *output, const char *verb)
{
	struct buf known = { 0 };

	for (size_t i = 0; i < COUNT(suffixes); i++)
		if (suffix_is_of(&suffixes[i], verb))
			buf_printf(&known, "%s.%s", known.n ? ", " : "", suffixes[i].text);
	complain(cx, "-o %s: unknown suffix for %s (expected %s)%s", output, verb, known.failed ? "" : known.p,
		 strcmp(verb, "trace") ? "" : "; .html is a flame graph, .folded the input of tools for those");
	buf_free(&known);
	return ST_USAGE;
}

int output_suffix(const struct cmd_ctx *cx, const char *output, const char *verb, const char *option, uint32_t *form)
{
	const char *text = output ? suffix_find(output) : NULL;
	const struct suffix *s = NULL;

	for (size_t i = 0; text && i < COUNT(suffixes); i++) {
		const char *at = output + strlen(output) - strlen(suffixes[i].text);

		if (at > output + 1 && at[-1] == '.' && at[-2] != '/' && !strcmp(at, suffixes[i].text))
			s = &suffixes[i];
	}
	if (!s)
		return text && !option ? suffix_unknown(cx, output, verb) : GO_ON;
	if (s->form == *form && (option || s->form == TALLY_FORMAT_TEXT))
		return GO_ON;
	if (!suffix_is_of(s, verb) && !strcmp(verb, "trace"))
		return suffix_unknown(cx, output, verb); /* no other verb has D's answers */
	if (!suffix_is_of(s, verb)) {
		complain(cx, "-o %s: %s cannot write that format; 'tally %.*s' can", output, verb,
			 (int)strcspn(s->verbs, " "), s->verbs);
		return ST_USAGE;
	}
	if (option && s->form != TALLY_FORMAT_TEXT)
		return refuse_usage(cx, "%s and -o %s cannot be combined", option, output);
	if (!option)
		*form = s->form;
	return GO_ON;
}
