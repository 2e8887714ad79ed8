/* tcp_cc: congestion control: how large the window is while nothing is lost, and how much is left of it after a loss.
 * Loss detection and recovery (tcp_loss) call it; windows are bytes. Pure but for the connection's cc_* fields. */
#ifndef DATAPLANE_NET_DPDK_TCP_CC_H
#define DATAPLANE_NET_DPDK_TCP_CC_H

#include "dataplane/net/dpdk/tcp_conn.h"

struct tcp_cc {
	const char *name;
	/* `acked` bytes were acknowledged while the window was in use and nothing is being recovered. */
	void (*on_ack)(struct tcp_conn *c, uint32_t acked);
	/* Something was lost: returns the new slow start threshold. */
	uint32_t (*on_loss)(struct tcp_conn *c);
	/* The clock of growth starts anew: after a timeout or an idle time. */
	void (*on_restart)(struct tcp_conn *c);
};

extern const struct tcp_cc tcp_cc_newreno; /* RFC 5681 */

const struct tcp_cc *tcp_cc_of(enum tcp_cc_kind kind);
/* The initial window, RFC 6928. */
uint32_t tcp_cc_initial(const struct tcp_conn *c);
void tcp_cc_init(struct tcp_conn *c);
/* Slow start; returns the part of `acked` that lies above the threshold. */
uint32_t tcp_cc_slow_start(struct tcp_conn *c, uint32_t acked);

#endif
