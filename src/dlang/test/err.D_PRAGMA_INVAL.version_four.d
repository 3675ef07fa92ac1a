#pragma D binding "1.2.3.4" pid
/* expect-error 1: D_PRAGMA_INVAL invalid version string 1.2.3.4 specified by #pragma binding */
