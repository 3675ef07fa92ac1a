struct out { int a; };
struct in { int b; };
translator struct out < struct in *T > { a = T->b; };
BEGIN { trace(xlate < struct out > ("text").a); }
/* expect-error 4: D_XLATE_NONE cannot translate from "string" to "struct out" */
