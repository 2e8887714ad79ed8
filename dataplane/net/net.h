/* net: the only way to the network. One `struct net` per lcore, no shared state, event driven.
 *
 * Receive: bytes wait in the back end's own buffers; the user looks at them as spans, takes what it understands and
 *          leaves the rest. What is not consumed closes the peer's window (dpdk) or stops the reading (host).
 * Send:    small pieces are copied, payload goes by reference with a release callback that is called exactly once:
 *          when the bytes are acknowledged (dpdk) or handed to the kernel (host), or when the connection dies.
 * Layers:  a connection carries its own operations, so that TLS can stand between a back end and HTTP as one more
 *          kind of connection.
 * Owner:   the lcore; only net_wake may be called from another thread.
 * Memory:  reserved in net_<backend>_open; nothing is allocated afterwards.
 * Events:  run inside net_poll. A handler may send, consume, close and abort; after on_closed the connection is gone. */
#ifndef DATAPLANE_NET_NET_H
#define DATAPLANE_NET_NET_H

#include "lib/base/addr.h"
#include "lib/base/registry.h"
#include "lib/clock/wheel.h"
#include "lib/shm/tally.h"

struct capture;
struct ip_table;
struct net;
struct net_conn;
struct net_udp;

typedef void net_release(void *ctx);
typedef void net_datagram(
	void *user, struct net_udp *udp, const struct addr *from, struct span lend_data);

/* Payload that stays where it is until release(ctx); release may be NULL for memory that never goes away. */
struct net_ref {
	const uint8_t *data;
	uint32_t len;
	net_release *release;
	void *ctx;
};

/* Why a connection ended. */
enum net_end {
	NET_END_CLOSED,	 /* both sides done, or our close completed */
	NET_END_RESET,	 /* by the peer, or the link failed */
	NET_END_ABORTED, /* net_abort */
	NET_END_REFUSED, /* net_connect: nobody listens */
	NET_END_TIMEOUT, /* net_connect, or no acknowledgement */
};

struct net_events {
	/* A connection was accepted, or net_connect succeeded. For accepted ones set conn->user here; return false to
	 * refuse it (it is reset and on_closed is not called). */
	bool (*on_open)(struct net_conn *conn);
	void (*on_readable)(struct net_conn
			*conn); /* there are new bytes, or the peer's end of stream (net_is_eof) */
	void (*on_writable)(struct net_conn
			*conn); /* something that was queued has left, after a send found no room */
	void (*on_closed)(struct net_conn *conn, enum net_end end);
};

/* The transport under a connection, for people who look for the slow one. */
struct net_tcp_info {
	const char *state; /* as RFC 9293 names them, in small letters; a constant */
	uint32_t rtt_us;   /* smoothed; 0: not measured yet */
	uint32_t cwnd_bytes;
	uint32_t retrans; /* segments sent again; may stop at 65535 */
};

struct net_conn_ops {
	struct span (*peek)(struct net_conn *conn);
	void (*consume)(struct net_conn *conn, size_t len);
	bool (*send_copy)(struct net_conn *conn, const void *data, size_t len);
	bool (*send_ref)(struct net_conn *conn, const struct net_ref *take_ref);
	void (*flush)(struct net_conn *conn);
	void (*sample)(struct net_conn *conn); /* NULL: the counts are always right */
	bool (*describe)(
		struct net_conn *conn, struct net_tcp_info *out); /* NULL: there is no TCP */
	void (*close)(struct net_conn *conn);
	void (*abort)(struct net_conn *conn);
};

/* The public head of a connection; back ends embed it first in their own. */
struct net_conn {
	const struct net_conn_ops *ops;
	const struct net_events *events;
	struct net *net;
	void *user; /* the layer above */
	struct addr peer;
	struct addr local;
	uint64_t rx_bytes;
	uint64_t tx_bytes;
	uint32_t tx_waiting; /* bytes queued and not yet gone */
	uint32_t ip_entry;   /* of the peer in the lcore's ip_table, or IP_TABLE_NONE */
	bool is_eof;	     /* the peer will send nothing more */
};

struct net_listener_conf {
	struct addr local;
	unsigned backlog;
	bool is_first; /* of the lcores that will share this address: refuses one that somebody else has */
	const struct net_events *events;
	void *user; /* conn->user until on_open sets its own */
};

/* What every back end needs. */
struct net_conf {
	uint32_t conns_max;
	uint32_t rx_blocks;
	struct wheel *wheel;	 /* the lcore's timers; outlives the net */
	struct tally *tally;	 /* the lcore's slot */
	struct ip_table *ips;	 /* connections per client address; NULL: not counted */
	struct capture *capture; /* where copies of packets go (dpdk); NULL: nowhere */
	uint32_t lcore;		 /* whose ring of it is ours */
	uint64_t *
		now_ns; /* the lcore's clock; net_poll sets it anew before events, after any wait */
};

struct net_ops {
	int (*listen)(struct net *net, const struct net_listener_conf *lc, struct addr *bound);
	void (*stop_listening)(struct net *net);
	struct net_conn *(*connect)(struct net *net, const struct addr *local,
		const struct addr *to, const struct net_events *events, void *user);
	struct net_udp *(*udp_open)(
		struct net *net, const struct addr *local, net_datagram *on_datagram, void *user);
	const struct addr *(*udp_local)(const struct net_udp *udp);
	bool (*udp_send)(struct net_udp *udp, const struct addr *to, struct span data);
	unsigned (*poll)(struct net *net, uint64_t now_ns, uint64_t wait_ns);
	void (*wake)(struct net *net);
	void (*fini)(struct net *net);
};

struct net {
	const struct net_ops *ops;
};

/* Listens on every lcore with the same address (SO_REUSEPORT or RSS spreads). `bound` (may be NULL) gets the address
 * with the port that port 0 became. At most LIMIT_LISTENERS. Returns 0 or -errno. */
CHECKED static inline int net_listen(
	struct net *net, const struct net_listener_conf *lc, struct addr *bound)
{
	return net->ops->listen(net, lc, bound);
}

/* Takes no new connections; those that are open live on. */
static inline void net_stop_listening(struct net *net)
{
	net->ops->stop_listening(net);
}

/* Starts an active open from `local` (NULL: any address of ours that fits; port 0: any port); on_open or on_closed
 * follows. NULL when all connection slots are taken, or `local` cannot be had. */
static inline struct net_conn *net_connect(struct net *net, const struct addr *local,
	const struct addr *to, const struct net_events *events, void *user)
{
	return net->ops->connect(net, local, to, events, user);
}

/* One turn: moves packets, runs events. Waits up to wait_ns when there is nothing to do (0: never waits).
 * Returns how much was done; 0 is an idle turn. */
static inline unsigned net_poll(struct net *net, uint64_t now_ns, uint64_t wait_ns)
{
	return net->ops->poll(net, now_ns, wait_ns);
}

/* Ends a wait in net_poll. Any thread; costs nothing when the lcore is not waiting. */
static inline void net_wake(struct net *net)
{
	net->ops->wake(net);
}

/* A socket for datagrams; on_datagram runs inside net_poll, its data is valid until it returns. Lives as long as the
 * net; at most LIMIT_LISTENERS of them. NULL when the address is taken or there are too many. */
static inline struct net_udp *net_udp_open(
	struct net *net, const struct addr *local, net_datagram *on_datagram, void *user)
{
	return net->ops->udp_open(net, local, on_datagram, user);
}

static inline const struct addr *net_udp_local(struct net *net, const struct net_udp *udp)
{
	return net->ops->udp_local(udp);
}

/* False when the datagram could not go now: it is dropped, as the network may drop any other. */
static inline bool net_udp_send(
	struct net *net, struct net_udp *udp, const struct addr *to, struct span data)
{
	return net->ops->udp_send(udp, to, data);
}

/* Ends everything: connections are reset without an event (their references are released), memory is given back. */
static inline void net_fini(struct net *net)
{
	net->ops->fini(net);
}

/* The unread bytes that lie in one piece, empty when there are none. Valid until the next consume or return to
 * net_poll. A head that is cut over two pieces is joined by the back end: the first piece grows until it holds
 * LIMIT_HTTP_HEAD_BYTES. */
static inline struct span net_peek(struct net_conn *conn)
{
	return conn->ops->peek(conn);
}

static inline void net_consume(struct net_conn *conn, size_t len)
{
	conn->ops->consume(conn, len);
}

static inline bool net_is_eof(const struct net_conn *conn)
{
	return conn->is_eof;
}

/* Queue bytes in order; false when there is no room (nothing was queued, on_writable will come; a refused reference
 * is not released). At most LIMIT_NET_TX_COPY_BYTES and LIMIT_NET_TX_SPANS wait at once. */
CHECKED static inline bool net_send_copy(struct net_conn *conn, const void *data, size_t len)
{
	return conn->ops->send_copy(conn, data, len);
}

CHECKED static inline bool net_send_ref(struct net_conn *conn, const struct net_ref *take_ref)
{
	return conn->ops->send_ref(conn, take_ref);
}

/* Nothing leaves before a flush, except when the back end likes: call it once per batch of answers. It may run
 * release callbacks, but no events. */
static inline void net_flush(struct net_conn *conn)
{
	conn->ops->flush(conn);
}

/* Brings tx_bytes and tx_waiting up to date: with dpdk acknowledgements move them, which is no event. */
static inline void net_sample(struct net_conn *conn)
{
	if (conn->ops->sample != NULL)
		conn->ops->sample(conn);
}

/* False when nothing is known. For questions of people: the host back end makes a system call. */
static inline bool net_describe(struct net_conn *conn, struct net_tcp_info *out)
{
	return conn->ops->describe != NULL && conn->ops->describe(conn, out);
}

/* Sends what is queued, then ends our side, then reads and drops what still comes (bounded by LIMIT_NET_LINGER_*)
 * so that the peer gets the answer instead of a reset. No event but on_closed follows. A peer that takes nothing for
 * LIMIT_NET_CLOSE_STALL_MS is reset; net_abort ends the wait at any time. */
static inline void net_close(struct net_conn *conn)
{
	conn->ops->close(conn);
}

/* Resets at once; on_closed is called before this returns. */
static inline void net_abort(struct net_conn *conn)
{
	conn->ops->abort(conn);
}

#endif
