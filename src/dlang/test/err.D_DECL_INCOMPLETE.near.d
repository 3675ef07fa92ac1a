struct point { int x; };
struct poin p;
BEGIN {}
/* expect-error 2: D_DECL_INCOMPLETE incomplete struct/union/enum struct poin: p; did you mean struct point? */
