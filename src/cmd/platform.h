/*
 * platform.h: what the verbs over a platform share: where it is, how strictly
 * it is asked, how answers look, where they go.
 *
 * A verb's state begins with struct plat_args, which begins with struct ptt_args:
 * its -o, its progress line and its notes are the same.
 */
#ifndef TALLY_CMD_PLATFORM_H
#define TALLY_CMD_PLATFORM_H

#include <tally/platform.h>

#include "cmd/ptt_int.h"

struct plat_args {
	struct ptt_args a;
	struct tally_platform_opts o;
	struct tally_out to;
	const char *form;         /* the option that chose it, or NULL */
	struct tally_platform *p; /* after plat_args_open() */
};
/* Rows that all verbs over a platform have. */
#define PLAT_OPTIONS                                                                                           \
	{ 0, "on", "WHERE",                                                                                    \
	  "local: this machine (default); kunpeng, niagara, maramba, batoka, power: models; unix:PATH",        \
	  OPT_STEP(plat_take_on) },                                                                            \
	{                                                                                                      \
		0, "profile", "NAME",                                                                          \
			"spec (default), driver (as the Linux driver) or opensparc (as Niagara's hypervisor)", \
			OPT_STEP(plat_take_profile)                                                            \
	}
/* Of those that let a model run. */
#define PLAT_LOAD_OPTION                                                                                  \
	{                                                                                                 \
		0, "load", "NAME", "workload of a model; same as load= in --on", OPT_STEP(plat_take_load) \
	}
/* Rows of those that answer with a table. */
#define PLAT_FORM_OPTIONS                                                                      \
	{ 0, "json", NULL, "one JSON object per line", OPT_STEP(plat_take_json) },             \
		{ 'x', NULL, "SEPARATOR", "fields separated by SEPARATOR, with a header line", \
		  OPT_STEP(plat_take_separator) },                                             \
	{                                                                                      \
		'o', NULL, "FILE", "write to FILE; its suffix .json or .csv sets the format",  \
			OPT_STEP(ptt_take_output)                                              \
	}
/* For -h of verbs that run a model: what load= may be, of all models or of that with PTT devices. */
void plat_help_loads(struct buf *to);
void plat_help_ptt_loads(struct buf *to);
int plat_take_on(void *state, const char *value);
int plat_take_profile(void *state, const char *value);
int plat_take_load(void *state, const char *value);
int plat_take_json(void *state, const char *value);
int plat_take_separator(void *state, const char *value);

/* Opens the platform, and -o where the verb answers with a table (NULL: it does not): GO_ON or an exit status. */
int plat_args_open(struct plat_args *a, const char *verb);
/* Closes both: the status that results. */
int plat_args_close(struct plat_args *a, int status);
/* Says why rc is negative: the exit status. */
int plat_args_failed(struct plat_args *a, int rc);

#endif
