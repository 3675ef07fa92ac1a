/*
 * vfio_wire.h: vfio-user as it is on the socket.
 *
 * Numbers and layouts of the protocol's version 0.1, from its public
 * specification (QEMU, docs/interop/vfio-user.rst; where that refers to
 * <linux/vfio.h>, its values).  Integers have the byte order of the host: both
 * ends are on one.  Offsets are from the end of the 16-byte header, with which
 * every message and every reply begins.
 */
#ifndef TALLY_VFIO_WIRE_H
#define TALLY_VFIO_WIRE_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define VU_MAJOR 0
#define VU_MINOR 1

enum vu_command {
	VU_VERSION = 1,
	VU_DMA_MAP = 2,
	VU_DMA_UNMAP = 3,
	VU_DEVICE_GET_INFO = 4,
	VU_DEVICE_GET_REGION_INFO = 5,
	VU_DEVICE_GET_REGION_IO_FDS = 6,
	VU_DEVICE_GET_IRQ_INFO = 7,
	VU_DEVICE_SET_IRQS = 8,
	VU_REGION_READ = 9,
	VU_REGION_WRITE = 10,
	VU_DMA_READ = 11, /* 11 and 12 go from the server to the client */
	VU_DMA_WRITE = 12,
	VU_DEVICE_RESET = 13,
	VU_DIRTY_PAGES = 14,
	VU_REGION_WRITE_MULTI = 15,
	VU_DEVICE_FEATURE = 16, /* 16 to 18: migration */
	VU_MIG_DATA_READ = 17,
	VU_MIG_DATA_WRITE = 18,
	VU_COMMANDS
};

/* ---- the header ------------------------------------------------------------------- */
struct vu_header {
	uint16_t id; /* the sender's; a reply carries that of its command */
	uint16_t command;
	uint32_t size; /* of the whole message, this header too */
	uint32_t flags;
	uint32_t error; /* of a reply with VU_ERROR: an errno value */
};
static_assert(sizeof(struct vu_header) == 16, "vfio-user, Header");

#define VU_TYPE 0xfu /* of flags */
#define VU_TYPE_COMMAND 0u
#define VU_TYPE_REPLY 1u
#define VU_NO_REPLY 0x10u
#define VU_ERROR 0x20u

/* ---- negotiation: followed by JSON that ends with a NUL ---------------------------- */
struct vu_version {
	uint16_t major, minor;
};
static_assert(sizeof(struct vu_version) == 4, "vfio-user, VERSION");

/* ---- memory of the client ---------------------------------------------------------- */
struct vu_map {
	uint32_t argsz, flags;
	uint64_t offset, address, size;
}; /* offset: in the file that comes along */
static_assert(sizeof(struct vu_map) == 32 && offsetof(struct vu_map, address) == 16, "vfio-user, DMA_MAP");
#define VU_MAP_READ 1u
#define VU_MAP_WRITE 2u

struct vu_unmap {
	uint32_t argsz, flags;
	uint64_t address, size;
};
static_assert(sizeof(struct vu_unmap) == 24 && offsetof(struct vu_unmap, address) == 8, "vfio-user, DMA_UNMAP");
#define VU_UNMAP_ALL 2u /* address and size are 0 then */

/* ---- what the device is: struct vfio_device_info and its kin ----------------------- */
struct vu_device_info {
	uint32_t argsz, flags, regions, irqs;
};
static_assert(sizeof(struct vu_device_info) == 16, "vfio-user, DEVICE_GET_INFO");
#define VU_DEVICE_RESETS 1u
#define VU_DEVICE_PCI 2u

/* BAR n is region n */
enum vu_region { VU_REGION_BAR2 = 2, VU_REGION_CONFIG = 7, VU_REGIONS = 9 };
struct vu_region_info {
	uint32_t argsz, flags, index, cap_offset;
	uint64_t size, offset;
};
static_assert(sizeof(struct vu_region_info) == 32, "vfio-user, DEVICE_GET_REGION_INFO");
#define VU_REGION_READABLE 1u
#define VU_REGION_WRITABLE 2u

struct vu_region_io_fds {
	uint32_t argsz, flags, index, count;
};
static_assert(sizeof(struct vu_region_io_fds) == 16, "vfio-user, DEVICE_GET_REGION_IO_FDS");

enum vu_irq { VU_IRQ_INTX, VU_IRQ_MSI, VU_IRQ_MSIX, VU_IRQ_ERR, VU_IRQ_REQ, VU_IRQS };
struct vu_irq_info {
	uint32_t argsz, flags, index, count;
};
static_assert(sizeof(struct vu_irq_info) == 16, "vfio-user, DEVICE_GET_IRQ_INFO");
#define VU_IRQ_EVENTFD 1u
#define VU_IRQ_NORESIZE 8u

struct vu_irq_set {
	uint32_t argsz, flags, index, start, count;
}; /* VU_SET_BOOL: a byte for each follows */
static_assert(sizeof(struct vu_irq_set) == 20, "vfio-user, DEVICE_SET_IRQS");
#define VU_SET_NONE 0x1u /* one of these three ... */
#define VU_SET_BOOL 0x2u
#define VU_SET_EVENTFD 0x4u
#define VU_SET_DATA 0x7u
#define VU_SET_MASK 0x8u /* ... and one of these three */
#define VU_SET_UNMASK 0x10u
#define VU_SET_TRIGGER 0x20u
#define VU_SET_ACTION 0x38u

/* ---- reading and writing ----------------------------------------------------------- */
struct vu_access {
	uint64_t offset;
	uint32_t region, count;
}; /* the bytes follow */
static_assert(sizeof(struct vu_access) == 16, "vfio-user, REGION_READ");

#define VU_MULTI_BYTES 8u
struct vu_multi {
	uint64_t count;
}; /* struct vu_write for each follows */
struct vu_write {
	struct vu_access at;
	uint8_t data[VU_MULTI_BYTES];
};
static_assert(sizeof(struct vu_multi) == 8 && sizeof(struct vu_write) == 24, "vfio-user, REGION_WRITE_MULTI");

#endif
