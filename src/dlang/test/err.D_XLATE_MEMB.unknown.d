struct out { int a; };
translator struct out < int T > { b = T; };
BEGIN { exit(0); }
/* expect-error 2: D_XLATE_MEMB translator member b is not a member of struct out */
