struct b {
	unsigned a : 3, b : 5;
	int : 0;
	int c : 31;
	int : 4;
	long d : 40;
	unsigned char e : 8;
};
BEGIN
{
	trace(((struct b *)arg0)->b);
	trace(((struct b *)arg0)->c);
	trace(((struct b *)arg0)->d);
	trace(((struct b *)arg0)->e);
	trace(sizeof (struct b));
}
/* expect-type (member +0 bits 3..7:unsigned int */
/* expect-type (member +4 bits 0..30:int */
/* expect-type (member +8 bits 4..43:long */
/* expect-type (member +14 bits 0..7:unsigned char */
/* expect-type (int 16:size_t) */
