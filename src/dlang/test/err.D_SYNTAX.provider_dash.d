provider my-app { probe go(); };
/* expect-error 1: D_SYNTAX syntax error near "-" */
/* expect-why a provider definition is: provider NAME { probe NAME(TYPE NAME, ...); ... }; */
