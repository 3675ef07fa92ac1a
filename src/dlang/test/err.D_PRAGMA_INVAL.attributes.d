inline int one = 1;
#pragma D attributes Stable/Foo/Common one
BEGIN { trace(one); }
/* expect-error 2: D_PRAGMA_INVAL invalid attributes Stable/Foo/Common specified by #pragma attributes */
