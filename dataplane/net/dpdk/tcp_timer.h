/* tcp_timer: the timers of one connection, all on one timer of the wheel. That one is armed for the nearest or earlier:
 * moving a timer back (as each acknowledgement does) costs nothing, it is moved when the wheel comes by.
 * Invariant: a timer that is set is not later than the armed one fires, but for the wheel's tick. */
#ifndef DATAPLANE_NET_DPDK_TCP_TIMER_H
#define DATAPLANE_NET_DPDK_TCP_TIMER_H

#include "dataplane/net/dpdk/tcp_conn.h"

/* Prepares a fresh connection. */
void tcp_timer_init(struct tcp_conn *c);
void tcp_timer_set(struct tcp_conn *c, enum tcp_timer_id id, uint64_t due_ns);
void tcp_timer_stop_all(struct tcp_conn *c);

static inline void tcp_timer_clear(struct tcp_conn *c, enum tcp_timer_id id)
{
	c->due_ns[id] = 0;
}

/* The keep-alive clock starts, when there is one. */
void tcp_timer_keepalive(struct tcp_conn *c);

#endif
