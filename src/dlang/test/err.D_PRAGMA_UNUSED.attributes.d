/* ASSERT: a pragma about a name that nothing in the program has is an error. */
#pragma D attributes Stable/Stable/Common nobody
int somebody;
BEGIN { trace(somebody); }
/* expect-error 2: D_PRAGMA_UNUSED unused #pragma attributes */
