/*
 * plugin: a shared library with one function, under a name that is given when it is built (PLUGIN_FUNCTION).  It
 * touches so many pages: one page fault each, and nothing else.  It can be run wherever its bytes lie.
 */
void PLUGIN_FUNCTION(volatile char *area, unsigned long pages, unsigned long page);

void PLUGIN_FUNCTION(volatile char *area, unsigned long pages, unsigned long page)
{
	for (unsigned long i = 0; i < pages; i++)
		area[i * page] = 1;
}
