/*
 * platform.h: a platform: what --on names, and the handle on it.  What is done with one are rooms to the right: ask/
 * and capture/, which together are tally/platform.h.
 *
 *	on.c            what --on takes
 *	platform.c      the handle, its words, its PTT devices
 *	hv.c            its transport to a hypervisor (hv.h)
 *	transport*.c    the transports that are made here (transport.h)
 *	loads.c         what the models can run
 *	machine*.c      models that run for others: behind servers, with machine code
 *	hv_api.c        tally/hv.h: models for somebody else's emulator
 *	holder.c        leases, with words (holder.h)
 */
#ifndef TALLY_PLATFORM_PLATFORM_H
#define TALLY_PLATFORM_PLATFORM_H

#include <tally/platform.h>

#include "answer/emit.h"
#include "base/base.h"
#include "base/file.h"
#include "hv/sun4v_guest.h"
#include "machine/machine.h"
#include "platform/transport.h"
#include "ptt/pmu.h"
#include "ptt/rule.h"

/* ---- what --on names -------------------------------------------------------------- */
struct tally_platform;
enum plat_kind {
	PLAT_LOCAL, /* this machine */
	PLAT_MODEL, /* in this process: it is new each time */
	PLAT_REMOTE,
	PLAT_SAVED /* a file: readings that do not change */
};
struct plat_row {
	const char *name; /* "local", "kunpeng"; "unix" and a file are written with a path */
	const char *text;
	/* Its PTT devices; NULL: none. */
	int (*ptt)(struct tally_platform *p, struct ptt_pmus *ret, struct err *e);
	/* The transport to its hypervisor; NULL: none. */
	int (*transport)(struct tally_platform *p, struct hv_transport *ret, struct err *e);
	enum plat_kind is;
	uint8_t keys; /* enum plat_family: which keys it takes; 0: none */
};
enum plat_family {
	PLAT_KUNPENG = 1,
	PLAT_NIAGARA = MODEL_NIAGARA,
	PLAT_VFALLS = MODEL_VFALLS,
	PLAT_POWER = MODEL_POWER
};
struct plat_on {
	const struct plat_row *row;
	const char *path;            /* unix, file: within the text that was parsed */
	struct kunpeng_opts kunpeng; /* kunpeng: its keys */
	struct model_opts hv;        /* niagara, maramba, batoka, power: theirs; machine is row->name */
	char socket[128];            /* unix: the path without the keys behind it; "": there are none */
	char guest[16];              /* unix: which guest of a sun4v machine; "": one without a name */
	uint32_t partition;          /* unix: which partition of a POWER machine; 0: 1 */
};
/* "local", "kunpeng,seed=7,load=nvme", "unix:/run/x". NULL: "local". -TALLY_EINVAL: the words name what is unknown and
 * what is near. */
int plat_parse(struct plat_on *ret, const char *on, struct err *e);
const struct plat_row *plat_row(uint32_t i);                  /* NULL past the last */
const char *plat_key(const struct plat_row *row, uint32_t i); /* its keys: NULL past the last */
/* As load= of the text: -TALLY_EINVAL also where there is no model. */
int plat_on_load(struct plat_on *on, const char *load, struct err *e);
/* As profile=opensparc of the text: -TALLY_EINVAL also where there is no sun4v model. */
int plat_on_opensparc(struct plat_on *on, struct err *e);

/* ---- the handle --------------------------------------------------------------------- */
struct tally_platform {
	/* set by _open, then read-only */
	struct tally_platform_opts o;
	char *name, *sysfs; /* copies; name is what --on said */
	char *asked;        /* " --on NAME", "" for this machine: ends a command that the user is told */
	struct plat_on on;
	enum ptt_profile profile;
	/* opened when first asked for */
	struct ptt_pmus ptt;
	bool has_ptt;
	bool is_open; /* tally_platform_open() went well */
	struct hv_transport transport;
	bool has_transport, has_run; /* has_run: a model, for opts.run_ns */
	struct transport_file file;  /* --on FILE: what is in it */
	struct sun4v_client *client;
	/* of the call */
	struct buf out;
	struct an_emit emit; /* into out, in the form that the caller wants */
	struct err err;
};
/* A call starts: no error yet, nothing to hand over. -TALLY_ESTATE: the handle is that of an open that failed. */
int plat_enter(struct tally_platform *p);
int plat_fail(struct tally_platform *p, enum tally_err code, const char *fmt, ...) PRINTF_LIKE(3, 4);
int plat_oom(struct tally_platform *p);
void plat_note(struct tally_platform *p, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* After something was set: what is set on a model of this process is lost when it ends. */
void plat_note_not_kept(struct tally_platform *p);
/* What is in p->out goes to `to`. -TALLY_EIO when it isn't taken, -TALLY_ENOMEM when it was cut short. */
int plat_flush(struct tally_platform *p, const struct tally_out *to);
/* The caller's struct over a zeroed one of ours; -TALLY_EINVAL: bytes that we don't know are set. */
int plat_take(struct tally_platform *p, void *to, size_t ours, const void *from);
/* p->emit answers as `to` wants it. -TALLY_EINVAL: answers of a platform do not come in that format. */
int plat_emit_open(struct tally_platform *p, const struct tally_out *to);

/* ---- PTT devices ------------------------------------------------------------------------ */
/* Opens them once, and lists them: valid until the next call. -TALLY_ENOTSUP: the words name a model that has some.
 * Errors are in p->err. */
int plat_ptt_list(struct tally_platform *p, const struct ptt_pmu **ret, uint32_t *n);
/* The device of that name (n bytes of it): its index in *ret. -TALLY_EINVAL names the nearest. */
int plat_ptt_device(struct tally_platform *p, const char *name, size_t n, uint32_t *ret);

#endif
