struct a { int m; };
translator struct a (int n) { m = n; };
/* expect-error 2: D_SYNTAX syntax error near "{" */
/* expect-why a translator is: translator TYPE < TYPE NAME > */
