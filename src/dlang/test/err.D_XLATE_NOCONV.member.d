struct out { int a; int b; };
translator struct out < int T > { a = T; };
BEGIN { trace(xlate < struct out > (1).b); }
/* expect-error 3: D_XLATE_NOCONV translator does not define conversion for member: b */
