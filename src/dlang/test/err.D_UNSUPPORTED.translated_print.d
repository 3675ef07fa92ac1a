struct in { int n; };
struct out { int m; };
translator struct out < struct in *I > { m = I->n; };
BEGIN { print(xlate < struct out * > ((struct in *)8)); }
/* expect-error 4: D_UNSUPPORTED a translated struct has no value as a whole: take its members */
