#pragma D binding "1.x" pid
/* expect-error 1: D_PRAGMA_INVAL invalid version string 1.x specified by #pragma binding */
