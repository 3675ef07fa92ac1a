#pragma D attributes Stable/Stable/Common provider app probes
/* expect-error 1: D_PRAGMA_INVAL invalid component "probes" in attribute #pragma for provider app */
