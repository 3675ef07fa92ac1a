struct out { int a; };
translator struct out < int T > { a = T; };
translator struct out < int S > { a = S + 1; };
BEGIN { exit(0); }
/* expect-error 3: D_XLATE_REDECL translator from int to struct out has already been declared */
