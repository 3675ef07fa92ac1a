BEGIN
{
	trace(`max_pfn);
}
/* expect-error 3: D_UNSUPPORTED kernel symbols are not supported yet: `max_pfn */
