/* Functions of C++ that touch known numbers of fresh pages: one page fault each. With an argument it waits to be ended. */
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

static char *fresh(size_t pages)
{
	return static_cast<char *>(mmap(NULL, pages * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

namespace shop {
struct till {
	void ring(char *p, long pages);
	void ring(char *p, int pages);
};
template <typename T> struct shelf {
	void fill(T *p, long pages);
};
__attribute__((noinline)) void till::ring(char *p, long pages)
{
	for (long i = 0; i < pages; i++)
		static_cast<volatile char *>(p)[i * 4096] = 1;
}
__attribute__((noinline)) void till::ring(char *p, int pages)
{
	for (int i = 0; i < pages; i++)
		static_cast<volatile char *>(p)[i * 4096L] = 2;
}
template <typename T> __attribute__((noinline)) void shelf<T>::fill(T *p, long pages)
{
	for (long i = 0; i < pages; i++)
		static_cast<volatile T *>(p)[i * 4096] = 3;
}
}

int main(int argc, char **)
{
	shop::till t;
	shop::shelf<char> s;

	t.ring(fresh(2000), 2000L);
	t.ring(fresh(1000), 1000);
	s.fill(fresh(500), 500L);
	return argc > 1 ? pause() : 0;
}
