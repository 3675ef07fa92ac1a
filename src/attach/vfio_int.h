/*
 * vfio_int.h: the parts of the vfio-user server.
 *
 *	vfio.c          the socket: one client at a time, whole messages in, replies out
 *	vfio_message.c  a message and its answer; knows no socket
 *	vfio_caps.c     the JSON of the negotiation
 *	vfio_config.c   PCI configuration space
 *	vfio_dma.c      the client's memory
 *
 * Functions that answer for a message give 0 or the errno value (positive) that
 * the reply carries.
 */
#ifndef TALLY_VFIO_INT_H
#define TALLY_VFIO_INT_H

#include <sys/types.h>

#include "attach/attach.h"
#include "attach/vfio_wire.h"

#define VFIO_XFER_MOST 4096u    /* bytes of one region access: a whole configuration space */
#define VFIO_MESSAGE_MOST 8192u /* a longer message ends the connection */
#define VFIO_FDS_MOST 1u        /* descriptors with one message */
#define VFIO_MAPS_MOST 256u
#define VFIO_PAGE 4096u

/* ---- negotiation (vfio_caps.c) ------------------------------------------------------ */
/* Reads what a client proposes: *ret gets a bit for each capability that we know too. False: not JSON. */
bool vfio_caps_read(const char *json, size_t n, uint32_t *ret);
/* Our side of these capabilities, as JSON with its NUL, into p[n]. Returns the length; 0: no room. */
size_t vfio_caps_write(char *p, size_t n, uint32_t caps);

/* ---- configuration space (vfio_config.c) -------------------------------------------- */
#define VFIO_CONFIG_SIZE 4096u
#define VFIO_CONFIG_KEPT 256u /* no extended capabilities: the rest reads 0 */
struct vfio_config {
	uint8_t byte[VFIO_CONFIG_KEPT], writable[VFIO_CONFIG_KEPT];
};
void vfio_config_reset(struct vfio_config *c);
/* off + n are within VFIO_CONFIG_SIZE. */
void vfio_config_read(const struct vfio_config *c, uint32_t off, void *p, uint32_t n);
/* True: a function-level reset was asked for. */
bool vfio_config_write(struct vfio_config *c, uint32_t off, const void *p, uint32_t n);
bool vfio_config_master(const struct vfio_config *c); /* may it write to memory */

/* ---- the client's memory (vfio_dma.c) ----------------------------------------------- */
struct vfio_map {
	uint64_t address, size, offset;
	int fd;
}; /* fd -1: known, but not to be written */
struct vfio_maps {
	uint32_t n;
	struct vfio_map at[VFIO_MAPS_MOST];
};
/* Takes *fd (-1: none came) when it keeps it. EINVAL: sizes, or a file that won't do; EEXIST: overlap; ENOSPC: full. */
int vfio_map(struct vfio_maps *s, const struct vu_map *m, int *fd);
int vfio_unmap(struct vfio_maps *s, const struct vu_unmap *m); /* EINVAL; ENOENT: no such map */
void vfio_unmap_all(struct vfio_maps *s);
/* -TALLY_EINVAL: not all of it is mapped for writing; -TALLY_EIO: the file refused. */
int vfio_dma_write(const struct vfio_maps *s, uint64_t to, const void *p, size_t n);

/* ---- a message and its answer (vfio_message.c) --------------------------------------- */
/* a function with a client */
struct vfio {
	struct ptt_dev *dev;
	struct ptt_host host;
	struct vfio_config config;
	struct vfio_maps maps;
	int irq;      /* the client's eventfd, or -1 */
	bool greeted; /* a version was agreed */
	bool over;    /* this client can't be served: close after the answer */
};
struct vfio_message {
	const uint8_t *p; /* n bytes, of which the header says so too; private to us */
	size_t n;
	int fd;            /* that came along, or -1; set to -1 by who takes it */
	bool too_many_fds; /* more came than VFIO_FDS_MOST (and were closed) */
};
/* A client comes and goes. In between the device is its own, and it goes back as after a reset. */
void vfio_start(struct vfio *v, struct ptt_dev *dev);
void vfio_stop(struct vfio *v);
/* Size of the message that begins with these 16 bytes; 0: no message has such a size. */
uint32_t vfio_message_size(const uint8_t header[static sizeof(struct vu_header)]);
/* Does what a message says. Returns the length of the reply; 0: there is none. */
size_t vfio_answer(struct vfio *v, struct vfio_message *m, uint8_t reply[static VFIO_MESSAGE_MOST]);

/* ---- the server to a device without a machine (vfio.c) --------------------------------- */
/* As server_open_vfio(). */
int vfio_server_open(struct server **ret, struct ptt_dev *dev, const char *path, struct err *e);

#endif
