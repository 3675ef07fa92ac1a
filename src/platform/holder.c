/* holder.c: who holds the hardware counters, in words. */
#include "kernel/kernel.h"
#include "platform/holder.h"

void holder_text(struct buf *to, const struct lease_holder *h)
{
	char name[80];

	buf_puts(to, lease_kind_name(h->kind));
	k_process_command(h->pid, name, sizeof(name));
	buf_printf(to, " (process %d, %s)", h->pid, name);
}

uint32_t holder_list(struct lease_holder *v, uint32_t cap)
{
	return lease_list(NULL, v, cap);
}

int holder_take_at(struct lease **ret, const char *root, enum lease_kind kind, struct err *e)
{
	struct lease_holder other;
	struct buf words = { 0 };
	struct err why = { 0 };
	int rc = lease_take(ret, root, kind, &other, &why);

	if (rc != -TALLY_EBUSY || !other.pid)
		return rc < 0 ? err_set(e, -rc, "%s", why.text) : rc;
	holder_text(&words, &other);
	rc = err_set(e, TALLY_EBUSY,
		     "the hardware counters are held by %s: wait for its end, or use --share to let "
		     "the kernel multiplex",
		     words.p ? words.p : "another process");
	buf_free(&words);
	return rc;
}

int holder_take(struct lease **ret, enum lease_kind kind, struct err *e)
{
	return holder_take_at(ret, NULL, kind, e);
}
