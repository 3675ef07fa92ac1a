inline int SIZE = 3 + 1;
inline string name[int i] = i == 1 ? "one" : "other";
inline int twice[int x] = x * 2;
int a[SIZE];
BEGIN { trace(SIZE); trace(twice[SIZE]); trace(name[1]); trace(sizeof(a)); }
/* expect-type (args (int 4:int)) */
/* expect-type (args (int 8:int)) */
/* expect-type (args (int 16:size_t)) */
