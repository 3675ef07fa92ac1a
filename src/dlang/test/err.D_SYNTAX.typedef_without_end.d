typedef int number
BEGIN { exit(0); }
/* expect-error 2: D_SYNTAX syntax error near "BEGIN { exit(0); }" */
/* expect-why a typedef is: typedef TYPE NAME; */
