/* stability.c: the words for how far an interface may change. */
#include "facts/stability.h"

const char *stab_text(unsigned stab)
{
	static const char *const text[STABS] = {
		[STAB_INTERNAL] = "Internal", [STAB_PRIVATE] = "Private",   [STAB_OBSOLETE] = "Obsolete",
		[STAB_EXTERNAL] = "External", [STAB_UNSTABLE] = "Unstable", [STAB_EVOLVING] = "Evolving",
		[STAB_STABLE] = "Stable",     [STAB_STANDARD] = "Standard",
	};

	return stab < STABS ? text[stab] : "Unknown";
}

const char *dep_text(unsigned dep)
{
	static const char *const text[DEPS] = {
		[DEP_UNKNOWN] = "Unknown", [DEP_CPU] = "CPU", [DEP_PLATFORM] = "Platform",
		[DEP_GROUP] = "Group",     [DEP_ISA] = "ISA", [DEP_COMMON] = "Common",
	};

	return dep < DEPS ? text[dep] : "Unknown";
}
