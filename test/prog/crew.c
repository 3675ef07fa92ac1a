/* crew: its thread of the name "worker" makes 30 calls of getppid(), its first one 10. */
#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>

static void *worker(void *arg)
{
	prctl(PR_SET_NAME, "worker");
	for (int i = 0; i < 30; i++)
		getppid();
	return arg;
}

int main(void)
{
	pthread_t t;

	if (pthread_create(&t, NULL, worker, NULL) != 0)
		return 1;
	pthread_join(t, NULL);
	for (int i = 0; i < 10; i++)
		getppid();
	return 0;
}
