// Functions of D that touch known numbers of fresh pages: one page fault each.
module shop;
import core.sys.posix.sys.mman;

ubyte* fresh(size_t pages)
{
    return cast(ubyte*) mmap(null, pages * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
}

struct Till
{
    pragma(inline, false) void ring(long pages)
    {
        ubyte* p = fresh(pages);
        foreach (i; 0 .. pages)
            p[i * 4096] = 1;
    }
}

pragma(inline, false) void fill(T)(T pages)
{
    ubyte* p = fresh(pages);
    foreach (i; 0 .. pages)
        p[i * 4096] = 2;
}

void main()
{
    Till t;
    t.ring(2000);
    fill!int(1000);
}
