#pragma D attributes Stable/Stable/Common provider app
/* expect-error 1: D_PRAGMA_MALFORM malformed #pragma attributes <attributes> provider <name> <component> */
