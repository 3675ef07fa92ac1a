struct b {
	_Bool flag : 2;
};
BEGIN { exit(0); }
/* expect-error 2: D_DECL_BFSIZE bit-field too big for type: flag */
