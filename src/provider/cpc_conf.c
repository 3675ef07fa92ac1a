/*
 * cpc_conf.c: the configuration file of the cpc provider, in the form of driver.conf(5).
 *
 *	# comments; properties end with ';', several may stand before one
 *	dcpc-min-overflow=1000;
 *
 * Properties of other names are skipped (a dcpc.conf of illumos has name= and
 * parent=), so is what their values hold: numbers, "strings", lists with ','.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "provider/provider_int.h"

#define MAX_CONF 65536
#define WORD 64

struct reader {
	const char *p, *end;
	unsigned line;
};

/* Skips blanks and comments; false at the end. */
static bool conf_skip_blanks(struct reader *r)
{
	for (; r->p < r->end; r->p++) {
		if (*r->p == '#')
			while (r->p < r->end && *r->p != '\n')
				r->p++;
		if (r->p == r->end)
			break;
		if (*r->p == '\n')
			r->line++;
		else if (!isspace((unsigned char)*r->p))
			return true;
	}
	return false;
}

/* A word up to a blank or one of =;,# or a "string" with its quotes; cut at WORD - 1. */
static void conf_take_word(struct reader *r, char *to)
{
	size_t n = 0;
	bool quoted = *r->p == '"';

	do {
		if (n < WORD - 1)
			to[n++] = *r->p;
		r->p++;
	} while (r->p < r->end && *r->p != '\n' &&
		 (quoted ? r->p[-1] != '"' || n == 1 : !isspace((unsigned char)*r->p) && !strchr("=;,#", *r->p)));
	to[n] = 0;
}

static int conf_take_property(struct reader *r, uint64_t *min, struct err *why)
{
	char name[WORD], value[WORD];
	bool ours;

	if (strchr("=,", *r->p))
		return err_set(why, TALLY_EINVAL, "line %u: a name is missing before '%c'", r->line, *r->p);
	conf_take_word(r, name);
	ours = !strcmp(name, "dcpc-min-overflow");
	if (!conf_skip_blanks(r) || *r->p != '=')
		return err_set(why, TALLY_EINVAL, "line %u: \"=\" is missing after %s", r->line, name);
	do {
		r->p++;
		if (!conf_skip_blanks(r) || *r->p == ';')
			return err_set(why, TALLY_EINVAL, "line %u: %s has no value", r->line, name);
		conf_take_word(r, value);
		if (ours && !text_u64(value, min))
			return err_set(why, TALLY_EINVAL, "line %u: %s needs a number, not %s", r->line, name, value);
	} while (conf_skip_blanks(r) && *r->p == ',');
	return 0;
}

int cpc_conf_parse(const char *text, size_t n, uint64_t *min, struct err *why)
{
	struct reader r = { text + text_mark(text, n), text + n, 1 };
	const char *not_utf8 = text_not_utf8(r.p, (size_t)(r.end - r.p));
	int rc = 0;

	if (not_utf8)
		return err_set(why, TALLY_EINVAL, "%s", not_utf8);
	if (memchr(text, 0, n))
		return err_set(why, TALLY_EINVAL, "it is not a text file");
	while (rc >= 0 && conf_skip_blanks(&r)) {
		if (*r.p == ';')
			r.p++;
		else
			rc = conf_take_property(&r, min, why);
	}
	return rc;
}

int cpc_conf_read(const char *path, uint64_t *min, struct err *why)
{
	FILE *f = fopen(path, "re");
	struct err e = { 0 };
	char *text;
	size_t n;
	int rc;

	if (!f && errno == ENOENT)
		return 0;
	if (!f)
		return err_set(why, TALLY_EIO, "cannot read %s: %m", path);
	text = mem_alloc(MAX_CONF);
	if (!text) {
		fclose(f);
		return err_oom(why);
	}
	n = fread(text, 1, MAX_CONF, f);
	rc = ferror(f)     ? err_set(&e, TALLY_EIO, "cannot be read") :
	     n == MAX_CONF ? err_set(&e, TALLY_EINVAL, "longer than %d bytes", MAX_CONF - 1) :
			     cpc_conf_parse(text, n, min, &e);
	fclose(f);
	mem_free(text);
	return rc < 0 ? err_set(why, (enum tally_err)e.code, "%s: %s", path, e.text) : 0;
}
