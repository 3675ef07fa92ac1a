/*
 * Empty braces take the default action, as no braces do.  DTrace Guide, "Actions": who only wants
 * to note that a probe fired writes an empty set of braces; "Default Action": a clause that
 * is left empty takes it.
 */
BEGIN
{
}
END { ; ; }
tick-1s /1/
/* expect-type clause line 6 default */
/* expect-type clause line 9 default */
/* expect-type clause line 10 default */
