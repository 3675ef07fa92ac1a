inline N = 5;
/* expect-error 1: D_SYNTAX syntax error near "N = 5;" */
/* expect-why an inline is: inline TYPE NAME = EXPRESSION; */
