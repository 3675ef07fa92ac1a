/*
 * on.c: what `--on` takes.
 *
 * A platform is a row: a name, how its PTT devices and its hypervisor are reached,
 * and which keys it takes behind commas (machine/model_key.c).  What holds a '/' and is no model's name is a file.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "attach/local_hv.h"
#include "kernel/hv_gpci.h"
#include "kernel/mmu_stats.h"
#include "kernel/ptt_local.h"
#include "platform/hv_machine_int.h"

#define CONFIG_MOST (1u << 20) /* bytes of a machine file */
#define KEYS_MOST 32u

/* ---- platforms -------------------------------------------------------------------------- */

static int local_ptt(struct tally_platform *p, struct ptt_pmus *ret, struct err *e)
{
	return k_ptt_pmus(ret, p->sysfs, e);
}

static int kunpeng_ptt(struct tally_platform *p, struct ptt_pmus *ret, struct err *e)
{
	struct kunpeng *k = NULL;
	int rc = kunpeng_open(&k, &p->on.kunpeng, e);

	return rc < 0 ? rc : kunpeng_pmus(ret, k, e);
}

static const char *socket_of(const struct plat_on *on)
{
	return *on->socket ? on->socket : on->path;
}

/* For a server behind a socket; at the end it has a quarter of that, in all. */
static struct local_wait on_wait(const struct tally_platform *p)
{
	const int ms = p->o.answer_ms < INT_MAX ? (int)p->o.answer_ms : INT_MAX;

	return (struct local_wait){ .answer_ms = ms, .last_ms = ms / 4, .stop = p->o.stop };
}

static int unix_ptt(struct tally_platform *p, struct ptt_pmus *ret, struct err *e)
{
	const struct local_wait w = on_wait(p);

	return local_pmus(ret, socket_of(&p->on), &w, e);
}

/* What this machine's kernel passes on of its hypervisor: on POWER, on sun4v. */
static int kernel_transport_open(struct tally_platform *p, struct hv_transport *ret, struct err *e)
{
	struct err why = { 0 };
	int rc = k_gpci_transport_open(ret, p->sysfs, NULL, &why);

	struct err other = { 0 };

	if (rc != -TALLY_ENOTSUP)
		return rc < 0 ? err_set(e, (enum tally_err) - rc, "%s", why.text) : 0;
	rc = k_mmu_transport_open(ret, p->sysfs, &other);
	if (rc == -TALLY_ENOTSUP)
		return err_set(e, TALLY_ENOTSUP, "%s; and %s", why.text, other.text);
	return rc < 0 ? err_set(e, (enum tally_err) - rc, "%s", other.text) : 0;
}

static int unix_transport_open(struct tally_platform *p, struct hv_transport *ret, struct err *e)
{
	const struct local_transport_opts o = { .guest = *p->on.guest ? p->on.guest : NULL,
						.partition = p->on.partition,
						.wait = on_wait(p) };

	return local_transport_open(ret, socket_of(&p->on), &o, e);
}

/* The options of a model, with the text of its machine file in *config, which is mem_free()d. */
static int model_read_options(const struct plat_on *on, struct model_opts *ret, uint8_t **config, struct err *e)
{
	int rc = 0;

	*ret = on->hv;
	if (*on->hv.config_path) {
		rc = file_read_all(on->hv.config_path, CONFIG_MOST, config, &ret->config_bytes, e);
		ret->config = *config ? (const char *)*config : "";
	}
	return rc;
}

static int model_transport_open(struct tally_platform *p, struct hv_transport *ret, struct err *e)
{
	struct model_opts o;
	uint8_t *config = NULL;
	int rc = model_read_options(&p->on, &o, &config, e);

	if (rc >= 0)
		rc = transport_open(ret, &o, e);
	mem_free(config);
	return rc;
}

bool hv_machine_is(const struct plat_on *on)
{
	return on->row->keys & (PLAT_NIAGARA | PLAT_VFALLS | PLAT_POWER);
}

int hv_machine_open(struct model **ret, const struct plat_on *on, bool idle, struct err *e)
{
	struct model_opts o;
	uint8_t *config = NULL;
	int rc = model_read_options(on, &o, &config, e);

	o.idle = idle;
	o.guests = HV_GUESTS;
	if (rc >= 0)
		rc = model_open(ret, &o, e);
	mem_free(config);
	return rc;
}

static int file_transport_open(struct tally_platform *p, struct hv_transport *ret, struct err *e)
{
	int rc = transport_file_open(&p->file, p->on.path, e);

	if (rc >= 0)
		*ret = p->file.reply;
	return rc;
}

static const struct plat_row rows[] = {
	{ "local", "this machine", local_ptt, kernel_transport_open, PLAT_LOCAL, 0 },
	{ "kunpeng", "a model of PCIe cores with PTT devices", kunpeng_ptt, NULL, PLAT_MODEL, PLAT_KUNPENG },
	{ "niagara", "a model of UltraSPARC T1 with MMU statistics", NULL, model_transport_open, PLAT_MODEL,
	  PLAT_NIAGARA },
	{ "maramba", "a model of two Victoria Falls chips", NULL, model_transport_open, PLAT_MODEL, PLAT_VFALLS },
	{ "batoka", "a model of four Victoria Falls chips with Zambezi hubs", NULL, model_transport_open, PLAT_MODEL,
	  PLAT_VFALLS },
	{ "power", "a model of a POWER machine with partitions", NULL, model_transport_open, PLAT_MODEL, PLAT_POWER },
	{ "unix", "a platform run by another process, through a socket", unix_ptt, unix_transport_open, PLAT_REMOTE,
	  0 },
	{ "file", "saved readings of a hypervisor", NULL, file_transport_open, PLAT_SAVED, 0 },
};
static const struct plat_row *const unix_row = &rows[COUNT(rows) - 2], *const file_row = &rows[COUNT(rows) - 1];

const struct plat_row *plat_row(uint32_t i)
{
	return i < COUNT(rows) ? &rows[i] : NULL;
}

static int no_platform(const char *name, struct err *e)
{
	const char *near = text_nearest(name, (struct text_names){ &rows[0].name, sizeof(rows[0]), COUNT(rows) - 1 });

	if (near)
		return err_set(e, TALLY_EINVAL, "unknown platform '%s'; did you mean '%s'?", name,
			       strcmp(near, "unix") ? near : "unix:PATH");
	return err_set(e, TALLY_EINVAL,
		       "unknown platform '%s' (expected local, kunpeng, niagara, maramba, batoka, power, "
		       "unix:PATH or a file path with a '/')",
		       name);
}

/* ---- keys --------------------------------------------------------------------------------- */

static const char *const kunpeng_keys[] = { "seed", "load" };

static const char *kunpeng_load_name(const void *none, uint32_t i)
{
	const struct kunpeng_load *l = kunpeng_load_at(i);

	(void)none;
	return l ? l->name : NULL;
}

static int kunpeng_set(struct kunpeng_opts *o, const char *key, const char *value, struct err *e)
{
	return strcmp(key, "seed") ? model_load_parse(&o->load, value, kunpeng_load_name, NULL, e) :
				     model_seed_parse(&o->seed, value, e);
}

const char *plat_key(const struct plat_row *row, uint32_t i)
{
	if (row->keys == PLAT_KUNPENG)
		return i < COUNT(kunpeng_keys) ? kunpeng_keys[i] : NULL;
	return model_key(row->keys, i);
}

static int model_or_kunpeng_set(struct plat_on *on, const char *key, const char *value, struct err *e)
{
	return on->row->keys == PLAT_KUNPENG ? kunpeng_set(&on->kunpeng, key, value, e) :
					       model_set(&on->hv, key, value, e);
}

static int no_key(const struct plat_on *on, const char *key, struct err *e)
{
	const char *name[KEYS_MOST];
	uint32_t n = 0;

	while (n < COUNT(name) && (name[n] = plat_key(on->row, n)) != NULL)
		n++;
	return err_set(e, TALLY_EINVAL, "%s: unknown key '%s'%s%s", on->row->name, key,
		       err_unknown(key, TEXT_NAMES(name, n), NULL).text,
		       on->row->keys == PLAT_KUNPENG && !strcmp(key, "profile") ?
			       "; who traces chooses the profile by --profile=NAME" :
			       "");
}

/* seen: bit: that key was there already. */
static int set_key(struct plat_on *on, const char *key, const char *value, uint32_t *seen, struct err *e)
{
	const char *name;

	for (uint32_t i = 0; i < KEYS_MOST && (name = plat_key(on->row, i)) != NULL; i++) {
		if (strcmp(key, name))
			continue;
		if (*seen >> i & 1)
			return err_set(e, TALLY_EINVAL, "%s= is given twice", key);
		*seen |= 1u << i;
		return value && *value ? model_or_kunpeng_set(on, key, value, e) :
					 err_set(e, TALLY_EINVAL, "%s requires a value: %s=...", key, key);
	}
	return no_key(on, key, e);
}

/* "seed=7,load=nvme"; cuts it up. */
static int set_keys(struct plat_on *on, char *text, struct err *e)
{
	uint32_t seen = 0;
	int rc = 0;

	for (char *next; rc >= 0 && text; text = next) {
		next = strchr(text, ',');
		if (next)
			*next++ = '\0';
		char *value = strchr(text, '=');
		if (value)
			*value++ = '\0';
		rc = set_key(on, text, value, &seen, e);
	}
	return rc;
}

int plat_on_load(struct plat_on *on, const char *load, struct err *e)
{
	if (!on->row->keys)
		return err_set(e, TALLY_EINVAL, "--load requires a model: the load of %s cannot be chosen",
			       on->row->name);
	if (on->hv.load || on->kunpeng.load || *on->hv.config_path)
		return err_set(e, TALLY_EINVAL, "the load is given twice: omit --load=%s or load= in --on", load);
	return model_or_kunpeng_set(on, "load", load, e);
}

int plat_on_opensparc(struct plat_on *on, struct err *e)
{
	if (!(on->row->keys & (PLAT_NIAGARA | PLAT_VFALLS)))
		return err_set(e, TALLY_EINVAL,
			       "profile opensparc requires a sun4v machine (niagara, maramba or batoka), not %s",
			       on->row->name);
	if (on->hv.profile_given && !on->hv.opensparc)
		return err_set(e, TALLY_EINVAL, "the profile is given twice: opensparc, and profile=spec behind %s",
			       on->row->name);
	on->hv.opensparc = true;
	return 0;
}

/* ---- the text -------------------------------------------------------------------------------- */

static int unix_key(struct plat_on *on, const char *key, struct err *e)
{
	static const char guest[] = "guest=", partition[] = "partition=";
	const char *value = strchr(key, '=') + 1;
	uint64_t n;

	if (!strncmp(key, guest, sizeof(guest) - 1)) {
		if (*on->guest)
			return err_set(e, TALLY_EINVAL, "guest= is given twice");
		if (!*value || strlen(value) >= sizeof(on->guest))
			return err_set(e, TALLY_EINVAL, "guest=%s: expected a name of 1 to %zu characters", value,
				       sizeof(on->guest) - 1);
		snprintf(on->guest, sizeof(on->guest), "%s", value);
		return 1;
	}
	if (strncmp(key, partition, sizeof(partition) - 1))
		return 0;
	if (on->partition)
		return err_set(e, TALLY_EINVAL, "partition= is given twice");
	if (!text_u64(value, &n) || !n || n > UINT16_MAX)
		return err_set(e, TALLY_EINVAL, "partition=%s: expected a number, 1 or more", value);
	on->partition = (uint32_t)n;
	return 1;
}

/* A path may have commas: what is behind the last ones, and is a key, is one. */
static int parse_unix(struct plat_on *ret, const char *path, struct err *e)
{
	char *comma;
	int rc = 1;

	if (!*path)
		return err_set(e, TALLY_EINVAL, "unix: requires the path of a socket: unix:PATH");
	ret->row = unix_row;
	ret->path = path;
	if ((size_t)snprintf(ret->socket, sizeof(ret->socket), "%s", path) >= sizeof(ret->socket))
		*ret->socket = '\0'; /* nor can a socket be there */
	while (rc > 0 && (comma = strrchr(ret->socket, ',')) != NULL && strchr(comma, '=')) {
		rc = unix_key(ret, comma + 1, e);
		if (rc > 0)
			*comma = '\0';
	}
	return rc < 0 ? rc : 0;
}

/* A name, and keys behind a comma. */
static int parse_name(struct plat_on *ret, char *name, struct err *e)
{
	char *text = strchr(name, ',');

	if (text)
		*text++ = '\0';
	for (const struct plat_row *r = rows; r < unix_row; r++)
		if (!strcmp(name, r->name))
			ret->row = r;
	if (!ret->row)
		return no_platform(name, e);
	ret->hv.machine = ret->row->name;
	if (!text)
		return 0;
	return ret->row->keys ? set_keys(ret, text, e) :
				err_set(e, TALLY_EINVAL, "%s takes no keys: omit ',%s'", name, text);
}

int plat_parse(struct plat_on *ret, const char *on, struct err *e)
{
	struct plat_on o = { .hv.level = MODEL_LEVEL_AS_CONFIGURED };
	char *copy;
	int rc = 0;

	if (!on)
		on = "local";
	if (!strncmp(on, "unix:", 5)) {
		rc = parse_unix(&o, on + 5, e);
	} else if (memchr(on, '/', strcspn(on, ","))) {
		o.row = file_row;
		o.path = on;
	} else {
		copy = mem_strdup(on);
		rc = copy ? parse_name(&o, copy, e) : err_oom(e);
		mem_free(copy);
	}
	if (rc >= 0)
		*ret = o;
	return rc;
}
