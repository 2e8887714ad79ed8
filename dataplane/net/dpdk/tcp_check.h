/* tcp_check: what must be true of an engine between two calls. For the simulator, fuzzers and tests; it walks
 * everything and is not for the poll loop. */
#ifndef DATAPLANE_NET_DPDK_TCP_CHECK_H
#define DATAPLANE_NET_DPDK_TCP_CHECK_H

#include "dataplane/net/dpdk/tcp_conn.h"

/* NULL, or what is wrong. Call it after tcp_run. */
const char *tcp_check_conn(const struct tcp_conn *c);
const char *tcp_check_engine(const struct tcp *t);

#endif
