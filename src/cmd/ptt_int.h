/*
 * ptt_int.h: what the verbs over a trace of PCIe packets share: the options that
 * say how records are to be read, the file, where answers go, the progress line.
 */
#ifndef TALLY_CMD_PTT_INT_H
#define TALLY_CMD_PTT_INT_H

#include <tally/ptt.h>

#include "base/file.h"
#include "cmd/cmd_int.h"

struct ptt_args {
	struct cmd_ctx *cx;
	struct tally_ptt_opts o; /* size is set by ptt_args_file() */
	const char *output;      /* -o */
	int fd;
	enum file_origin origin; /* of fd */
	bool begun;              /* written to: until then the output keeps what was in it */
	int write_error;         /* errno of the write that failed, or 0 */
	/* the progress line */
	struct buf reading; /* the file's name, fit for a terminal */
	int64_t shown_ms, started_ms;
	bool on_screen;
};
/* The rows of a verb's table that all share; `state` must begin with struct ptt_args. */
#define PTT_OPTIONS                                                                                                   \
	{ 0, "format", "4dw|8dw", "format of the records, whatever the event says; FILE may have raw records",        \
	  OPT_STEP(ptt_take_format) },                                                                                \
		{ 0, "time", "abs|delta", "whether a record's Time is absolute or counts from the previous record",   \
		  OPT_STEP(ptt_take_time) },                                                                          \
	{                                                                                                             \
		0, "tag14", NULL, "assume 14-bit tags and segments, whatever the file says", OPT_STEP(ptt_take_tag14) \
	}
int ptt_take_format(void *state, const char *value);
int ptt_take_time(void *state, const char *value);
int ptt_take_tag14(void *state, const char *value);
int ptt_take_output(void *state, const char *value);

/* Opens a trace: GO_ON or an exit status. */
int ptt_args_file(struct ptt_args *a, struct tally_ptt **ret, const char *path);
/* Opens -o, or takes stdout; the n paths are what must not be written over. */
int ptt_args_output(struct ptt_args *a, char *const *path, int n);
int ptt_args_spare(struct ptt_args *a, char *const *path, int n); /* only that: for what others write */
int ptt_args_close(struct ptt_args *a, int status);               /* the output; the status that results */
tally_write_fn ptt_args_write, ptt_args_note;                     /* with the struct ptt_args as arg */
tally_progress_fn ptt_args_progress;                              /* the same; a.reading is what is said to be done */
bool ptt_args_is_due(struct ptt_args *a); /* a progress line of another kind: it is to be written now */
void ptt_args_wipe(struct ptt_args *a);   /* the progress line, before something else is said */
/* Says why rc is negative: the exit status. */
int ptt_args_failed(struct ptt_args *a, const struct tally_ptt *t, int rc);
int ptt_args_said(struct ptt_args *a, const char *words, int rc); /* the same, with these words; "": rc's */
/* One character as -x has it; GO_ON or an exit status. */
int ptt_separator(struct ptt_args *a, const char *value, char *ret);

#endif
