struct out { int a; };
translator struct out < int T > { a = "text"; };
BEGIN { exit(0); }
/* expect-error 2: D_XLATE_INCOMPAT translator member a definition uses incompatible types: "int" = "string" */
