/*
 * power_config.c: a machine from text; doc/power-config.md is the manual.
 *
 * A line is a word and its values; '#' starts a remark.  First the machine, then its cores, then its partitions:
 *
 *	nodes 2            1 to 4
 *	chips 4            of a node, 1 to 5
 *	cores 12           of a chip, 1 to 24
 *	memory 1024        blocks of 256 MB on each chip
 *	clock 125/16       core cycles per tick of the timebase
 *	collection 10      windows between two collections
 *	firmware 6         0, 3, 5, 6, 8
 *	hardware-ids sparse
 *	core 5 guarded     guarded, unlicensed, not-installed
 *	partition 2 name=web type=shared vps=8 entitlement=300 weight=128 uncapped idle=yes rights=all home=1 memory=128
 *	            demand=550 swing=400 period=60 snooze=150 ipc=5/4 traffic=4 writes=250
 *	at 2500 partition 2 vps=12    milliseconds after boot: it comes, or changes
 *	at 9000 delete 2
 *
 * What changes while the machine runs is tried out first, in a machine that does all of it at its start: whether there
 * is room depends on what came before, not on what ran.
 *
 * Words and settings are rows.  An error names the line and the word, and what would do.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "machine/power_int.h"

#define LINE_MOST 512u
#define WORDS_MOST 40u
#define DEFAULT_LMBS 1024u
#define LMBS_MOST (1u << 20)
#define CLOCK_MOST 16u /* cycles per tick: 8.2 GHz */
#define IPC_MOST 10u
#define MS_OF_WINDOW 10u
#define MS_MOST UINT64_C(1000000000)

struct line {
	struct power *p;
	uint32_t number;
	char text[LINE_MOST];
	char *word[WORDS_MOST];
	uint32_t n;
	struct err *e;
};

static int config_refuse_word(const struct line *l, const char *word, const char *why)
{
	return err_set(l->e, TALLY_EINVAL, "line %u: %s: %s", l->number, word, why);
}

/* The line's one value, or its word where there is none: what an error names. */
static const char *value_or_word(const struct line *l)
{
	return l->word[l->n > 1 ? 1 : 0];
}

static int config_refuse_unknown(const struct line *l, const char *word, const char *what, struct text_names names)
{
	char key[24];

	snprintf(key, sizeof(key), "%.*s", (int)strcspn(word, "="), word);
	return err_set(l->e, TALLY_EINVAL, "line %u: %s: no such %s%s", l->number, key, what,
		       err_near("'", key, names).text);
}

static bool config_parse_number(const char *s, uint64_t least, uint64_t most, uint64_t *ret)
{
	char *end;

	if (*s < '0' || *s > '9')
		return false;
	*ret = strtoull(s, &end, 10);
	return !*end && end - s < 19 && *ret >= least && *ret <= most;
}

/* N or N/M, above 0 and at most `most` in value; N and M up to 10000. */
static bool config_parse_fraction(const char *s, uint64_t most, uint64_t *n, uint64_t *d)
{
	char part[16];
	size_t slash = strcspn(s, "/");

	if (slash >= sizeof(part))
		return false;
	memcpy(part, s, slash);
	part[slash] = '\0';
	*d = 1;
	return config_parse_number(part, 1, 10000, n) &&
	       (!s[slash] || config_parse_number(s + slash + 1, 1, 10000, d)) && *n <= most * *d;
}

/* ---- the machine ---------------------------------------------------------------------------------------------- */

/* Cores, chips and links of nodes, chips, cores_of_chip. */
static int config_build_machine(struct power *p, struct err *e)
{
	if (p->nodes * p->chips * p->cores_of_chip > POWER_CORES_MOST || p->nodes * p->chips > CHIPS_MOST)
		return err_set(e, TALLY_EINVAL, "%u nodes of %u chips with %u cores: at most %u chips and %u cores",
			       p->nodes, p->chips, p->cores_of_chip, CHIPS_MOST, POWER_CORES_MOST);
	p->nchips = p->nodes * p->chips;
	p->ncores = p->nchips * p->cores_of_chip;
	for (uint32_t i = 0; i < p->nchips; i++) {
		p->chip[i].node = (uint16_t)(i / p->chips);
		p->chip[i].fabric = (uint16_t)(i % p->chips);
		p->chip[i].lmbs = p->chip[i].free_lmbs = p->lmbs_of_chip;
		p->chip[i].free_even = (p->lmbs_of_chip + 1) / 2;
	}
	for (uint32_t i = 0; i < p->ncores; i++)
		p->core[i] = (struct pcore){ .state = POWER_SHARED,
					     .owner = NOBODY,
					     .logical = NOBODY,
					     .chip = (uint16_t)(i / p->cores_of_chip),
					     .fabric = (uint8_t)(i / p->cores_of_chip % p->chips) };
	power_wire(p);
	return 0;
}

static int config_line_built(struct line *l)
{
	return l->p->ncores ? 0 : config_build_machine(l->p, l->e);
}

/* A number of the machine that stands before its cores and partitions. */
static int config_take_size(struct line *l, uint32_t *what, uint64_t most)
{
	uint64_t v;

	if (l->p->ncores)
		return config_refuse_word(l, l->word[0], "it must come before cores and partitions");
	if (l->n != 2 || !config_parse_number(l->word[1], 1, most, &v))
		return err_set(l->e, TALLY_EINVAL, "line %u: %s: %s must be a number from 1 to %llu", l->number,
			       value_or_word(l), l->word[0], (unsigned long long)most);
	*what = (uint32_t)v;
	return 0;
}

static void set_clock(struct power *p, uint64_t n, uint64_t d)
{
	p->clock_n = n;
	p->clock_d = divisor(d);
	p->mhz = (uint32_t)(POWER_TB_HZ / 1000000 * n / d);
}

static int clock_line(struct line *l)
{
	uint64_t n, d;

	if (l->n != 2 || !config_parse_fraction(l->word[1], CLOCK_MOST, &n, &d))
		return config_refuse_word(l, value_or_word(l), "expected cycles per tick, e.g. 125/16 (at most 16)");
	set_clock(l->p, n, d);
	return 0;
}

static int firmware_line(struct line *l)
{
	uint64_t v;

	if (l->n != 2 || !config_parse_number(l->word[1], 0, 8, &v) || !power_is_level(v))
		return config_refuse_word(l, value_or_word(l), "expected 0, 3, 5, 6 or 8");
	l->p->level = (uint8_t)v;
	return 0;
}

static int ids_line(struct line *l)
{
	l->p->hw_ids_differ = l->n == 2 && !strcmp(l->word[1], "sparse");
	return l->p->hw_ids_differ ? 0 : config_refuse_word(l, value_or_word(l), "expected sparse");
}

static int core_line(struct line *l)
{
	static const struct {
		const char *word;
		uint8_t state;
	} states[] = {
		{ "guarded", POWER_GUARDED },
		{ "unlicensed", POWER_UNLICENSED },
		{ "not-installed", POWER_NOT_INSTALLED },
	};
	uint64_t i;
	int rc = config_line_built(l);

	if (rc < 0)
		return rc;
	if (l->n < 2 || !config_parse_number(l->word[1], 0, l->p->ncores - 1, &i))
		return config_refuse_word(l, value_or_word(l), "no such core");
	if (l->p->core[i].state != POWER_SHARED || l->p->nparts)
		return config_refuse_word(l, l->word[1], "cores must come before partitions, each once");
	for (uint32_t k = 0; l->n == 3 && k < COUNT(states); k++)
		if (!strcmp(l->word[2], states[k].word)) {
			l->p->core[i].state = states[k].state;
			return 0;
		}
	return config_refuse_word(l, l->word[l->n - 1], "expected guarded, unlicensed or not-installed");
}

/* ---- partitions -------------------------------------------------------------------------------------------------- */

static bool config_partition_flag(struct power_partition *q, const char *w)
{
	if (!strcmp(w, "capped") || !strcmp(w, "uncapped"))
		q->capped = *w == 'c';
	else if (!strcmp(w, "donate"))
		q->donate = true;
	else if (!strcmp(w, "spread"))
		q->spread = true;
	else
		return false;
	return true;
}

static bool partition_set_name(struct power_partition *q, const char *v)
{
	return snprintf(q->name, sizeof(q->name), "%s", v) < (int)sizeof(q->name) && *v;
}

static bool partition_set_type(struct power_partition *q, const char *v)
{
	q->dedicated = !strcmp(v, "dedicated");
	return q->dedicated || !strcmp(v, "shared");
}

static bool partition_set_idle(struct power_partition *q, const char *v)
{
	q->reports_idle = !strcmp(v, "yes");
	return q->reports_idle || !strcmp(v, "no");
}

static bool partition_set_rights(struct power_partition *q, const char *v)
{
	struct err e = { 0 };

	return papr_rights_parse(&q->rights, v, &e) >= 0;
}

static bool partition_set_ipc(struct power_partition *q, const char *v)
{
	uint64_t n, d;

	if (!config_parse_fraction(v, IPC_MOST, &n, &d))
		return false;
	q->ipc_n = (uint16_t)n;
	q->ipc_d = (uint16_t)d;
	return true;
}

/* KEY=VALUE: a number of `bytes` at `offset` up to `most`, or what `take` takes. */
struct setting {
	const char *key;
	uint16_t offset;
	uint8_t bytes;
	uint32_t most;
	bool (*take)(struct power_partition *, const char *);
	const char *what;
};
#define NUMERIC(key, field, most, what)                                                                           \
	{                                                                                                         \
		key, offsetof(struct power_partition, field), sizeof(((struct power_partition *)0)->field), most, \
			NULL, what                                                                                \
	}
#define WORDY(key, take, what)           \
	{                                \
		key, 0, 0, 0, take, what \
	}
static const struct setting settings[] = {
	WORDY("name", partition_set_name, "expected 1 to 15 letters"),
	WORDY("type", partition_set_type, "expected shared or dedicated"),
	WORDY("idle", partition_set_idle, "expected yes or no"),
	WORDY("rights", partition_set_rights, "expected all, expanded, lab or none; join several with +"),
	WORDY("ipc", partition_set_ipc, "expected instructions per cycle, e.g. 5/4 (at most 10)"),
	NUMERIC("vps", vps, POWER_CORES_MOST, "expected 0 to 480"),
	NUMERIC("entitlement", entitlement, POWER_CORES_MOST * 100, "expected hundredths of a core, up to 48000"),
	NUMERIC("weight", weight, 255, "expected 0 to 255"),
	NUMERIC("home", home, CHIPS_MOST - 1, "expected a chip, 0 to 31"),
	NUMERIC("memory", memory_lmbs, LMBS_MOST, "expected blocks of 256 MB, up to 1048576"),
	NUMERIC("demand", demand, 1000, "expected 0 to 1000"),
	NUMERIC("swing", swing, 1000, "expected 0 to 1000"),
	NUMERIC("period", period, 60000, "expected windows, up to 60000"),
	NUMERIC("snooze", snooze, 1000, "expected 0 to 1000"),
	NUMERIC("traffic", bytes_per_tick, 1000, "expected bytes per tick, up to 1000"),
	NUMERIC("writes", writes, 1000, "expected 0 to 1000"),
};

static int config_set_partition(struct line *l, struct power_partition *q, const char *w)
{
	const char *names[COUNT(settings) + 4], *value = strchr(w, '=');
	size_t n = strcspn(w, "=");
	uint64_t v;

	for (uint32_t i = 0; value && i < COUNT(settings); i++) {
		const struct setting *k = &settings[i];

		if (strlen(k->key) != n || memcmp(k->key, w, n))
			continue;
		if (k->take ? !k->take(q, value + 1) : !config_parse_number(value + 1, 0, k->most, &v))
			return config_refuse_word(l, w, k->what);
		if (!k->take) {
			uint8_t *to = (uint8_t *)q + k->offset;

			if (k->bytes == 1)
				*to = (uint8_t)v;
			else if (k->bytes == 2)
				memcpy(to, &(uint16_t){ (uint16_t)v }, 2);
			else
				memcpy(to, &(uint32_t){ (uint32_t)v }, 4);
		}
		return 0;
	}
	if (!value && config_partition_flag(q, w))
		return 0;
	for (uint32_t i = 0; i < COUNT(settings); i++)
		names[i] = settings[i].key;
	memcpy(&names[COUNT(settings)], (const char *const[]){ "capped", "uncapped", "donate", "spread" },
	       4 * sizeof(*names));
	return config_refuse_unknown(l, w, "setting", TEXT_NAMES(names, COUNT(names)));
}

/* "ID SETTING..." from word `at` on: of a partition that is there already, what is not said stays. */
static int partition_words(struct line *l, uint32_t at, struct power_partition *q)
{
	const struct ppart *is;
	uint64_t id;
	int rc = 0;

	if (l->n <= at || !config_parse_number(l->word[at], 1, NOBODY - 1, &id))
		return config_refuse_word(l, l->word[l->n > at ? at : at - 1],
					  "expected a partition's number, 1 to 65534");
	is = l->p->rehearsal ? power_part(l->p, (uint16_t)id) : NULL;
	if (is) {
		*q = is->c;
	} else {
		*q = (struct power_partition){
			.weight = 128, .ipc_n = 1, .ipc_d = 1, .vps = 1, .period = 1, .memory_lmbs = 16, .writes = 250
		};
		q->id = (uint16_t)id;
		snprintf(q->name, sizeof(q->name), "lpar%u", q->id);
	}
	for (uint32_t i = at + 1; rc == 0 && i < l->n; i++)
		rc = config_set_partition(l, q, l->word[i]);
	return rc;
}

static int does_not_fit(const struct line *l, int rc, const struct err *e)
{
	return rc < 0 ? err_set(l->e, (enum tally_err) - rc, "line %u: %s", l->number, e->text) : 0;
}

static int partition_line(struct line *l)
{
	struct power_partition q;
	struct err e = { 0 };
	int rc = config_line_built(l);

	if (rc == 0 && l->p->nchanges)
		return config_refuse_word(l, "partition", "initial partitions must come before changes");
	if (rc == 0)
		rc = partition_words(l, 1, &q);
	return rc < 0 ? rc : does_not_fit(l, power_create(l->p, &q, &e), &e);
}

/* ---- changes --------------------------------------------------------------------------------- */

static int change_of(struct line *l, struct pchange *c)
{
	uint64_t id;

	if (!strcmp(l->word[2], "partition")) {
		int rc = partition_words(l, 3, &c->q);

		c->what = rc == 0 && power_part(l->p, c->q.id) ? CHANGE_RESIZE : CHANGE_CREATE;
		return rc;
	}
	if (strcmp(l->word[2], "delete"))
		return config_refuse_unknown(l, l->word[2], "change",
					     TEXT_NAMES(((const char *const[]){ "partition", "delete" }), 2));
	if (l->n != 4 || !config_parse_number(l->word[3], 2, NOBODY - 1, &id))
		return config_refuse_word(
			l, l->word[l->n - 1],
			"expected the number of a partition other than 1, which is the one that asks");
	c->what = CHANGE_DELETE;
	c->q.id = (uint16_t)id;
	return 0;
}

static int at_line(struct line *l)
{
	const struct pchange *last = l->p->nchanges ? &l->p->change[l->p->nchanges - 1] : NULL;
	struct pchange c = { .what = CHANGE_DELETE }, *to;
	struct err e = { 0 };
	uint64_t ms;
	int rc = config_line_built(l);

	l->p->has_changes = true;
	if (rc < 0 || !l->p->rehearsal)
		return rc;
	if (l->n < 3 || !config_parse_number(l->word[1], 0, MS_MOST, &ms))
		return config_refuse_word(l, value_or_word(l),
					  "expected milliseconds and 'partition ID ...' or 'delete ID'");
	c.window = ms / MS_OF_WINDOW + (ms % MS_OF_WINDOW != 0);
	if (last && last->window > c.window)
		return config_refuse_word(l, l->word[1], "changes must be in the order of their times");
	rc = change_of(l, &c);
	if (rc == 0)
		rc = does_not_fit(l, power_change(l->p, &c, &e), &e);
	if (rc < 0)
		return rc;
	to = VEC_NEW(l->p->change, l->p->nchanges, l->p->capchanges);
	if (!to)
		return err_oom(l->e);
	*to = c;
	return 0;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	int (*take)(struct line *l);
	/* take NULL: a number of the machine from 1 up, which stands before its cores and partitions */
	size_t size;
	uint32_t most;
} words[] = {
	{ "nodes", NULL, offsetof(struct power, nodes), NODES_MOST },
	{ "chips", NULL, offsetof(struct power, chips), FABRICS_MOST },
	{ "cores", NULL, offsetof(struct power, cores_of_chip), 24 },
	{ "memory", NULL, offsetof(struct power, lmbs_of_chip), LMBS_MOST },
	{ "clock", clock_line, 0, 0 },
	{ "collection", NULL, offsetof(struct power, collection), 100000 },
	{ "firmware", firmware_line, 0, 0 },
	{ "hardware-ids", ids_line, 0, 0 },
	{ "core", core_line, 0, 0 },
	{ "partition", partition_line, 0, 0 },
	{ "at", at_line, 0, 0 },
};

static int config_take_line(struct line *l)
{
	for (uint32_t i = 0; i < COUNT(words); i++)
		if (!strcmp(l->word[0], words[i].name))
			return words[i].take ?
				       words[i].take(l) :
				       config_take_size(l, (uint32_t *)((char *)l->p + words[i].size), words[i].most);
	return config_refuse_unknown(l, l->word[0], "word", TEXT_NAMES_OF(words, name));
}

static int config_split_line(struct line *l)
{
	char *save = NULL;

	l->n = 0;
	l->text[strcspn(l->text, "#")] = '\0';
	for (char *w = strtok_r(l->text, " \t\r", &save); w; w = strtok_r(NULL, " \t\r", &save)) {
		if (l->n == WORDS_MOST)
			return config_refuse_word(l, w, "too many words in a line");
		l->word[l->n++] = w;
	}
	return 0;
}

int power_configure(struct power *p, const char *text, size_t n, struct err *e)
{
	struct line l = { .p = p, .e = e };
	const char *end = text + n, *not_utf8;
	int rc = 0;

	p->nodes = 1;
	p->chips = 2;
	p->cores_of_chip = 8;
	p->lmbs_of_chip = DEFAULT_LMBS;
	p->collection = 10;
	set_clock(p, 125, 16);
	text += text_mark(text, n);
	if ((not_utf8 = text_not_utf8(text, (size_t)(end - text))))
		return err_set(e, TALLY_EINVAL, "%s", not_utf8);
	while (rc == 0 && text < end) {
		const char *nl = memchr(text, '\n', (size_t)(end - text));
		size_t len = (size_t)((nl ? nl : end) - text);

		l.number++;
		if (len >= LINE_MOST || memchr(text, '\0', len))
			return config_refuse_word(&l, "this line", "it is too long, or not text");
		memcpy(l.text, text, len);
		l.text[len] = '\0';
		rc = config_split_line(&l);
		if (rc == 0 && l.n)
			rc = config_take_line(&l);
		text += len + (nl != NULL);
	}
	return rc < 0 ? rc : config_line_built(&l);
}
