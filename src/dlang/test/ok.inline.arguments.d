/* ASSERT: an argument becomes one of its parameter's type as a key does: by value, a text as a text, NULL as a pointer. */
inline int sized[int8_t a] = a;
inline int none[void *p] = p == NULL;
inline size_t bytes[char *s] = strlen(s);
inline int one[int a] = 1;
inline int uline = 3;
BEGIN { trace(sized[257]); trace(none[0]); trace(none[NULL]); trace(bytes["four"]); trace(one[2]); trace(uline); }
/* expect-type (args (int 1:int)) */
/* expect-type (args (int 3:int)) */
