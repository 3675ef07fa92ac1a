/* Every integer operator at the edges of its types; nothing is constant, so all of it reaches the code generator. */
int i; unsigned int u; char c; unsigned char uc; short s; unsigned short us; long long l; unsigned long long ul;

BEGIN { i = -7; u = 7; c = 200; uc = 200; s = 40000; us = 40000; l = 1; ul = 0; }
BEGIN { trace(i); trace(u); trace(c); trace(uc); trace(s); trace(us); }
BEGIN { trace(i / 2); trace(i % 2); trace(i / -2); trace(i % -2); trace(u / 2); trace(u % 4); }
BEGIN { trace(i >> 1); trace(u >> 1); trace(i << 3); trace(u << 31); trace(l << 63); trace((l << 63) >> 63); }
BEGIN { trace(i & 5); trace(i | 5); trace(i ^ 5); trace(~i); trace(-i); trace(!i); trace(-u); trace(~u); }
BEGIN { ul = ul - 1; trace(ul); trace(ul / 3); trace(ul % 1000); trace(ul * ul); trace(ul >> 1); }
BEGIN { l = l << 63; trace(l); trace(l / -1); trace(l % -1); trace(l / 2); trace(l % 10); trace(-l); }
BEGIN { i = 2147483647; trace(i + 1); trace(i * 2); trace(i * i); u = i; trace(u + u); trace(u * u); }
BEGIN { trace(i < u); trace(-1 < u); trace(l < 0); trace(ul < 0); trace(c < uc); trace(s == us); trace(i >= 5); }
BEGIN { trace((char)i); trace((short)i); trace((unsigned char)l); trace((int)ul); trace((unsigned int)ul); }
BEGIN { i = 5; trace(i++); trace(++i); trace(i--); trace(--i); trace(i); }
BEGIN { i = 5; i += 7; trace(i); i -= 20; trace(i); i *= 3; trace(i); i /= 4; trace(i); i %= 4; trace(i); }
BEGIN { i = 12; i <<= 2; trace(i); i >>= 3; trace(i); i &= 7; trace(i); i |= 24; trace(i); i ^= 31; trace(i); }
BEGIN { c = 127; c++; trace(c); uc = 255; uc++; trace(uc); s = 32767; s += 1; trace(s); us = 0; us--; trace(us); }
BEGIN { i = 3; trace(i && 0); trace(i && 2); trace(0 || i); trace(i ^^ 1); trace(i ^^ 0); trace(!i || !0); }
BEGIN { trace(i > 2 ? i < 4 ? 1 : 2 : 3); trace((i, 9)); trace(i == 3 ? "three" : "other"); }
BEGIN { trace(sizeof (int)); trace(sizeof (i)); trace('x'); trace(0x7fffffffffffffff); trace(0777); }
