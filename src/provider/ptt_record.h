/*
 * ptt_record.h: what a record of a PTT trace is to a program: the context of
 * the probes of provider ptt, and the struct behind args[0] and args[1].
 *
 * Numbers are the fields of facts/tlp_field.def and tlp_transaction_field.def.
 * Texts are what their tables say; they are filled in only for programs that
 * read them, since most do not.  What a dump has as text has the same name here.
 */
#ifndef TALLY_PTT_RECORD_H
#define TALLY_PTT_RECORD_H

#include "facts/tlp.h"
#include "provider/provider.h"

/* TEXT(name, bytes, help): members of args[0] of type string; bytes is a multiple of 8 */
/* clang-format off */
#define PTT_TEXTS(TEXT)                                                                            \
	TEXT(name, 16, "text: what packet it is, as MRd64 or CplD")                                 \
	TEXT(classname, 16, "text: P, NP, CPL or reserved")                                         \
	TEXT(statusname, 8, "text, of a completion: SC, UR, CRS or CA; else empty")                 \
	TEXT(message, 32, "text, of a message: as Assert_INTA; else empty")                         \
	TEXT(devicename, 32, "text: as hisi_ptt0_2")                                                \
	TEXT(requester_text, 16, "text: as 01:00.0, with the segment where it is not 0")
/* clang-format on */
/* SAME(member, text): the name that a dump has for one of these texts */
#define PTT_SAME_TEXTS(SAME)  \
	SAME(type_name, name) \
	SAME(device_name, devicename)

struct ptt_record {
	/* args[0] */
	struct tlp tlp;
#define TEXT(name, bytes, help) char name[bytes];
	PTT_TEXTS(TEXT)
#undef TEXT
	/* args[1], of probe transaction */
	struct tlp_transaction transaction;
};
static_assert(offsetof(struct tlp, time) == 0, "arg0 is the first word of the context");
static_assert(sizeof(struct tlp) % 8 == 0 && offsetof(struct ptt_record, transaction) % 8 == 0,
	      "strings are copied by words");

/* Which records fire a probe, in the order in which one record fires them. */
enum ptt_record_kind { RECORD_ANY, RECORD_P, RECORD_NP, RECORD_CPL, RECORD_TRANSACTION, RECORD_KINDS };
enum ptt_record_kind ptt_fires_for(const struct probe *p);

enum ptt_text {
#define TEXT(name, bytes, help) PTT_TEXT_##name,
	PTT_TEXTS(TEXT)
#undef TEXT
		PTT_NTEXTS,
};
/* Which texts a program may read: a bit for each enum ptt_text. */
uint32_t ptt_record_reads(const struct d_program *p);
/* The i-th member of args[0] and what it means; NULL past the end. */
const char *ptt_record_member(uint32_t i, const char **help);
/* Fills those texts in from r->tlp; device: the name of its device. */
void ptt_record_fill(struct ptt_record *r, uint32_t texts, const char *device);

#endif
