struct req { int n; };
struct info { int i_n; };
translator struct info <struct req *r> { i_n = r->n; };
provider app { probe go(struct req *r, char c) : (struct info *r, unsigned long c, struct req *r); };
BEGIN { trace(1); }
