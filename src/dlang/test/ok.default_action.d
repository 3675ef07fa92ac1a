BEGIN
{
}
/* expect-type clause line 1 default */
