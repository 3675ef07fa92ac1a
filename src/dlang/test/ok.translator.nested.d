struct time { long s; long n; };
struct out { int x; struct time t; };
translator struct time < uint64_t N > { s = N / 10; n = N % 10; };
translator struct out < uint64_t N > { x = 1; t = xlate < struct time > (N + 5); };
inline struct out *now = xlate < struct out * > (timestamp);
BEGIN { trace(xlate < struct out > (timestamp).t.n); trace(now->t.s); }
/* expect-type (args (cast:long (bin %:uint64_t (bin +:uint64_t (builtin timestamp:uint64_t) (int 5:uint64_t)) (int 10:uint64_t)))) */
/* expect-type (args (cast:long (bin /:uint64_t (bin +:uint64_t (builtin timestamp:uint64_t) (int 5:uint64_t)) (int 10:uint64_t)))) */
