inline int one = 1;
#pragma D attributes Stable/Stable/Common/Common one
BEGIN { trace(one); }
/* expect-error 2: D_PRAGMA_INVAL invalid attributes Stable/Stable/Common/Common specified by #pragma attributes */
