struct foo { int a; }
BEGIN { exit(0); }
/* expect-error 2: D_SYNTAX syntax error near "{" */
/* expect-why a struct is: struct NAME { TYPE MEMBER; ... }; */
