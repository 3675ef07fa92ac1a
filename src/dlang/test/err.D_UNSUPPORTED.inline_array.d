BEGIN { trace(1); }
inline string name[int k, string other] = k == 0 ? "none" :
	other;
/* expect-error 2: D_UNSUPPORTED inline definitions are not supported yet: inline name */
