/* stability.h: how far an interface may change (attributes(5) of Solaris; DTrace Guide, "Stability"), from the least
 * sure to the surest. */
#ifndef TALLY_FACTS_STABILITY_H
#define TALLY_FACTS_STABILITY_H

#include <stdint.h>

enum stab {
	STAB_INTERNAL,
	STAB_PRIVATE,
	STAB_OBSOLETE,
	STAB_EXTERNAL,
	STAB_UNSTABLE,
	STAB_EVOLVING,
	STAB_STABLE,
	STAB_STANDARD,
	STABS
};
/* of which machines it is */
enum dep { DEP_UNKNOWN, DEP_CPU, DEP_PLATFORM, DEP_GROUP, DEP_ISA, DEP_COMMON, DEPS };

const char *stab_text(unsigned stab); /* "Evolving"; "Unknown": there is none */
const char *dep_text(unsigned dep);   /* "Common" */

#endif
