/* Many independent choices: the verifier must not walk their product. */
int x; int y;
this int f0; this int f1; this int f2; this int f3; this int f4; this int f5; this int f6; this int f7; this int f8; this int f9; this int f10; this int f11; this int f12; this int f13; this int f14; this int f15;
BEGIN { y = 1; }
BEGIN /y > 0/ { this->f0 = 1; }
BEGIN /y > 0/ { this->f1 = 1; }
BEGIN /y > 0/ { this->f2 = 1; }
BEGIN /y > 0/ { this->f3 = 1; }
BEGIN /y > 0/ { this->f4 = 1; }
BEGIN /y > 0/ { this->f5 = 1; }
BEGIN /y > 0/ { this->f6 = 1; }
BEGIN /y > 0/ { this->f7 = 1; }
BEGIN /y > 0/ { this->f8 = 1; }
BEGIN /y > 0/ { this->f9 = 1; }
BEGIN /y > 0/ { this->f10 = 1; }
BEGIN /y > 0/ { this->f11 = 1; }
BEGIN /y > 0/ { this->f12 = 1; }
BEGIN /y > 0/ { this->f13 = 1; }
BEGIN /y > 0/ { this->f14 = 1; }
BEGIN /y > 0/ { this->f15 = 1; }
BEGIN /this->f0/ { x++; }
BEGIN /this->f1/ { x++; }
BEGIN /this->f2/ { x++; }
BEGIN /this->f3/ { x++; }
BEGIN /this->f4/ { x++; }
BEGIN /this->f5/ { x++; }
BEGIN /this->f6/ { x++; }
BEGIN /this->f7/ { x++; }
BEGIN /this->f8/ { x++; }
BEGIN /this->f9/ { x++; }
BEGIN /this->f10/ { x++; }
BEGIN /this->f11/ { x++; }
BEGIN /this->f12/ { x++; }
BEGIN /this->f13/ { x++; }
BEGIN /this->f14/ { x++; }
BEGIN /this->f15/ { x++; }
BEGIN { trace(x); x = ((x > 0 ? 1 : 0) + (x > 1 ? 2 : 0) + (x > 2 ? 3 : 0) + (x > 3 ? 4 : 0) + (x > 4 ? 5 : 0) + (x > 5 ? 6 : 0) + (x > 6 ? 7 : 0) + (x > 7 ? 8 : 0) + (x > 8 ? 9 : 0) + (x > 9 ? 10 : 0) + (x > 10 ? 11 : 0) + (x > 11 ? 12 : 0) + (x > 12 ? 13 : 0) + (x > 13 ? 14 : 0) + (x > 14 ? 15 : 0) + (x > 15 ? 16 : 0) + (x > 16 ? 17 : 0) + (x > 17 ? 18 : 0)) > 100 ? 1 : 2; trace(x); }
BEGIN { @ = quantize((x > 0 ? 1 : 0) + (x > 1 ? 2 : 0) + (x > 2 ? 3 : 0) + (x > 3 ? 4 : 0) + (x > 4 ? 5 : 0) + (x > 5 ? 6 : 0) + (x > 6 ? 7 : 0) + (x > 7 ? 8 : 0) + (x > 8 ? 9 : 0) + (x > 9 ? 10 : 0) + (x > 10 ? 11 : 0) + (x > 11 ? 12 : 0) + (x > 12 ? 13 : 0) + (x > 13 ? 14 : 0) + (x > 14 ? 15 : 0) + (x > 15 ? 16 : 0)); }
string s; string t;
BEGIN { s = "hello"; t = "lo"; trace(index(s, t)); trace(basename(s)); }
