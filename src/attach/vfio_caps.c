/*
 * vfio_caps.c: what both ends can do, as the JSON of VU_VERSION.
 *
 * A client proposes capabilities in an object "capabilities"; a server may only
 * answer with some of those.  So the text is read for one thing: which of the
 * names that we have a value for are in that object.  Their values are limits of
 * what the client receives, and we send it nothing that comes near them.  The
 * text is checked as a whole, to a bounded depth, since a client that sends
 * something else is better refused than misread.
 */
#include <stdio.h>
#include <string.h>

#include "attach/vfio_int.h"

#define DEPTH_MOST 8u

#define TEXT(x) #x
#define NUMBER(x) TEXT(x)
static const struct {
	const char *name, *value;
} caps[] = {
	{ "max_msg_fds", NUMBER(1) }, { "max_data_xfer_size", NUMBER(4096) }, { "max_dma_maps", NUMBER(256) },
	{ "pgsizes", NUMBER(4096) },  { "write_multiple", "true" },
};
static_assert(VFIO_FDS_MOST == 1 && VFIO_XFER_MOST == 4096 && VFIO_MAPS_MOST == 256 && VFIO_PAGE == 4096,
	      "the table says so");

struct json {
	const char *p, *end;
	uint32_t found;
};
struct text {
	const char *p;
	size_t n;
};

/* What an object's members mean. */
enum place { TOP, CAPABILITIES, ELSEWHERE };

static bool value(struct json *j, enum place here, uint32_t depth);

static void blank(struct json *j)
{
	while (j->p < j->end && strchr(" \t\r\n", *j->p) && *j->p)
		j->p++;
}

static bool symbol(struct json *j, char c)
{
	blank(j);
	if (j->p == j->end || *j->p != c)
		return false;
	j->p++;
	return true;
}

/* The bytes between the quotes, escapes as they stand: none of our names has any. */
static bool string(struct json *j, struct text *ret)
{
	if (!symbol(j, '"'))
		return false;
	ret->p = j->p;
	for (; j->p < j->end && *j->p != '"'; j->p++)
		if ((unsigned char)*j->p < ' ' || (*j->p == '\\' && ++j->p == j->end))
			return false;
	ret->n = (size_t)(j->p - ret->p);
	return symbol(j, '"');
}

static bool is(const struct text *t, const char *name)
{
	return t->n == strlen(name) && !memcmp(t->p, name, t->n);
}

static enum place member(struct json *j, const struct text *name, enum place here)
{
	if (here == TOP)
		return is(name, "capabilities") ? CAPABILITIES : ELSEWHERE;
	for (size_t i = 0; here == CAPABILITIES && i < COUNT(caps); i++)
		if (is(name, caps[i].name))
			j->found |= 1u << i;
	return ELSEWHERE;
}

static bool object(struct json *j, enum place here, uint32_t depth)
{
	struct text name;

	if (symbol(j, '}'))
		return true;
	do {
		if (!string(j, &name) || !symbol(j, ':') || !value(j, member(j, &name, here), depth))
			return false;
	} while (symbol(j, ','));
	return symbol(j, '}');
}

static bool array(struct json *j, uint32_t depth)
{
	if (symbol(j, ']'))
		return true;
	do {
		if (!value(j, ELSEWHERE, depth))
			return false;
	} while (symbol(j, ','));
	return symbol(j, ']');
}

/* A number, true, false or null: nobody asks which. */
static bool word(struct json *j)
{
	const char *from = j->p;

	while (j->p < j->end && *j->p && strchr("+-.0123456789abcdefghijklmnopqrstuvwxyzE", *j->p))
		j->p++;
	return j->p > from;
}

static bool value(struct json *j, enum place here, uint32_t depth)
{
	struct text t;

	blank(j);
	if (depth == DEPTH_MOST || j->p == j->end)
		return false;
	if (symbol(j, '{'))
		return object(j, here, depth + 1);
	if (symbol(j, '['))
		return array(j, depth + 1);
	return *j->p == '"' ? string(j, &t) : word(j);
}

bool vfio_caps_read(const char *json, size_t n, uint32_t *ret)
{
	struct json j = { .p = json, .end = json + n };

	blank(&j);
	if (j.p == j.end || *j.p != '{' || !value(&j, TOP, 0))
		return false;
	blank(&j);
	*ret = j.found;
	return j.p == j.end;
}

size_t vfio_caps_write(char *p, size_t n, uint32_t chosen)
{
	const char *between = "";
	size_t used = 0;

	for (size_t i = 0; i < COUNT(caps); i++) {
		if (!(chosen & 1u << i))
			continue;
		used += (size_t)snprintf(p + used, n - used, "%s\"%s\":%s", *between ? between : "{\"capabilities\":{",
					 caps[i].name, caps[i].value);
		if (used >= n)
			return 0;
		between = ",";
	}
	used += (size_t)snprintf(p + used, n - used, "%s}}", *between ? "" : "{\"capabilities\":{");
	return used < n ? used + 1 : 0;
}
