/*
 * early: writes a line from a constructor, and one from main().
 *
 *	early [SIGNAL]	the constructor also sends itself that signal, which is ignored
 */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static void say(const char *text, size_t n)
{
	if (write(1, text, n) != (ssize_t)n)
		_exit(3);
}

__attribute__((constructor)) static void construct(int argc, char **argv)
{
	if (argc > 1) {
		signal(atoi(argv[1]), SIG_IGN);
		raise(atoi(argv[1]));
	}
	say("constructor\n", 12);
}

int main(void)
{
	say("main\n", 5);
	return 4;
}
