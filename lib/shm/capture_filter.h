/* capture_filter: which frames somebody wants to see. All words must hold:
 *
 *   tcp | udp | icmp | arp     the protocol; icmp is both versions
 *   ip | ip6                   the version
 *   host ADDRESS | net CIDR    source or destination; of ARP too
 *   port NUMBER                source or destination, of TCP or UDP
 *   in | out                   received, or sent
 *   and                        may stand between words and means nothing
 *
 * Pure. Frames are from the wire: nothing in them is trusted. */
#ifndef LIB_SHM_CAPTURE_FILTER_H
#define LIB_SHM_CAPTURE_FILTER_H

#include "lib/base/addr.h"

enum { CAPTURE_FILTER_TEXT = 128 };

enum capture_dir { CAPTURE_IN = 1, CAPTURE_OUT = 2 };

/* Pointer-free, so that it can lie in the segment. All zeros: everything. */
struct capture_filter {
	struct cidr net; /* when has_net */
	uint8_t has_net;
	uint8_t dir;	 /* enum capture_dir; 0: both */
	uint8_t version; /* 4, 6; 0: any */
	uint8_t is_arp;
	uint8_t protocol; /* IPPROTO_TCP, IPPROTO_UDP, IPPROTO_ICMP; 0: any */
	uint16_t port;	  /* 0: any */
};

/* Returns 0, or -EINVAL with one line in `why`. */
CHECKED int capture_filter_parse(
	struct capture_filter *out, const char *text, char *why, size_t why_size);

/* `frame` is its first bytes, headers at least. */
bool capture_filter_matches(
	const struct capture_filter *f, struct span frame, enum capture_dir dir);

#endif
