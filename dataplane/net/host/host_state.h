/* host_state: what the files of the host back end share: one `struct host` per lcore and its connections.
 * Owner: the lcore, except `wake_word` and `wake_fd`, which any thread may use (host_wake).
 *
 *   connection:  CONNECTING --> OPEN --net_close--> CLOSING --all sent--> LINGER --> (slot free)
 *                     \           \                     \                   ^
 *                      +-----------+--- failed, reset, net_abort -----------+ any time
 *
 * A connection is in at most one list: `ready` (something to do that no socket event will announce) or `starved` (bytes
 * wait in the socket and no receive block is free). */
#ifndef DATAPLANE_NET_HOST_HOST_STATE_H
#define DATAPLANE_NET_HOST_HOST_STATE_H

#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/queue.h>

#include "dataplane/net/host/host.h"
#include "dataplane/net/ip_table.h"
#include "lib/mem/pool.h"

enum {
	HOST_EVENTS_PER_TURN = 256,
	HOST_ACCEPTS_PER_TURN = 64, /* the others' requests go on between them */
	HOST_READS_PER_TURN = 4,    /* of one connection; a fast sender must not hold up the rest */
	HOST_ACCEPT_PAUSE_MS = 100, /* when the system has no memory or descriptors left */
	HOST_DATAGRAMS = 16,	    /* one recvmmsg */
	HOST_DATAGRAM_BYTES = 2048,
	HOST_SCRATCH_BYTES = 16384,
	HOST_JOIN_BYTES = 4096, /* queues up to this are copied together and sent as one piece */
};

/* epoll's 64 bits: generation in the upper half, in the lower a connection's slot or one of these. */
enum {
	HOST_KEY_LISTENER = 0x80000000u,
	HOST_KEY_UDP = 0x80000100u,
	HOST_KEY_WAKE = 0x80000200u,
};

enum host_conn_state {
	HOST_CONN_FREE,
	HOST_CONN_CONNECTING,
	HOST_CONN_OPEN,
	HOST_CONN_CLOSING,
	HOST_CONN_LINGER,
};

enum host_list { HOST_LIST_NONE, HOST_LIST_READY, HOST_LIST_STARVED };

/* A piece on its way out; copies have no release and lie in host_tx.copy. */
struct host_span {
	const uint8_t *data;
	uint32_t len;
	bool is_copy;
	net_release *release;
	void *ctx;
};

/* The send queue of a connection, held only while there is something in it. */
struct host_tx {
	uint32_t first; /* ring of spans */
	uint32_t count;
	uint32_t copy_next; /* ring of bytes: where the next copy goes */
	uint32_t copy_used;
	struct host_span spans[LIMIT_NET_TX_SPANS];
	uint8_t copy[LIMIT_NET_TX_COPY_BYTES];
};

struct host_conn {
	struct net_conn pub;
	struct host_tx *tx; /* NULL: nothing queued */
	uint8_t *rx;	    /* NULL: nothing unread */
	uint32_t rx_first;
	uint32_t rx_len;
	int fd;
	uint32_t
		generation; /* grows when the slot is given back: late events of its last user are known by it */
	uint8_t state;	   /* enum host_conn_state */
	uint8_t list;	   /* enum host_list */
	uint8_t end;	   /* enum net_end, when is_failed */
	bool is_failed;	   /* found outside an event: on_closed comes with the next turn */
	bool in_rx;	   /* on_readable is running: it keeps its block */
	bool rx_ready;	   /* the socket may have bytes, or the end of the stream */
	bool rx_hangup;	   /* the end has been announced: read on until it is seen */
	bool tx_blocked;   /* the socket is full: EPOLLOUT will come */
	bool tx_wanted;	   /* a send found no room: on_writable is due */
	bool tx_moved;	   /* something has left since */
	uint32_t lingered; /* bytes dropped after our close */
	TAILQ_ENTRY(host_conn) link;
	struct wheel_timer timer; /* CLOSING: no progress; LINGER: its end */
};

struct host_listener {
	struct host *host;
	int fd; /* -1: not in use */
	struct net_listener_conf conf;
	struct wheel_timer pause;
};

struct net_udp {
	struct host *host;
	int fd;
	struct addr local;
	net_datagram *on_datagram;
	void *user;
};

TAILQ_HEAD(host_conns, host_conn);

struct host {
	struct net pub;
	struct wheel *wheel;
	struct tally *tally;
	struct ip_table *ips;
	uint64_t *now_ns;
	int epoll_fd;
	int reserve_fd; /* given up for a moment to refuse a connection when there are no others; may be -1 */
	struct pool conns;
	struct pool blocks;
	struct pool txs;
	struct host_conns ready;
	struct host_conns starved;
	uint32_t ready_count;
	uint32_t listener_count;
	uint32_t udp_count;
	struct host_listener listeners[LIMIT_LISTENERS];
	struct net_udp udps[LIMIT_LISTENERS];
	struct epoll_event events[HOST_EVENTS_PER_TURN];
	uint8_t datagrams[HOST_DATAGRAMS][HOST_DATAGRAM_BYTES];
	uint8_t scratch
		[HOST_SCRATCH_BYTES]; /* for bytes nobody wants, and for joining small answers */

	/* shared line: net_wake of other threads */
	alignas(CACHE_LINE) atomic_uint wake_word;
	int wake_fd;
};

static inline struct host *host_of(const struct host_conn *c)
{
	return (struct host *)c->pub.net;
}

#endif
