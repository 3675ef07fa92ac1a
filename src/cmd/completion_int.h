/*
 * completion_int.h: what the completion of each shell is made of.
 *
 *	completion.c       what an argument is, from the tables; the verb; bash
 *	completion_zsh.c   zsh
 */
#ifndef TALLY_CMD_COMPLETION_INT_H
#define TALLY_CMD_COMPLETION_INT_H

#include "cmd/cmd_int.h"

/* What is offered for an argument. Names are asked of the program when they are needed, on the platform that the line
 * names: `tally list --names KIND`. */
enum offer { OFFER_NOTHING, OFFER_FILES, OFFER_DIRECTORIES, OFFER_COMMANDS, OFFER_WORDS, OFFER_NAMES, OFFER_PROBES,
	     OFFER_DEVICES, OFFER_TUNABLES };
struct offered {
	enum offer is;
	char suffix;                          /* of devices and tunables: '/', '='; 0: none */
	struct buf words;                     /* WORDS: " word" each; NAMES: the kind. Freed by the caller. */
};
struct offered offer_option(const char *verb, const struct opt *o);
struct offered offer_argument(const char *verb);

void complete_zsh(struct buf *to);

#endif
