#include "dataplane/net/dpdk/dpdk.h"

#include <errno.h>
#include <stdio.h>
#include <sys/random.h>
#include <time.h>

#include "dataplane/net/dpdk/dpdk_conn.h"
#include "dataplane/net/dpdk/dpdk_frag.h"
#include "dataplane/net/dpdk/dpdk_link.h"
#include "dataplane/net/dpdk/dpdk_rx.h"
#include "dataplane/net/dpdk/dpdk_state.h"
#include "dataplane/net/dpdk/dpdk_tx.h"
#include "dataplane/net/dpdk/dpdk_udp.h"
#include "lib/clock/clock.h"
#include "lib/mem/mem.h"

/* Between two turns of an lcore that has its CPU to itself there is never so much. */
#define LATE_NS (1 * NS_PER_MS)
enum { LATE_TURNS = 64 };
/* An idle lcore naps instead of burning its CPU: no port can wake it, so the naps are short. */
#define NAP_FIRST_NS (20 * NS_PER_US)
#define NAP_MAX_NS   (250 * NS_PER_US)

static void wake(struct net *net)
{
	struct dpdk *d = (struct dpdk *)net;
	atomic_store_explicit(&d->is_called, true, memory_order_release);
}

/* Ports come and go under the main thread's hand; here an lcore takes notice. */
static void look_at_ports(struct dpdk *d)
{
	for (unsigned i = 0; i < d->node->port_count; i++) {
		struct port *p = &d->node->ports[i];
		bool is_up = port_is_up(p);
		if (LIKELY(is_up == d->is_in[i]))
			continue;
		d->is_in[i] = is_up;
		if (is_up) {
			port_enter(p, d->index);
			d->announced = 0;
			d->announce_ns = 0;
			d->neigh.epoch++; /* frame headers were made for the old device */
		} else {
			dpdk_tx_abandon(d, i);
			port_leave(p, d->index);
		}
	}
}

/* Adds what is new in `counts` to the cells from `first` on. Differences, since the tally outlives the engine. */
static void tell(
	struct tally *tally, unsigned first, const uint64_t *counts, uint64_t *seen, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		uint64_t news = counts[i] - seen[i];
		if (news == 0)
			continue;
		tally_add(tally, first + i, news);
		seen[i] = counts[i];
	}
}

/* The engine counts for itself, packet by packet, on lines of its own; the metrics hear of it now and then. */
static void tell_counts(struct dpdk *d)
{
	static_assert((int)TCP_COUNT_COUNT == (int)TALLY_SET_EVENT, "one cell a count");
	tell(d->tally, TALLY_DROPS, d->tcp.drops, d->drops_seen, REASON_COUNT);
	tell(d->tally, TALLY_TCP_EVENTS, d->tcp.counts, d->counts_seen, TCP_COUNT_COUNT);
}

static void on_tick(struct wheel_timer *timer, uint64_t now_ns)
{
	struct dpdk *d = CONTAINER_OF(timer, struct dpdk, tick);
	neigh_advance(&d->neigh, now_ns);
	if (d->index == 0 && d->announced < DPDK_ANNOUNCEMENTS && now_ns >= d->announce_ns)
		dpdk_link_announce(d);
	tell_counts(d);
	wheel_arm(d->wheel, timer, now_ns + LIMIT_NEIGH_TICK_MS * NS_PER_MS);
}

static unsigned turn(struct dpdk *d)
{
	capture_tap_look(&d->tap, *d->now_ns);
	tcp_begin(&d->tcp, *d->now_ns);
	unsigned done = dpdk_rx_poll(d);
	if (!TAILQ_EMPTY(&d->partials))
		done += dpdk_conn_join(d);
	done += tcp_run(&d->tcp);
	dpdk_tx_flush(d);
	return done;
}

/* Looks for work between naps until there is some, the time is over, or somebody calls. */
static unsigned wait_turn(struct dpdk *d, uint64_t wait_ns)
{
	uint64_t end_ns = *d->now_ns + wait_ns;
	uint64_t nap_ns = NAP_FIRST_NS;
	unsigned done = 0;
	while (done == 0 && *d->now_ns < end_ns &&
		!atomic_exchange_explicit(&d->is_called, false, memory_order_acquire)) {
		uint64_t left_ns = end_ns - *d->now_ns;
		struct timespec nap = {.tv_nsec = (long)(nap_ns < left_ns ? nap_ns : left_ns)};
		(void)nanosleep(&nap, NULL);
		nap_ns = nap_ns * 2 < NAP_MAX_NS ? nap_ns * 2 : NAP_MAX_NS;
		*d->now_ns = clock_now_ns();
		look_at_ports(d);
		done = turn(d);
	}
	return done;
}

/* The lcore was away: acknowledgements that wait in a full queue are older than the timers that ran out meanwhile, and
 * must be seen first, or segments that arrived are sent again. */
static unsigned catch_up(struct dpdk *d, unsigned got)
{
	unsigned done = 0;
	for (unsigned i = 0; got >= LIMIT_NET_BURST && i < LATE_TURNS; i++)
		done += got = turn(d);
	return done;
}

static unsigned poll_turn(struct net *net, uint64_t now_ns, uint64_t wait_ns)
{
	struct dpdk *d = (struct dpdk *)net;
	*d->now_ns = now_ns;
	look_at_ports(d);
	unsigned got = turn(d), done = got;
	if (UNLIKELY(now_ns - d->polled_ns > LATE_NS))
		done += catch_up(d, got);
	if (done == 0 && wait_ns != 0)
		done = wait_turn(d, wait_ns);
	d->polled_ns = *d->now_ns;
	return done;
}

static int listen_on(struct net *net, const struct net_listener_conf *lc, struct addr *bound)
{
	struct dpdk *d = (struct dpdk *)net;
	static const uint8_t any_v4[WIRE_IP_BYTES] = {[10] = 0xff, [11] = 0xff};
	bool is_any = wire_is_zero(lc->local.ip, WIRE_IP_BYTES) ||
		      memcmp(lc->local.ip, any_v4, WIRE_IP_BYTES) == 0;
	if (lc->local.port == 0)
		return -EINVAL;
	if (!is_any && route_local(&d->node->routes, ROUTE_NONE, lc->local.ip) == NULL)
		return -EADDRNOTAVAIL;
	if (d->listener_count == LIMIT_LISTENERS)
		return -ENOSPC;
	struct net_listener_conf *kept = &d->listeners[d->listener_count];
	*kept = *lc;
	int rc = tcp_listen(&d->tcp, &lc->local, lc->backlog, kept);
	if (rc != 0)
		return rc;
	d->listener_count++;
	if (bound != NULL)
		*bound = lc->local;
	return 0;
}

static void stop_listening(struct net *net)
{
	struct dpdk *d = (struct dpdk *)net;
	tcp_stop_listening(&d->tcp);
}

static void fini(struct net *net)
{
	struct dpdk *d = (struct dpdk *)net;
	dpdk_conn_abort_all(d);
	dpdk_tx_flush(d);
	for (unsigned i = 0; i < d->node->port_count; i++) {
		dpdk_tx_abandon(d, i);
		port_leave(&d->node->ports[i], d->index);
	}
	wheel_disarm(d->wheel, &d->tick);
	neigh_fini(&d->neigh);
	tell_counts(d);
	/* Payload the ports still hold comes back to the engine first. */
	tcp_fini(&d->tcp);
	dpdk_frag_fini(d);
	pool_fini(&d->conns);
	pool_fini(&d->joins);
	mem_unmap(d, sizeof(*d));
}

static const struct net_ops ops = {
	.listen = listen_on,
	.stop_listening = stop_listening,
	.connect = dpdk_conn_connect,
	.udp_open = dpdk_udp_open,
	.udp_local = dpdk_udp_local,
	.udp_send = dpdk_udp_send,
	.poll = poll_turn,
	.wake = wake,
	.fini = fini,
};

static void drop_parked(void *ctx, void *take_pkt)
{
	dpdk_drop(ctx, take_pkt, REASON_NEIGHBOUR);
}

static const struct neigh_ops neigh_ops = {
	.ask = dpdk_link_ask,
	.send = dpdk_tx_parked,
	.drop = drop_parked,
};

static int open_tcp(struct dpdk *d, uint32_t conns_max, const uint8_t secret[32])
{
	struct tcp_conf conf;
	/* Slots for connections on their way in and out too: those in TIME_WAIT make room when it is needed. */
	tcp_conf_default(&conf, conns_max * 2);
	conf.ops = &dpdk_conn_tcp_ops;
	conf.ctx = d;
	conf.wheel = d->wheel;
	conf.now_ns = *d->now_ns;
	memcpy(conf.secret, secret, sizeof(conf.secret));
	conf.mtu = d->node->mtu;
	conf.tx_spans_max = DPDK_TX_SPANS;
	conf.tx_copy_max = DPDK_TX_COPY_BYTES;
	conf.cc = (enum tcp_cc_kind)d->node->congestion;
	/* Half of the buffers may wait to be read; the rest keeps the queues going. */
	conf.pkts_max = d->node->mbufs;
	conf.rx_budget = (uint64_t)d->node->mbufs / 2 *
			 (sizeof(struct rte_mbuf) + rte_pktmbuf_data_room_size(d->pool));
	return tcp_init(&d->tcp, &conf);
}

struct secrets {
	uint8_t tcp[32];
	uint64_t neigh;
};

static int open_parts(struct dpdk *d, const struct net_conf *conf)
{
	struct secrets secrets;
	if (getrandom(&secrets, sizeof(secrets), 0) != sizeof(secrets))
		return -EIO;
	int rc = pool_init(
		&d->conns, "net.conns", conf->conns_max, sizeof(struct dpdk_conn), CACHE_LINE);
	if (rc != 0)
		return rc;
	rc = pool_init(
		&d->joins, "net.joins", conf->rx_blocks, LIMIT_NET_RX_BLOCK_BYTES, CACHE_LINE);
	if (rc == 0) {
		rc = neigh_init(&d->neigh, LIMIT_NEIGH_ENTRIES, &neigh_ops, d, secrets.neigh);
		if (rc == 0) {
			rc = open_tcp(d, conf->conns_max, secrets.tcp);
			if (rc == 0) {
				rc = dpdk_frag_init(d);
				if (rc == 0)
					return 0;
				tcp_fini(&d->tcp);
			}
			neigh_fini(&d->neigh);
		}
		pool_fini(&d->joins);
	}
	pool_fini(&d->conns);
	return rc;
}

int dpdk_open(struct net **out, const struct net_conf *conf, struct dpdk_node *node, unsigned index,
	char *why, size_t why_size)
{
	MUST(index < node->lcores);
	struct dpdk *d = mem_map(sizeof(*d));
	if (d == NULL) {
		snprintf(why, why_size, "no memory for the dpdk network back end");
		return -ENOMEM;
	}
	d->pub.ops = &ops;
	d->node = node;
	d->index = index;
	d->wheel = conf->wheel;
	d->tally = conf->tally;
	d->ips = conf->ips;
	d->now_ns = conf->now_ns;
	d->tap = (struct capture_tap){.capture = conf->capture, .lcore = conf->lcore};
	d->pool = node->pools[index];
	d->wholes = node->wholes[index];
	d->shells = node->shells[index];
	TAILQ_INIT(&d->partials);
	d->tick.fire = on_tick;
	int rc = open_parts(d, conf);
	if (rc != 0) {
		snprintf(why, why_size, "dpdk network back end: %s", strerror(-rc));
		mem_unmap(d, sizeof(*d));
		return rc;
	}
	wheel_arm(d->wheel, &d->tick, *d->now_ns);
	*out = &d->pub;
	return 0;
}
