BEGIN { a[1] = (2);
	trace((int)a[1]); trace(sizeof(int)); trace(
		1 + /* expect-error 4: D_SYNTAX syntax error near end-of-input; the "(" of line 2 has no ")" */
