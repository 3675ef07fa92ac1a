struct out { int a; int b; };
translator struct out < int T > { a = T; };
inline string __without_b = "nothing has a b here";
BEGIN { trace(xlate < struct out > (1).b); }
/* expect-error 4: D_XLATE_NOCONV translator does not define conversion for member: b: nothing has a b here */
