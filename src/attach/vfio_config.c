/*
 * vfio_config.c: the configuration space of the PTT device.
 *
 * A type 0 header with one BAR and two capabilities, as bytes and a mask of the
 * bits that a write changes; a BAR is sized by writing ones because its low bits
 * are not writable.  BAR 2 is a 32-bit one: every guest has a window for 64 KiB
 * below 4 GiB.  The function is an endpoint of the root complex: it has no link,
 * so the link registers of the PCI Express capability are zero.  INTx is absent;
 * the one interrupt is an MSI.
 *
 * Sources: PCI Local Bus 3.0, 6.1, 6.2.5 and 6.8; PCI Express Base 5.0, 7.5.3.
 */
#include <string.h>

#include "attach/vfio_int.h"

enum {
	COMMAND = 0x04,
	STATUS = 0x06,
	CLASS = 0x09,
	CACHE_LINE = 0x0c,
	BAR2 = 0x18,
	SUBSYSTEM = 0x2c,
	CAPABILITIES = 0x34,
	IRQ_LINE = 0x3c,
	EXPRESS = 0x40,
	EXPRESS_DEVICE = EXPRESS + 4,
	EXPRESS_CONTROL = EXPRESS + 8,
	MSI = 0x80,
};
#define COMMAND_MASTER 0x04u
#define CONTROL_RESET 0x8000u /* initiate function-level reset; reads 0 */

/* PCI_FIELD(offset, bytes, value, writable bits) */
static const struct {
	uint16_t off, n;
	uint32_t value, writable;
} fields[] = {
	{ 0x00, 4, 0xa12e19e5, 0 }, /* device and vendor */
	{ COMMAND, 2, 0, 0x0546 },  /* memory, master, parity, SERR, INTx disable */
	{ STATUS, 2, 0x0010, 0 },   /* there are capabilities */
	{ CLASS, 3, 0x118000, 0 },  /* signal processing, other */
	{ CACHE_LINE, 1, 0, 0xff },
	{ BAR2, 4, 0, ~(PTT_BAR_SIZE - 1) },
	{ SUBSYSTEM, 4, 0xa12e19e5, 0 },
	{ CAPABILITIES, 1, EXPRESS, 0 },
	{ IRQ_LINE, 1, 0, 0xff },
	{ EXPRESS, 4, 0x00920010 | MSI << 8, 0 }, /* version 2, type 9: endpoint integrated in the root complex */
	{ EXPRESS_DEVICE, 4, 0x10008000, 0 },     /* function-level reset, role-based errors, payload 128 */
	{ EXPRESS_CONTROL, 2, 0x2810, 0x78ff },
	{ MSI, 4, 0x00800005, 0x00710000 }, /* 64 bits of address, one vector */
	{ MSI + 4, 4, 0, 0xfffffffc },
	{ MSI + 8, 4, 0, 0xffffffff },
	{ MSI + 12, 2, 0, 0xffff },
};

void vfio_config_reset(struct vfio_config *c)
{
	memset(c, 0, sizeof(*c));
	for (size_t i = 0; i < COUNT(fields); i++)
		for (uint32_t b = 0; b < fields[i].n; b++) {
			c->byte[fields[i].off + b] = (uint8_t)(fields[i].value >> 8 * b);
			c->writable[fields[i].off + b] = (uint8_t)(fields[i].writable >> 8 * b);
		}
}

void vfio_config_read(const struct vfio_config *c, uint32_t off, void *p, uint32_t n)
{
	uint8_t *to = p;

	for (uint32_t i = 0; i < n; i++, off++)
		to[i] = off < VFIO_CONFIG_KEPT ? c->byte[off] : 0;
}

bool vfio_config_write(struct vfio_config *c, uint32_t off, const void *p, uint32_t n)
{
	const uint8_t *from = p;
	bool reset = false;

	for (uint32_t i = 0; i < n && off < VFIO_CONFIG_KEPT; i++, off++) {
		c->byte[off] = (uint8_t)((c->byte[off] & ~c->writable[off]) | (from[i] & c->writable[off]));
		reset |= off == EXPRESS_CONTROL + 1 && from[i] & CONTROL_RESET >> 8;
	}
	return reset;
}

bool vfio_config_master(const struct vfio_config *c)
{
	return c->byte[COMMAND] & COMMAND_MASTER;
}
