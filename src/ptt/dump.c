/*
 * dump.c: a decoded record as one line: for people, as JSON, as CSV.
 *
 * A line for people says only what the type has: "-" stands where it has
 * nothing, and what the specification leaves reserved is shown as its bits, marked
 * as such.  JSON and CSV carry every field of tlp_field.def, so that a program
 * need not know which type has what.
 */
#include "ptt/dump_int.h"

#define ROOM 4096      /* far above the longest record in any form */
#define DEVICE_MOST 31 /* of a device's name in a line for people */

#define H1(h) h "0" h "1" h "2" h "3" h "4" h "5" h "6" h "7" h "8" h "9" h "a" h "b" h "c" h "d" h "e" h "f"
const char dump_hex[256 * 2 + 1] = H1("0") H1("1") H1("2") H1("3") H1("4") H1("5") H1("6") H1("7") H1("8") H1("9")
	H1("a") H1("b") H1("c") H1("d") H1("e") H1("f");

/* ---- numbers ---------------------------------------------------------------- */
static char *dump_dec(char *p, uint64_t v)
{
	char digit[20];
	int n = 0;
	do {
		digit[n++] = (char)('0' + v % 10);
		v /= 10;
	} while (v != 0);
	while (n > 0)
		*p++ = digit[--n];
	return p;
}

static char *dump_dec_right(char *p, uint64_t v, int width)
{
	char digits[20];
	int n = (int)(dump_dec(digits, v) - digits);
	p = dump_pad(p, p, width - n);
	memcpy(p, digits, (size_t)n);
	return p + n;
}

char *dump_hex_short(char *p, uint64_t v)
{
	int shift = v != 0 ? (63 - __builtin_clzll(v)) & ~3 : 0;
	for (; shift >= 0; shift -= 4)
		*p++ = "0123456789abcdef"[v >> shift & 0xf];
	return p;
}

static char *dump_bdf(char *p, uint16_t segment, uint16_t id)
{
	if (segment != 0) {
		p = dump_byte(p, (uint8_t)(segment >> 8));
		p = dump_byte(p, (uint8_t)segment);
		*p++ = ':';
	}
	p = dump_byte(p, (uint8_t)(id >> 8));
	*p++ = ':';
	p = dump_byte(p, id >> 3 & 0x1f);
	*p++ = '.';
	*p++ = (char)('0' + (id & 7));
	return p;
}

void ptt_bdf_text(char to[PTT_BDF_MOST], uint16_t segment, uint16_t id)
{
	*dump_bdf(to, segment, id) = '\0';
}

/* " name 0x12" and " name 12". */
static char *dump_put_hex(char *p, const char *name, uint64_t v)
{
	*p++ = ' ';
	p = dump_text(p, name);
	p = dump_text(p, " 0x");
	return dump_hex_short(p, v);
}

static char *hex_dw(char *p, const char *name, uint32_t v)
{
	*p++ = ' ';
	p = dump_text(p, name);
	p = dump_text(p, " 0x");
	return dump_hex32(p, v);
}

static char *dump_put_dec(char *p, const char *name, uint64_t v)
{
	*p++ = ' ';
	p = dump_text(p, name);
	*p++ = ' ';
	return dump_dec(p, v);
}

/* ---- what a type has of its own --------------------------------------------------- */
/* PCI-SIG's own messages: vendor-defined, type 1, with vendor 1 in DW2 and a subtype in DW3 (r5.0, 2.2.8.6). */
static const char *sig_message(const struct tlp *t)
{
	if (t->code != 0x7f || (t->address >> 32 & 0xffff) != 1)
		return NULL;
	switch ((uint32_t)t->address >> 24) {
	case 0x00:
		return "LN";
	case 0x01:
		return "Hierarchy_ID";
	case 0x08:
		return "DRS";
	case 0x09:
		return "FRS";
	default:
		return NULL;
	}
}

static char *dump_put_message(char *p, const struct tlp *t)
{
	const char *name = tlp_msg_name(t->code), *sig = sig_message(t);
	p = dump_text(p, name != NULL ? name : "reserved");
	p = dump_put_hex(p, "code", t->code);
	if (sig != NULL) {
		*p++ = ' ';
		p = dump_text(p, sig);
	}
	*p++ = ' ';
	p = dump_text(p, tlp_msg_route(t->route));
	if (t->route == 2) {
		*p++ = ' ';
		p = dump_bdf(p, 0, t->completer);
	} else if (t->route > 5) {
		p = dump_put_dec(p, "route", t->route);
	}
	if (t->address == 0)
		return p;
	p = hex_dw(p, "dw2", (uint32_t)(t->address >> 32));
	return hex_dw(p, "dw3", (uint32_t)t->address);
}

static char *dump_put_completion(char *p, const struct tlp *t)
{
	const char *status = tlp_status_name(t->status);
	if (status != NULL)
		p = dump_text(p, status);
	else
		p = dump_put_dec(dump_text(p, "reserved"), "status", t->status);
	p = dump_bdf(dump_text(p, " from "), 0, t->completer);
	p = dump_put_dec(p, "byte count", t->byte_count);
	p = dump_put_hex(p, "lower address", t->lower_address);
	return t->bcm ? dump_text(p, " bcm") : p;
}

static char *dump_put_unknown(char *p, const struct tlp *t)
{
	p = dump_put_dec(dump_text(p, "header"), "fmt", t->fmt);
	p = dump_put_hex(p, "type", t->type);
	p = hex_dw(p, "dw1", t->dw1);
	p = hex_dw(p, "dw2", (uint32_t)(t->address >> 32));
	return hex_dw(p, "dw3", (uint32_t)t->address);
}

static char *dump_put_what(char *p, const struct tlp *t, const struct tlp_type *type)
{
	switch (type->layout) {
	case TLP_CFG:
		p = dump_bdf(p, 0, t->completer);
		return dump_put_hex(p, "reg", t->reg);
	case TLP_MSG:
		return dump_put_message(p, t);
	case TLP_COMPLETION:
		return dump_put_completion(p, t);
	case TLP_UNKNOWN:
		return dump_put_unknown(p, t);
	default:
		return dump_hex_short(dump_text(p, "0x"), t->address);
	}
}

/* ---- what any type may have --------------------------------------------------------- */
/* A 4DW record has the bit SO in the place of three attributes. */
static char *dump_put_attributes(char *p, const struct tlp *t)
{
	if (t->tc != 0)
		p = dump_put_dec(p, "tc", t->tc);
	if (t->attr & 1)
		p = dump_text(p, " ns");
	if (t->attr & 2)
		p = dump_text(p, t->dws == PTT_4DW ? " so" : " ro");
	if (t->attr & 4)
		p = dump_text(p, " ido");
	if (t->at != 0) {
		static const char *const at[] = { "", " translation request", " translated", " at 3 (reserved)" };
		p = dump_text(p, at[t->at & 3]);
	}
	return p;
}

static char *dump_put_hints(char *p, const struct tlp *t)
{
	p = dump_put_dec(dump_text(p, " th"), "ph", t->ph);
	return dump_put_hex(p, "st", t->st);
}

static char *dump_put_prefix(char *p, const struct tlp *t)
{
	const struct tlp_type *type = tlp_type_of(t->prefix >> 29, t->prefix >> 24 & 0x1f);
	p = hex_dw(p, "prefix", t->prefix);
	if (tlp_type_index(type) == TLP_ROW_PASID) {
		p = dump_put_hex(p, "pasid", t->pasid);
		p = t->pasid_exec ? dump_text(p, " exec") : p;
		return t->pasid_priv ? dump_text(p, " priv") : p;
	}
	*p++ = ' ';
	return dump_text(p, t->prefix >> 29 == 4 ? type->name : "reserved");
}

static char *dump_put_flags(char *p, const struct tlp *t)
{
	static const struct {
		uint8_t offset;
		char text[4];
	} flag[] = {
		{ offsetof(struct tlp, td), " td" },
		{ offsetof(struct tlp, ep), " ep" },
		{ offsetof(struct tlp, ln), " ln" },
	};
	p = dump_put_attributes(p, t);
	for (size_t i = 0; i < COUNT(flag); i++)
		if (((const uint8_t *)t)[flag[i].offset])
			p = dump_text(p, flag[i].text);
	if (t->th)
		p = dump_put_hints(p, t);
	return t->prefix != 0 ? dump_put_prefix(p, t) : p;
}

/* ---- a line for people ---------------------------------------------------------------- */
void ptt_dump_line_header(struct buf *to)
{
	buf_puts(to, "        TIME DEVICE       TYPE         REQUESTER TAG      DW BYTES BE  WHAT\n");
}

/* A name from a file: what would move the cursor is shown as '?'. */
static char *device_name(char *p, const char *name)
{
	char *column = p;
	for (; *name != '\0' && p < column + DEVICE_MOST; name++)
		*p++ = *name > ' ' && *name < 0x7f ? *name : '?';
	return dump_pad(p, column, 12);
}

static char *dump_put_requester(char *p, const struct tlp *t, bool known)
{
	char *column = p;
	p = known ? dump_bdf(p, t->segment, t->requester) : dump_text(p, "-");
	p = dump_pad(p, column, 9);
	*p++ = ' ';
	column = p;
	if (known) {
		p = dump_text(p, t->tag > 0xff ? "0x" : t->tag > 0xf ? "0x0" : "0x00");
		p = dump_hex_short(p, t->tag);
	} else {
		p = dump_text(p, "-");
	}
	return dump_pad(p, column, 6);
}

static char *dump_put_sizes(char *p, const struct tlp *t, const struct tlp_type *type)
{
	bool enables = type->layout <= TLP_CFG;
	p = t->length_dw != 0 ? dump_dec_right(p, t->length_dw, 5) : dump_text(p, "    -");
	p = type->data ? dump_dec_right(p, t->bytes, 6) : dump_text(p, "     -");
	*p++ = ' ';
	if (!enables)
		return dump_text(p, "-  ");
	p = dump_hex_short(p, t->first_be);
	*p++ = '/';
	return dump_hex_short(p, t->last_be);
}

void ptt_dump_line(struct buf *to, const struct tlp *t, const char *device)
{
	const struct tlp_type *type = tlp_type_of(t->fmt, t->type);
	char line[ROOM], *p = dump_dec_right(line, t->time, 12), *column;

	*p++ = ' ';
	p = device_name(p, device);
	*p++ = ' ';
	column = p;
	p = dump_text(p, type->name);
	p = dump_pad(p, column, 12);
	*p++ = ' ';
	p = dump_put_requester(p, t, type->layout != TLP_UNKNOWN);
	p = dump_put_sizes(p, t, type);
	*p++ = ' ';
	p = dump_put_what(p, t, type);
	p = dump_put_flags(p, t);
	*p++ = '\n';
	buf_put(to, line, (size_t)(p - line));
}

/* ---- for programs ---------------------------------------------------------------------- */
static char *dump_put_key(char *p, const char *text, size_t n, uint64_t v)
{
	memcpy(p, text, n);
	return dump_dec(p + n, v);
}

void ptt_dump_json(struct buf *to, const struct tlp *t, const char *device)
{
	char line[ROOM], *p = line;

#define KEY(name) ",\"" #name "\":"
#define FIELD(name, ctype, help) p = dump_put_key(p, KEY(name), sizeof(KEY(name)) - 1, t->name);
#include "facts/tlp_field.def"
#undef FIELD
#undef KEY
	line[0] = '{';
	p = dump_text(p, ",\"type_name\":\"");
	p = dump_text(p, tlp_type_of(t->fmt, t->type)->name);
	p = dump_text(p, "\",\"requester_text\":\"");
	p = dump_bdf(p, t->segment, t->requester);
	p = dump_text(p, "\",\"device_name\":");
	buf_put(to, line, (size_t)(p - line));
	buf_json_str(to, device, strlen(device));
	buf_puts(to, "}\n");
}

void ptt_dump_csv_header(struct buf *to, char separator)
{
#define FIELD(name, ctype, help) buf_puts(to, #name), buf_putc(to, separator);
#include "facts/tlp_field.def"
#undef FIELD
	buf_puts(to, "type_name");
	buf_putc(to, separator);
	buf_puts(to, "requester_text");
	buf_putc(to, separator);
	buf_puts(to, "device_name\n");
}

/* Text that holds the separator, a quote or a line's end is quoted (RFC 4180). */
static void csv_text(struct buf *to, const char *s, char separator)
{
	const char special[] = { separator, '"', '\n', '\r', '\0' };
	if (strpbrk(s, special) == NULL) {
		buf_puts(to, s);
		return;
	}
	buf_putc(to, '"');
	for (; *s != '\0'; s++) {
		if (*s == '"')
			buf_putc(to, '"');
		buf_putc(to, *s);
	}
	buf_putc(to, '"');
}

void ptt_dump_csv(struct buf *to, const struct tlp *t, const char *device, char separator)
{
	char line[ROOM], *p = line;

#define FIELD(name, ctype, help) p = dump_dec(p, t->name), *p++ = separator;
#include "facts/tlp_field.def"
#undef FIELD
	p = dump_text(p, tlp_type_of(t->fmt, t->type)->name);
	*p++ = separator;
	p = dump_bdf(p, t->segment, t->requester);
	*p++ = separator;
	buf_put(to, line, (size_t)(p - line));
	csv_text(to, device, separator);
	buf_putc(to, '\n');
}
