/* udp_load: datagrams over the network seam, echoed by the other side or one way.
 * A datagram is: 8 bytes that tell this run from others, 8 bytes number, both big-endian, then filling. */
#ifndef TOOLS_MILLLOAD_UDP_LOAD_H
#define TOOLS_MILLLOAD_UDP_LOAD_H

#include "tools/millload/load.h"

/* On failure returns -errno and fills `why`. */
CHECKED int udp_load_open(struct load **out, struct load_env *env, char *why, size_t why_size);

#endif
