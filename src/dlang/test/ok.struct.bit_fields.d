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
/* expect-type (member +1 bits 0..4:unsigned int */
/* expect-type (member +4 bits 0..30:int */
/* expect-type (member +16 bits 0..39:long */
/* expect-type (member +21 bits 0..7:unsigned char */
/* expect-type (int 24:size_t) */
