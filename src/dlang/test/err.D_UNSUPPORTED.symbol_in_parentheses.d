BEGIN
{
	trace((`max_pfn) * (`max_pfn * 2));
}
/* expect-error 3: D_UNSUPPORTED kernel symbols are not supported yet: `max_pfn */
