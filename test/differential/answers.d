/* Bytes, floating-point zeros, empty stacks, variables without room. */
#pragma D option dynvarsize=32
struct s { int a; char b[3]; } s;
int a[6];
double d;
float f;
BEGIN { s.a = 258; s.b[0] = 'x'; trace(s); trace(s.b); trace(d); printf("%f %g %.0f %.0d", d, f, d, 0); }
BEGIN { a[2] = 0x12345678; i = 2; tracemem(&a[1], 12); tracemem(&a[1], 12, i); tracemem(&a[1], 12, -i); tracemem(&a[1], 12, i - 2); }
BEGIN { print(s); print(a[2]); print("text"); print(i); }
BEGIN { stack(); trace(stackdepth); @[stack()] = count(); printa("%k %@d", @); }
BEGIN { v[1] = 1; v[2] = 2; trace("two have room"); v[3] = 3; n = 1; }
BEGIN { v[4] = 4; trace("never"); n = 2; }
BEGIN { trace(v[1] + v[2] + v[3] + v[4]); trace(n); w["a", 1] = 5; trace("never"); }
BEGIN { exit(0); }
