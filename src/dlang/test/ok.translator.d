struct in { int ii; char ic; } in;
struct out { int oi; char oc; int sum; };
translator struct out < struct in T > { oi = T.ii; oc = T.ic; };
translator struct out < struct in *T > { sum = T->ii + T->ic; };
inline struct out here = xlate < struct out > (in);
BEGIN { trace(here.oi); trace(xlate < struct out > (in).oc); trace((xlate < struct out * > ((struct in *)arg0))->sum); }
/* expect-type (args (member +0:int (var in:struct in))) */
/* expect-type (args (member +4:char (var in:struct in))) */
