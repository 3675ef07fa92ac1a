/* Variables of floating point have their room; nothing computes with them. */
typedef long double wide_t;
float f;
double d;
wide_t w;
BEGIN { trace(sizeof(f) + sizeof(d) + sizeof(w)); }
/* expect-type 28 */
