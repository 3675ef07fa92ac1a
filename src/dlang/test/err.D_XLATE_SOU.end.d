/* The line is that on which the definition ends. */
enum color { RED };
translator enum color < int T >
{
};
/* expect-error 5: D_XLATE_SOU translator output type must be a struct or union */
