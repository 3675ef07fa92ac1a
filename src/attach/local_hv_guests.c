/*
 * local_hv_guests.c: who may have what of a sun4v machine, as text.
 *
 *	# control domain
 *	guest primary  global,htstrand  strands=0-63
 *	guest web      strand
 *	others none
 *
 * A guest that has strands of its own has no others, and nobody else has these.  What two guests want at once
 * (global) is settled when they come, not here.
 */
#include <string.h>

#include "attach/local_hv.h"

#define LINE_MOST 256u

struct reader {
	struct local_hv_guests *to;
	uint32_t line, strands;
	struct err *e;
};

static int guests_refuse_token(const struct reader *r, const char *words, const char *token)
{
	return err_set(r->e, TALLY_EINVAL, "guests, line %u: %s%s%s%s", r->line, words, *token ? ": '" : "", token,
		       *token ? "'" : "");
}

static const struct local_hv_guest *guests_overlapping(const struct local_hv_guests *g,
						       const struct local_hv_guest *one)
{
	for (const struct local_hv_guest *o = g->guest; o < one; o++)
		if (o->pinned && one->first <= o->last && o->first <= one->last)
			return o;
	return NULL;
}

/* "0-63", "5" */
static int take_strands(const struct reader *r, struct local_hv_guest *g, char *text)
{
	const struct local_hv_guest *o;
	uint64_t first, last;
	char *dash = strchr(text, '-');

	if (dash)
		*dash++ = '\0';
	if (!text_u64(text, &first) || !text_u64(dash ? dash : text, &last) || first > last || last >= r->strands)
		return err_set(r->e, TALLY_EINVAL, "guests, line %u: strands=A-B out of range (valid: 0 to %u)",
			       r->line, r->strands - 1);
	g->pinned = true;
	g->first = (uint32_t)first;
	g->last = (uint32_t)last;
	o = guests_overlapping(r->to, g);
	return o ? guests_refuse_token(r, "some of these strands belong to another guest", o->name) : 0;
}

static int take_rights(const struct reader *r, struct sun4v_rights *to, const char *text)
{
	struct err e = { 0 };

	if (!text)
		return guests_refuse_token(r, "rights expected: global, strand, htstrand, all or none", "");
	return sun4v_rights_parse(to, text, &e) < 0 ? guests_refuse_token(r, e.text, "") : 0;
}

static int take_guest(const struct reader *r, char **rest)
{
	const char *name = strtok_r(NULL, " \t\r", rest), *rights = name ? strtok_r(NULL, " \t\r", rest) : NULL;
	char *strands = rights ? strtok_r(NULL, " \t\r", rest) : NULL;
	struct local_hv_guests *to = r->to;
	struct local_hv_guest *g;
	int rc;

	if (!name || strlen(name) >= LOCAL_HV_NAME)
		return guests_refuse_token(r, "guest name of 1 to 15 bytes expected", name ? name : "");
	for (uint32_t i = 0; i < to->n; i++)
		if (!strcmp(to->guest[i].name, name))
			return guests_refuse_token(r, "guest is given twice", name);
	g = VEC_NEW(to->guest, to->n, to->cap);
	if (!g)
		return err_oom(r->e);
	strcpy(g->name, name);
	rc = take_rights(r, &g->rights, rights);
	if (rc == 0 && strands)
		rc = strncmp(strands, "strands=", 8) ?
			     guests_refuse_token(r, "only strands=A-B can follow the rights", strands) :
			     take_strands(r, g, strands + 8);
	return rc;
}

static int take_line(const struct reader *r, char *line)
{
	char *rest, *word, *more;
	int rc;

	line[strcspn(line, "#")] = '\0';
	word = strtok_r(line, " \t\r", &rest);
	if (!word)
		return 0;
	if (!strcmp(word, "guest"))
		rc = take_guest(r, &rest);
	else if (!strcmp(word, "others"))
		rc = take_rights(r, &r->to->others, strtok_r(NULL, " \t\r", &rest));
	else
		return guests_refuse_token(r, "expected `guest NAME RIGHTS [strands=A-B]` or `others RIGHTS`", word);
	more = rc == 0 ? strtok_r(NULL, " \t\r", &rest) : NULL;
	return more ? guests_refuse_token(r, "unexpected word at the end of the line", more) : rc;
}

int local_hv_guests_parse(struct local_hv_guests *ret, const char *text, size_t n, uint32_t strands, struct err *e)
{
	struct local_hv_guests g = { .others = { true, true, true, true } };
	struct reader r = { &g, 0, strands, e };
	char line[LINE_MOST];
	const size_t mark = text_mark(text, n);
	const char *not_utf8;
	int rc = 0;

	text += mark;
	n -= mark;
	if ((not_utf8 = text_not_utf8(text, n)))
		return err_set(e, TALLY_EINVAL, "%s", not_utf8);
	while (rc == 0 && n) {
		const char *end = memchr(text, '\n', n);
		size_t len = end ? (size_t)(end - text) : n;

		r.line++;
		if (len >= sizeof(line) || memchr(text, '\0', len)) {
			rc = guests_refuse_token(&r, "not a line of text", "");
			break;
		}
		memcpy(line, text, len);
		line[len] = '\0';
		rc = take_line(&r, line);
		len += end != NULL;
		text += len;
		n -= len;
	}
	if (rc < 0)
		local_hv_guests_free(&g);
	else
		*ret = g;
	return rc;
}

void local_hv_guests_free(struct local_hv_guests *g)
{
	mem_free(g->guest);
	*g = (struct local_hv_guests){ 0 };
}
