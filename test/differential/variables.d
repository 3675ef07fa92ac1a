/* Variables of every kind, keyed and not. */
int a[5]; string names[int, string]; struct point { int x; long long y; char tag[8]; }; struct point p; struct point q;
this int n; this string w; self int d; self string text; int assoc[string, int];

BEGIN { a[0] = 1; a[4] = 5; this->n = 2; a[this->n] = 3; trace(a[0]); trace(a[this->n]); trace(a[4]); }
BEGIN { trace(this->n); this->n = 4; trace(a[this->n]); a[this->n] += 10; trace(a[4]); trace(a[1]); }
BEGIN { p.x = 5; p.y = -6; q = p; q.x++; trace(p.x); trace(q.x); trace(q.y); trace(sizeof (struct point)); }
BEGIN { names[1, "a"] = "one"; names[2, "a"] = "two"; trace(names[1, "a"]); trace(names[2, "a"]); trace(names[3, "a"]); }
BEGIN { names[1, "a"] = 0; trace(names[1, "a"]); trace(names[1, "a"] == ""); }
BEGIN { assoc["x", 1] = 5; assoc["x", 1]++; assoc["x", 2] += 7; trace(assoc["x", 1]); trace(assoc["x", 2]); trace(assoc["y", 1]); }
BEGIN { trace(assoc["x", 1]--); trace(--assoc["x", 1]); assoc["x", 2] = 0; trace(assoc["x", 2]); }
BEGIN { self->d = 9; self->text = "mine"; self->k[1] = 3; self->k[2] = self->k[1] * 2; trace(self->d); trace(self->text); }
BEGIN { trace(self->k[1] + self->k[2]); self->d = 0; trace(self->d); self->text = 0; trace(self->text); }
BEGIN { this->w = "word"; trace(strjoin(this->w, "s")); global = 1; global += global; trace(global); x = y = z = 7; trace(x + y + z); }
BEGIN /global == 2/ { trace("predicate held"); }
BEGIN /global == 3/ { trace("never"); }
