/*
 * transport_file_fuzz.c: any bytes as a file of what was saved of a hypervisor: it is taken or refused with words, and
 * what is taken answers its own request, from any record on and into any room, and no other.
 *
 * The first two bytes say where asking starts and how much room there is; the rest is the file.
 */
#include <string.h>

#include "hv/gpci_guest.h"
#include "platform/transport.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_all(struct transport_file *f, int64_t from)
{
	const struct gpci_request *r = gpci_request(f->request, f->reply.level, f->version);
	struct gpci_table t;
	struct err e = { 0 };

	if (!r)
		__builtin_trap();
	if (gpci_read(&t, &f->reply, r, from, &e) < 0) {
		if (!e.code)
			__builtin_trap();
		return;
	}
	for (uint32_t i = 1; i < t.n; i++)
		if (t.v[i].id < t.v[i - 1].id)
			__builtin_trap();
	gpci_table_free(&t);
}

/* By hand, into little room. */
static void ask(struct transport_file *f, uint32_t request, uint8_t from, uint64_t room)
{
	uint64_t r[3] = { PAPR_GPCI, f->reply.base, room };
	struct err e = { 0 };

	gpci_ask(f->reply.memory, f->reply.bytes, request, from == 255 ? -1 : from, 0, f->version);
	if (f->reply.op->papr(f->reply.arg, 0, r, &e) == 0 && request != f->request && (int64_t)r[0] == H_SUCCESS)
		__builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct transport_file f = { .request = 0 };
	struct err e = { 0 };

	if (size < 2)
		return 0;
	if (transport_file_parse(&f, "fuzz", data + 2, size - 2, &e) < 0) {
		if (!e.code || !e.text[0])
			__builtin_trap();
	} else if (f.reply.op) {
		read_all(&f, data[0]);
		read_all(&f, -1);
		ask(&f, f.request, data[0], data[1] * 16u);
		ask(&f, f.request ^ 0x30, data[0], GPCI_MOST);
		transport_close(&f.reply);
	} else if (!f.is_mmustat) {
		__builtin_trap();
	}
	if (mem_live())
		__builtin_trap();
	return 0;
}
