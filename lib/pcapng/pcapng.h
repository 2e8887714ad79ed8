/* pcapng: writes the blocks of a pcapng file (draft-ietf-opsawg-pcapng): one section in the byte order of this machine,
 * Ethernet interfaces, packets stamped in nanoseconds, statistics.
 *
 *   section | interface 0 .. n | packet ... | statistics 0 .. n
 *
 * Each call writes one whole block at `out` and returns its length, or 0 when it does not fit in `room` (nothing is
 * then left behind that counts). Pure: no I/O, no allocation. */
#ifndef LIB_PCAPNG_PCAPNG_H
#define LIB_PCAPNG_PCAPNG_H

#include "lib/base/base.h"

enum {
	PCAPNG_TEXT = 256,	  /* longer names are cut */
	PCAPNG_PACKET_EXTRA = 52, /* what a packet's block has beside the padded bytes */
	PCAPNG_HEAD_BYTES = 512,  /* the largest of the other blocks */
};

enum pcapng_dir { PCAPNG_DIR_IN = 1, PCAPNG_DIR_OUT = 2 };

struct pcapng_packet {
	uint32_t iface;	  /* in order of their blocks, from 0 */
	uint32_t queue;	  /* who handled it */
	uint64_t time_ns; /* since 1970 */
	uint32_t len;	  /* on the wire */
	struct span data; /* what was kept of it */
	enum pcapng_dir dir;
};

struct pcapng_stats {
	uint32_t iface;
	uint64_t time_ns;
	uint64_t delivered;
	uint64_t dropped; /* not captured, for want of room */
};

size_t pcapng_section(uint8_t *out, size_t room, const char *application);
size_t pcapng_iface(uint8_t *out, size_t room, const char *name, uint32_t snap_bytes);
size_t pcapng_packet(uint8_t *out, size_t room, const struct pcapng_packet *p);
size_t pcapng_stats(uint8_t *out, size_t room, const struct pcapng_stats *s);

#endif
