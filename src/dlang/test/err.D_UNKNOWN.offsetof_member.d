struct s {
	int a;
};
BEGIN
{
	trace(offsetof(struct s, b));
}
/* expect-error 6: D_UNKNOWN failed to determine offset of b: Member name not found */
