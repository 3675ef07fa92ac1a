BEGIN
{
	trace(`max_pfn);
}
/* expect-error 3: D_UNSUPPORTED `max_pfn is a symbol of a kernel: there is none where this runs */
