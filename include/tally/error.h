/*
 * tally/error.h: what can go wrong, as one list.
 *
 * Every function of libtally that can fail returns a negative value of
 * `enum tally_err`; the words for people are kept in the handle.
 */
#ifndef TALLY_ERROR_H
#define TALLY_ERROR_H

/* tag, what it means */
/* clang-format off */
#define TALLY_ERRORS(X)                                                     \
	X(NOMEM, "out of memory")                                           \
	X(SYNTAX, "the D program does not compile")                         \
	X(NOPROBE, "no such probe")                                         \
	X(INVAL, "an argument is not valid")                                \
	X(NOTSUP, "not supported on this machine or kernel")                \
	X(PERM, "not permitted")                                            \
	X(BUSY, "the counters are taken")                                   \
	X(VERIFY, "the kernel refused the program")                         \
	X(IO, "reading or writing failed")                                  \
	X(CORRUPT, "bytes are not what they should be")                     \
	X(STATE, "not possible in this state")                              \
	X(END, "no more")
/* clang-format on */

#if defined(__GNUC__)
#define TALLY_API __attribute__((visibility("default")))
#else
#define TALLY_API
#endif

enum tally_err {
	TALLY_OK,
#define X(tag, text) TALLY_E##tag,
	TALLY_ERRORS(X)
#undef X
};

#ifdef __cplusplus
extern "C" {
#endif

/* The meaning of an error code (positive or negative), never NULL. */
TALLY_API const char *tally_strerror(int err);

#ifdef __cplusplus
}
#endif

#endif
