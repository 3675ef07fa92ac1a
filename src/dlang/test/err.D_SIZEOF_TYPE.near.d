struct point { int x; };
BEGIN { trace(sizeof (struct pont)); }
/* expect-error 2: D_SIZEOF_TYPE cannot apply sizeof to an operand of unknown size; did you mean struct point? */
/* expect-why no struct pont definition is available */
