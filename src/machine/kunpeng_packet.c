/*
 * kunpeng_packet.c: headers of the packets that cross, as the PTT device sees them.
 *
 * The layouts are those of PCI Express r5.0, 2.2: memory requests with 32-bit and 64-bit addresses, configuration
 * requests of both types, completions with and without data. A DW has TLP byte 0 in bits 31:24. Tags have 10 bits
 * (T9 and T8 are in DW0). Requests of an endpoint carry its attributes and, when it works for a process, a PASID
 * prefix; answers repeat the attributes. MSIs carry neither.
 *
 * It is done only while a device traces: the simulation itself needs no headers.
 */
#include "machine/kunpeng_int.h"

enum { /* Fmt and Type in bits 31:24 */
       READ = 0x00,
       WRITE = 0x40,
       WIDE = 0x20,
       CONFIG_0 = 0x04,
       CONFIG_1 = 0x05,
       COMPLETION = 0x0a,
       COMPLETION_DATA = 0x4a,
};

static uint32_t packet_dw0_kind(uint32_t fmt_type, uint32_t tag, uint32_t length)
{
	return fmt_type << 24 | (tag >> 9 & 1) << 23 | (tag >> 8 & 1) << 19 | (length & 0x3ff);
}

static void show_memory(const struct packet *k, uint32_t dw[static 4], uint32_t requester)
{
	bool write = k->form == PACKET_WRITE, wide = k->address >> 32 != 0;
	uint32_t bytes = write ? k->bytes : k->left, from = (uint32_t)k->address & 3;
	uint32_t dws = packet_data_dws(k->address, bytes);
	uint32_t first = 0xfu << from & 0xf, last = 0xfu >> (-(from + bytes) & 3);

	dw[0] = packet_dw0_kind((write ? WRITE : READ) | (wide ? WIDE : 0), k->tag, dws);
	dw[1] = requester | (k->tag & 0xffu) << 8 | (dws == 1 ? first & last : last << 4 | first);
	dw[2] = wide ? (uint32_t)(k->address >> 32) : (uint32_t)k->address & ~3u;
	dw[3] = wide ? (uint32_t)k->address & ~3u : 0;
}

static void show_config(const struct place *to, const struct packet *k, uint32_t dw[static 4], uint32_t requester)
{
	dw[0] = packet_dw0_kind(to->deep ? CONFIG_1 : CONFIG_0, k->tag, 1);
	dw[1] = requester | (k->tag & 0xffu) << 8 | 0xf;
	dw[2] = (uint32_t)to->bdf << 16 | (uint32_t)k->address;
	dw[3] = 0;
}

static void show_answer(const struct packet *k, uint32_t dw[static 4], uint32_t requester, uint32_t completer)
{
	bool data = k->status == CPL_SC;

	dw[0] = packet_dw0_kind(data ? COMPLETION_DATA : COMPLETION, k->tag,
				data ? packet_data_dws(k->address, k->bytes) : 0);
	dw[1] = completer | (uint32_t)k->status << 13 | (k->left & 0xfffu);
	dw[2] = requester | (k->tag & 0xffu) << 8 | (data ? k->address & 0x7f : 0);
	dw[3] = 0;
}

void packet_show(const struct core *c, const struct packet *k, bool outbound, struct ptt_tlp *ret)
{
	const struct place *at = &c->place[k->place];
	uint32_t requester = (uint32_t)c->requester[k->requester].id << 16;
	bool marked = k->requester < PLACES && k->what != USE_MSI;

	ret->now = c->now;
	ret->prefix = 0;
	ret->port = at->port_bit;
	ret->function = at->bdf;
	ret->outbound = outbound;
	ret->cls = k->form & 3;
	if (k->form == PACKET_CONFIG)
		show_config(at, k, ret->dw, requester);
	else if (ret->cls >= PTT_CLASS_CPL_A)
		show_answer(k, ret->dw, requester, (uint32_t)c->requester[k->completer].id << 16);
	else
		show_memory(k, ret->dw, requester);
	if (marked) {
		ret->dw[0] |= c->place[k->requester].attr;
		ret->prefix = ret->cls < PTT_CLASS_CPL_A ? c->place[k->requester].prefix : 0;
	}
}
