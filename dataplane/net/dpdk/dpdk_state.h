/* dpdk_state: what the files of the dpdk back end share: the node, and one `struct dpdk` per lcore.
 *
 *   rx burst -> dpdk_rx -> ip -> tcp_input ---> tcp_run -> events (dpdk_conn)
 *                 |          \-> icmp, udp        |
 *                 \-> arp, nd (dpdk_link)         \-> emit (dpdk_tx) -> neighbour -> tx queue -> port
 *
 * Owner: each struct dpdk its lcore; the node the main thread, which does not change what lcores read while they run,
 *        but for the ports' state. */
#ifndef DATAPLANE_NET_DPDK_DPDK_STATE_H
#define DATAPLANE_NET_DPDK_DPDK_STATE_H

#include <stdatomic.h>
#include <sys/queue.h>

#include <rte_mbuf.h>

#include "dataplane/net/dpdk/dpdk.h"
#include "dataplane/net/dpdk/eth.h"
#include "dataplane/net/dpdk/icmp.h"
#include "dataplane/net/dpdk/ip.h"
#include "dataplane/net/dpdk/neigh.h"
#include "dataplane/net/dpdk/port.h"
#include "dataplane/net/dpdk/route.h"
#include "dataplane/net/dpdk/tcp_conn.h"
#include "dataplane/net/ip_table.h"
#include "lib/shm/capture.h"

struct rte_ip_frag_tbl;
struct rte_ring;

enum {
	DPDK_TX_WAITING = 2048, /* packets that wait for room in a port's queue */
	DPDK_DSTS = 256,	/* destinations a sender remembers; a power of two */
	DPDK_ANNOUNCEMENTS = 3,
	DPDK_TX_SPANS =
		64, /* a connection; more than net.h promises, since bytes wait for their ack */
	DPDK_TX_COPY_BYTES = 16384,
	DPDK_PEEK_PIECES = 512,
};

struct dpdk_node {
	unsigned lcores;
	unsigned port_count;
	uint16_t mtu;
	uint32_t mbufs;
	uint32_t congestion; /* enum tcp_cc_kind */
	struct rte_mempool *pools[LIMIT_LCORES];
	struct rte_mempool *wholes[LIMIT_LCORES]; /* reassembled packets */
	struct rte_mempool *
		shells[LIMIT_LCORES]; /* buffers without room, for payload that stays where it is */
	struct rte_ring *spread[LIMIT_LCORES]; /* packets for an lcore that others received */
	uint8_t rss_key[PORT_RSS_KEY_BYTES];
	struct route_table routes;
	struct port ports[LIMIT_NET_PORTS];
};

/* In the private part of a shell: what to tell when the port is done with the payload. */
struct dpdk_shell {
	struct rte_mbuf_ext_shared_info shared;
	struct tcp *tcp;
	struct tcp_buf *buf;
};

/* A way to a destination, with the frame's header ready. Good until `until_ns` and while `epoch` is the neighbours'. */
struct dpdk_dst {
	uint8_t ip[WIRE_IP_BYTES];
	uint8_t from[WIRE_IP_BYTES];
	uint64_t until_ns;
	uint32_t epoch;
	uint8_t iface;
	uint8_t port;
	uint8_t header_len;
	uint8_t header[ETH_HEADER_MAX];
};

enum dpdk_conn_state {
	DPDK_CONN_CONNECTING,
	DPDK_CONN_OPEN,
	DPDK_CONN_CLOSING,
	DPDK_CONN_DEAD, /* on_closed was called; waits for the engine to let go */
};

struct dpdk_conn {
	struct net_conn pub;
	struct tcp_conn *tcp;
	uint64_t sent; /* bytes queued, ever */
	uint8_t *join; /* the first join_len unread bytes in one piece; NULL: not joined */
	uint32_t join_first;
	uint32_t join_len;
	uint32_t shown; /* bytes of the last peek */
	uint8_t state;	/* enum dpdk_conn_state */
	bool is_partial; /* in `partials`: the last peek did not show everything, and nothing was consumed since */
	uint8_t stalls;	 /* CLOSING: seconds without progress */
	bool has_left;	 /* CLOSING: everything was acknowledged a second ago */
	uint32_t waited; /* CLOSING: unacknowledged bytes at the last look */
	TAILQ_ENTRY(dpdk_conn) partial;
	struct wheel_timer timer; /* CLOSING */
};

struct dpdk_tx {
	unsigned count;
	struct rte_mbuf *pkts[DPDK_TX_WAITING];
};

struct dpdk;

struct net_udp {
	struct dpdk *dpdk;
	struct addr local;
	net_datagram *on_datagram;
	void *user;
};

struct dpdk {
	struct net pub;
	struct dpdk_node *node;
	unsigned index;
	struct wheel *wheel;
	struct tally *tally;
	struct ip_table *ips;
	uint64_t *now_ns;
	uint64_t polled_ns; /* the clock of the last turn */
	struct rte_mempool *pool;
	struct rte_mempool *wholes;
	struct rte_mempool *shells;
	struct rte_ip_frag_tbl *fragments;
	struct pool conns;
	struct pool joins;
	TAILQ_HEAD(dpdk_conns, dpdk_conn) partials;
	struct wheel_timer tick;
	unsigned announced;
	uint64_t announce_ns;
	uint64_t conflict_ns; /* when an address was defended last */
	struct icmp_rate icmp_rate;
	uint16_t ip_id;
	bool is_copy; /* the frame at hand was received by another lcore, who answers it */
	struct capture_tap tap;
	bool is_in[LIMIT_NET_PORTS]; /* ports in use */
	uint32_t listener_count;
	uint32_t udp_count;
	struct net_listener_conf listeners[LIMIT_LISTENERS];
	struct net_udp udps[LIMIT_LISTENERS];
	uint64_t drops_seen[REASON_COUNT]; /* of the engine's, as told to the tally */
	uint64_t counts_seen[TCP_COUNT_COUNT];
	struct neigh neigh;
	struct tcp tcp;
	struct dpdk_dst dsts[DPDK_DSTS];
	struct dpdk_tx tx[LIMIT_NET_PORTS];

	/* shared line: net_wake of other threads */
	alignas(CACHE_LINE) atomic_bool is_called;
};

static inline void dpdk_drop(struct dpdk *d, struct rte_mbuf *take_m, enum reason_id why)
{
	tally_inc(d->tally, TALLY_DROPS + why);
	rte_pktmbuf_free(take_m);
}

/* For the protocols beside TCP, whose engine counts for itself. */
static inline void dpdk_count(struct dpdk *d, enum label_protocol protocol, enum label_dir dir)
{
	tally_inc(d->tally, tally_protocol_cell(protocol, dir));
}

static inline const struct route_iface *dpdk_iface(const struct dpdk *d, uint8_t iface)
{
	return &d->node->routes.ifaces[iface];
}

#endif
