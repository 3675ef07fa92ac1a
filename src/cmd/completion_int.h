/*
 * completion_int.h: what the completion of each shell is made of.
 *
 *	completion.c       what an argument is, from the tables; the verb
 *	completion_bash.c  bash
 *	completion_zsh.c   zsh
 *	completion_fish.c  fish
 */
#ifndef TALLY_CMD_COMPLETION_INT_H
#define TALLY_CMD_COMPLETION_INT_H

#include "cmd/cmd_int.h"

/* What is offered for an argument. Names are asked of the program when they are needed, on the platform that the line
 * names: `tally list --names KIND`. */
enum offer {
	OFFER_NOTHING,
	OFFER_FILES,
	OFFER_DIRECTORIES,
	OFFER_COMMANDS,
	OFFER_WORDS,
	OFFER_NAMES,
	OFFER_PROBES,
	OFFER_DEVICES,
	OFFER_TUNABLES,
	OFFER_PTT_EVENTS,
	OFFER_SELECTORS,
	OFFER_PLATFORMS
};
struct offered {
	enum offer is;
	bool list;        /* of WORDS and NAMES: several, with commas between */
	char suffix;      /* of devices and tunables: '='; 0: none */
	struct buf words; /* WORDS, PLATFORMS: " word" each; NAMES: the kind. Freed by the caller. */
};
struct offered offer_option(const char *verb, const struct opt *o);
struct offered offer_argument(const char *verb);
/* Whether what follows "--" is a command, and not more arguments. */
bool runs_command(const char *verb);
bool takes_value(const struct opt *o); /* as the next word, or behind '=' */
extern const char completion_shells[]; /* " bash zsh fish" */

void complete_bash(struct buf *to);
void complete_zsh(struct buf *to);
void complete_fish(struct buf *to);

#endif
