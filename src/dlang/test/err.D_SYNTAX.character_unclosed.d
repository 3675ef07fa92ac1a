BEGIN { trace(1); }
/* expect-error 3: D_SYNTAX syntax error near end-of-input; the character constant of line 3 has no closing ' */
END { trace('a