#include "dataplane/lcore/lcore.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "dataplane/net/dpdk/dpdk.h"
#include "dataplane/net/host/host.h"
#include "dataplane/net/ip_table.h"
#include "lib/clock/clock.h"
#include "lib/mem/mem.h"

#define LCORE_SPIN_NS  (20 * NS_PER_US)
#define LCORE_SLEEP_NS (100 * NS_PER_MS)
#define LCORE_HOUSE_NS NS_PER_MS

struct lcore {
	/* the loop's own */
	uint64_t now_ns;
	uint64_t worked_ns; /* when there was something to do last */
	uint64_t house_ns;  /* when housekeeping is due */
	uint64_t finish_ns; /* LCORE_FINISH: the end of patience */
	unsigned waiting;   /* connections that HTTP wants to go on with in the next turn */
	uint32_t index;
	uint32_t lcores;
	bool is_polling; /* net.poll busy */
	enum lcore_order obeyed;
	struct seg *seg;
	struct tally *tally;
	struct net *net;
	struct http_server *http;
	struct ip_table *ips;
	struct jobs jobs;
	struct wheel wheel;
	struct conf conf;
	uint64_t conf_version;

	/* (w: main thread) */
	alignas(CACHE_LINE) _Atomic uint32_t order;

	/* (w: the loop, r: main thread) */
	alignas(CACHE_LINE) _Atomic uint32_t obeys;
	_Atomic uint32_t busy;
	_Atomic uint32_t aborted;
	_Atomic bool is_ended;
	_Atomic uint64_t beat_ns;
};

/* One client address meets several lcores: each has its share, so that the sum keeps the limit. */
static void apply_limits(struct lcore *lc)
{
	const struct conf *conf = &lc->conf;
	struct ip_table_limits limits = {
		.conns = (uint32_t)((conf->limits_conns_per_ip + lc->lcores - 1) / lc->lcores),
		.rate_per_s = (uint32_t)((conf->limits_ip_rate + lc->lcores - 1) / lc->lcores),
		.burst = (uint32_t)((conf->limits_ip_burst + lc->lcores - 1) / lc->lcores),
	};
	ip_table_limit(lc->ips, &limits);
}

static int open_net(struct lcore *lc, const struct lcore_conf *c, char *why, size_t why_size)
{
	struct net_conf conf = {
		.conns_max = (uint32_t)lc->conf.net_conns_max,
		.rx_blocks = (uint32_t)lc->conf.net_rx_blocks,
		.wheel = &lc->wheel,
		.tally = lc->tally,
		.ips = lc->ips,
		.capture = &lc->seg->capture,
		.lcore = lc->index,
		.now_ns = &lc->now_ns,
	};
	if (c->dpdk != NULL)
		return dpdk_open(&lc->net, &conf, c->dpdk, lc->index, why, why_size);
	return host_open(&lc->net, &conf, why, why_size);
}

static int open_http(struct lcore *lc, const struct lcore_conf *c)
{
	struct http_server_conf conf = {
		.conf = &lc->conf,
		.net = lc->net,
		.wheel = &lc->wheel,
		.jobs = &lc->jobs,
		.tally = lc->tally,
		.ips = lc->ips,
		.blocks = storage_blocks(c->storage),
		.route = gateway_route,
		.route_ctx = c->gateway,
		.conns_max = (uint32_t)lc->conf.net_conns_max,
		.now_ns = &lc->now_ns,
	};
	return http_server_init(&lc->http, &conf);
}

static int listen_all(struct lcore *lc, char *why, size_t why_size)
{
	for (uint64_t i = 0; i < lc->conf.net_listen.count; i++) {
		const char *text = lc->conf.net_listen.items[i];
		struct net_listener_conf listener = {
			.backlog = (unsigned)lc->conf.net_backlog,
			.is_first = lc->index == 0,
			.events = http_server_events(),
			.user = lc->http,
		};
		int rc = addr_parse(&listener.local, text);
		if (rc == 0)
			rc = net_listen(lc->net, &listener, NULL);
		if (rc != 0) {
			snprintf(why, why_size, "cannot listen on %s: %s", text, strerror(-rc));
			return rc;
		}
	}
	return 0;
}

int lcore_open(struct lcore **out, const struct lcore_conf *c, char *why, size_t why_size)
{
	snprintf(why, why_size, "no memory for lcore %u", c->index);
	struct lcore *lc = mem_map(sizeof(*lc));
	if (lc == NULL)
		return -ENOMEM;
	lc->index = c->index;
	lc->lcores = c->lcores;
	lc->seg = c->seg;
	lc->tally = &c->seg->tally[c->index];
	lc->conf = *c->conf;
	lc->conf_version = c->conf_version;
	lc->is_polling = c->conf->net_poll == CONF_POLL_BUSY;
	lc->now_ns = clock_now_ns();
	atomic_store(&lc->beat_ns, lc->now_ns);
	wheel_init(&lc->wheel, lc->now_ns);
	int rc = jobs_init(&lc->jobs, c->seg, c->index);
	if (rc == 0)
		rc = ip_table_init(&lc->ips, LIMIT_IP_TABLE);
	if (rc == 0)
		rc = open_net(lc, c, why, why_size);
	if (rc == 0)
		rc = open_http(lc, c);
	if (rc == 0)
		rc = listen_all(lc, why, why_size);
	if (rc != 0) {
		lcore_close(lc);
		return rc;
	}
	apply_limits(lc);
	*out = lc;
	return 0;
}

void lcore_close(struct lcore *lc)
{
	if (lc->net != NULL)
		net_fini(lc->net);
	if (lc->http != NULL)
		http_server_fini(lc->http);
	if (lc->ips != NULL)
		ip_table_fini(lc->ips);
	jobs_fini(&lc->jobs);
	mem_unmap(lc, sizeof(*lc));
}

/* The last answers go out by themselves; this only bounds how long their clients may take. */
static void obey(struct lcore *lc, enum lcore_order order)
{
	lc->obeyed = order;
	if (order >= LCORE_DRAIN && !http_server_is_draining(lc->http))
		http_server_drain(lc->http);
	if (order >= LCORE_FINISH)
		net_stop_listening(lc->net);
	if (order == LCORE_FINISH)
		lc->finish_ns = lc->now_ns + LIMIT_NET_LINGER_MS * NS_PER_MS;
	if (order == LCORE_ABORT)
		atomic_store(&lc->aborted, http_server_abort(lc->http));
	atomic_store(&lc->busy, http_server_busy(lc->http));
	atomic_store(&lc->obeys, order);
}

static void answer_ask(struct lcore *lc)
{
	struct seg_ask *ask = &lc->seg->ask[lc->index];
	uint64_t asked = __atomic_load_n(&ask->asked, __ATOMIC_ACQUIRE);
	if (asked == ask->answered)
		return;
	ask->next_cursor =
		http_server_describe(lc->http, ask->cursor, ask->row, ASK_ROWS, &ask->rows);
	__atomic_store_n(&ask->answered, asked, __ATOMIC_RELEASE);
}

static void housekeep(struct lcore *lc)
{
	lc->house_ns = lc->now_ns + LCORE_HOUSE_NS;
	atomic_store_explicit(&lc->beat_ns, lc->now_ns, memory_order_relaxed);
	const struct snap *snap = seg_conf(lc->seg);
	if (snap_version(snap) != lc->conf_version) {
		lc->conf_version = snap_read(snap, &lc->conf);
		apply_limits(lc);
		http_server_retime(lc->http);
	}
	answer_ask(lc);
	enum lcore_order order = atomic_load(&lc->order);
	if (order != lc->obeyed)
		obey(lc, order);
	else if (order != LCORE_SERVE)
		atomic_store(&lc->busy, http_server_busy(lc->http));
}

static uint64_t wait_of(const struct lcore *lc)
{
	if (lc->is_polling || lc->waiting != 0 || lc->now_ns - lc->worked_ns < LCORE_SPIN_NS)
		return 0;
	/* While draining somebody waits for news every millisecond. */
	uint64_t limit_ns =
		lc->now_ns + (lc->obeyed == LCORE_SERVE ? LCORE_SLEEP_NS : LCORE_HOUSE_NS);
	uint64_t next_ns = wheel_next_ns(&lc->wheel);
	if (next_ns > limit_ns)
		next_ns = limit_ns;
	return next_ns > lc->now_ns ? next_ns - lc->now_ns : 0;
}

static void turn(struct lcore *lc)
{
	uint64_t start_ns = lc->now_ns;
	unsigned done = net_poll(lc->net, start_ns, wait_of(lc));
	/* net_poll has set the clock after its wait: from here on time is work. */
	uint64_t awake_ns = lc->now_ns;
	done += jobs_reap(&lc->jobs);
	lc->waiting = http_server_turn(lc->http);
	wheel_advance(&lc->wheel, awake_ns);
	if (awake_ns >= lc->house_ns ||
		atomic_load_explicit(&lc->order, memory_order_relaxed) != lc->obeyed)
		housekeep(lc);
	lc->now_ns = clock_now_ns();
	http_server_turn_end(lc->http, lc->now_ns - awake_ns);
	tally_add(lc->tally, TALLY_LCORE_TOTAL, lc->now_ns - start_ns);
	if (done == 0)
		return;
	lc->worked_ns = lc->now_ns;
	tally_add(lc->tally, TALLY_LCORE_BUSY, lc->now_ns - awake_ns);
}

static bool is_over(const struct lcore *lc)
{
	if (lc->obeyed == LCORE_ABORT)
		return true;
	return lc->obeyed == LCORE_FINISH &&
	       (lc->now_ns >= lc->finish_ns || tally_get(lc->tally, TALLY_CONNS_OPEN) == 0);
}

int lcore_run(void *lcore)
{
	struct lcore *lc = lcore;
	tally_claim(lc->tally);
	lc->now_ns = clock_now_ns();
	while (!is_over(lc))
		turn(lc);
	tally_free(lc->tally); /* closing counts there too, from the main thread */
	atomic_store(&lc->is_ended, true);
	return 0;
}

struct jobs *lcore_jobs(struct lcore *lc)
{
	return &lc->jobs;
}

void lcore_order(struct lcore *lc, enum lcore_order order)
{
	if (atomic_load(&lc->order) >= order)
		return;
	atomic_store(&lc->order, order);
	net_wake(lc->net);
}

void lcore_wake(struct lcore *lc)
{
	net_wake(lc->net);
}

enum lcore_order lcore_obeys(const struct lcore *lc)
{
	return (enum lcore_order)atomic_load(&lc->obeys);
}

uint32_t lcore_busy(const struct lcore *lc)
{
	return atomic_load(&lc->busy);
}

uint32_t lcore_aborted(const struct lcore *lc)
{
	return atomic_load(&lc->aborted);
}

bool lcore_is_ended(const struct lcore *lc)
{
	return atomic_load(&lc->is_ended);
}

uint64_t lcore_beat_ns(const struct lcore *lc)
{
	return atomic_load(&lc->beat_ns);
}
