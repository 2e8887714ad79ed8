/* tcp_opt: the options of a TCP header: MSS, window scale, timestamps, SACK permitted and SACK blocks.
 * Parsing is strict: an option that is cut, has a wrong length or stands twice makes the segment bad; options that
 * are not known are skipped by their length. Pure. */
#ifndef DATAPLANE_NET_DPDK_TCP_OPT_H
#define DATAPLANE_NET_DPDK_TCP_OPT_H

#include "lib/base/base.h"

enum { TCP_OPT_BYTES = 40, TCP_OPT_SACKS = 4, TCP_OPT_SCALE_MAX = 14 };

enum tcp_opt_flag {
	TCP_OPT_MSS = 1,
	TCP_OPT_SCALE = 2,
	TCP_OPT_TS = 4,
	TCP_OPT_SACK_OK = 8,
	TCP_OPT_SACK = 16,
};

/* Bytes [start, end) of a sequence space. */
struct tcp_range {
	uint32_t start, end;
};

struct tcp_opt {
	uint8_t flags; /* enum tcp_opt_flag: what is there */
	uint8_t scale; /* at most TCP_OPT_SCALE_MAX */
	uint16_t mss;
	uint32_t ts_val, ts_ecr;
	uint8_t sack_count;
	struct tcp_range sack[TCP_OPT_SACKS];
};

/* Reads all of `options`, at most TCP_OPT_BYTES. False: malformed. */
CHECKED bool tcp_opt_parse(struct tcp_opt *out, struct span options);

/* Writes what is there, padded to whole words. Returns the length; SACK blocks that do not fit are left out, the
 * last first. */
unsigned tcp_opt_write(const struct tcp_opt *opt, uint8_t out[TCP_OPT_BYTES]);

/* What tcp_opt_write will return. */
unsigned tcp_opt_size(const struct tcp_opt *opt);

#endif
