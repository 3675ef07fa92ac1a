BEGIN { trace(sizeof("hi")); trace(sizeof(NULL)); trace(DTRACEFLT_BADSTACK); }
/* expect-type (int 3:size_t) */
/* expect-type (int 4:size_t) */
/* expect-type (int 9:int) */
