struct out { int a; int b; };
translator struct out < int T > { a = T; };
inline string __nothing = "nothing has a b here";
inline string __without_b = __nothing;
BEGIN { trace(xlate < struct out > (1).b); }
/* expect-error 5: D_XLATE_NOCONV translator does not define conversion for member: b: nothing has a b here */
