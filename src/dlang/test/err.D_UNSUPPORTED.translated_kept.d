struct in { int n; };
struct out { int m; };
translator struct out < struct in *I > { m = I->n; };
struct out *kept;
BEGIN { kept = xlate < struct out * > ((struct in *)8); }
/* expect-error 5: D_UNSUPPORTED a translated pointer leads to no struct once it is kept: keep the struct (x = *pointer) or a member */
