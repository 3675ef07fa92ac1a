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

static bool caps_take_value(struct json *j, enum place here, uint32_t depth);

static void caps_skip_blank(struct json *j)
{
	while (j->p < j->end && strchr(" \t\r\n", *j->p) && *j->p)
		j->p++;
}

static bool caps_take_symbol(struct json *j, char c)
{
	caps_skip_blank(j);
	if (j->p == j->end || *j->p != c)
		return false;
	j->p++;
	return true;
}

/* The bytes between the quotes, escapes as they stand: none of our names has any. */
static bool caps_take_string(struct json *j, struct text *ret)
{
	if (!caps_take_symbol(j, '"'))
		return false;
	ret->p = j->p;
	for (; j->p < j->end && *j->p != '"'; j->p++)
		if ((unsigned char)*j->p < ' ' || (*j->p == '\\' && ++j->p == j->end))
			return false;
	ret->n = (size_t)(j->p - ret->p);
	return caps_take_symbol(j, '"');
}

static bool caps_text_is(const struct text *t, const char *name)
{
	return t->n == strlen(name) && !memcmp(t->p, name, t->n);
}

static enum place caps_member_place(struct json *j, const struct text *name, enum place here)
{
	if (here == TOP)
		return caps_text_is(name, "capabilities") ? CAPABILITIES : ELSEWHERE;
	for (size_t i = 0; here == CAPABILITIES && i < COUNT(caps); i++)
		if (caps_text_is(name, caps[i].name))
			j->found |= 1u << i;
	return ELSEWHERE;
}

static bool caps_take_object(struct json *j, enum place here, uint32_t depth)
{
	struct text name;

	if (caps_take_symbol(j, '}'))
		return true;
	do {
		if (!caps_take_string(j, &name) || !caps_take_symbol(j, ':') ||
		    !caps_take_value(j, caps_member_place(j, &name, here), depth))
			return false;
	} while (caps_take_symbol(j, ','));
	return caps_take_symbol(j, '}');
}

static bool caps_take_array(struct json *j, uint32_t depth)
{
	if (caps_take_symbol(j, ']'))
		return true;
	do {
		if (!caps_take_value(j, ELSEWHERE, depth))
			return false;
	} while (caps_take_symbol(j, ','));
	return caps_take_symbol(j, ']');
}

/* A number, true, false or null: nobody asks which. */
static bool caps_take_word(struct json *j)
{
	const char *from = j->p;

	while (j->p < j->end && *j->p && strchr("+-.0123456789abcdefghijklmnopqrstuvwxyzE", *j->p))
		j->p++;
	return j->p > from;
}

static bool caps_take_value(struct json *j, enum place here, uint32_t depth)
{
	struct text t;

	caps_skip_blank(j);
	if (depth == DEPTH_MOST || j->p == j->end)
		return false;
	if (caps_take_symbol(j, '{'))
		return caps_take_object(j, here, depth + 1);
	if (caps_take_symbol(j, '['))
		return caps_take_array(j, depth + 1);
	return *j->p == '"' ? caps_take_string(j, &t) : caps_take_word(j);
}

bool vfio_caps_read(const char *json, size_t n, uint32_t *ret)
{
	struct json j = { .p = json, .end = json + n };

	caps_skip_blank(&j);
	if (j.p == j.end || *j.p != '{' || !caps_take_value(&j, TOP, 0))
		return false;
	caps_skip_blank(&j);
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
