struct out { int a; };
translator struct out < int T > { a = T; a = T + 1; };
BEGIN { exit(0); }
/* expect-error 2: D_XLATE_REDECL translator member a is defined twice */
