/* host_conn: the life of one TCP connection: receiving, closing, lingering, ending.
 * Owner:      the lcore.
 * Invariants: a receive block is held only while there are unread bytes (or on_readable runs); on_closed is the last
 *             event of a connection and comes exactly once, except when on_open refused it.
 * Cost:       one recv per batch of bytes: after a short read the socket is empty and is not asked again. */
#ifndef DATAPLANE_NET_HOST_HOST_CONN_H
#define DATAPLANE_NET_HOST_HOST_CONN_H

#include "dataplane/net/host/host_state.h"

struct host_conn_start {
	int take_fd;
	enum host_conn_state state; /* OPEN or CONNECTING */
	struct addr peer;
	struct addr local;
	const struct net_events *events;
	void *user;
	uint32_t ip_entry;
};

/* Takes a slot and watches the socket. NULL when there is no slot: the socket and the ip_entry are then still the
 * caller's. */
struct host_conn *host_conn_start(struct host *h, const struct host_conn_start *start);

/* Socket events for a slot; those of an earlier user of it are ignored. */
void host_conn_event(struct host *h, uint64_t key, uint32_t events);

/* Does what is due: sending, closing, receiving, and their events. */
void host_conn_service(struct host_conn *c);

/* Something to do in the next turn. */
void host_conn_list(struct host_conn *c, enum host_list list);

/* Ends it now, with a reset when asked. on_closed is called unless is_silent. */
void host_conn_end(struct host_conn *c, enum net_end end, bool with_reset, bool is_silent);

#endif
