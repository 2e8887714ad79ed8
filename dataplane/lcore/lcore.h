/* lcore: one ingress core: its network, timers, jobs, HTTP server and poll loop. All per-core state is in it.
 *
 *   turn:  net_poll -> jobs_reap -> http_server_turn -> timers -> (each ms) housekeeping
 *
 * Owner:   opened and closed by the main thread while nothing runs; between, the lcore's own thread, except
 *          lcore_order, lcore_wake and the lcore_is / lcore_busy / lcore_aborted / lcore_beat_ns questions, which the
 *          main thread asks at any time.
 * Memory:  reserved in lcore_open; the loop allocates nothing.
 * Sleep:   net.poll adaptive: after LCORE_SPIN_NS without work the lcore sleeps in net_poll until the next timer, a
 *          packet or a wake, at most LCORE_SLEEP_NS. busy: never. */
#ifndef DATAPLANE_LCORE_LCORE_H
#define DATAPLANE_LCORE_LCORE_H

#include "dataplane/gateway/gateway.h"
#include "dataplane/job/job.h"

/* What the main thread wants. It only goes forward. */
enum lcore_order {
	LCORE_SERVE,
	LCORE_DRAIN, /* new requests 503, those under way go on */
	LCORE_FINISH, /* nothing is under way: take no connections, let the last answers reach their clients, end */
	LCORE_ABORT, /* cut what is under way, end */
};

struct dpdk_node;
struct lcore;

struct lcore_conf {
	uint32_t index;	 /* 0 .. LIMIT_LCORES - 1: tally slot, done ring, ask */
	uint32_t lcores; /* how many there are: they share the limits of one client address */
	struct seg *seg;
	const struct conf *conf; /* copied */
	uint64_t conf_version;	 /* of the snapshot that is known already */
	struct storage *storage;
	struct gateway *gateway;
	struct dpdk_node *dpdk; /* NULL: the host back end */
};

/* Reserves everything and listens. On failure returns -errno and fills `why`. */
CHECKED int lcore_open(struct lcore **out, const struct lcore_conf *c, char *why, size_t why_size);
void lcore_close(struct lcore *lc);

/* The loop, for rte_eal_remote_launch: ends with LCORE_FINISH or LCORE_ABORT. Returns 0. */
int lcore_run(void *lcore);

/* Its jobs, so that workers find them and the main thread can set their wake_worker before the loop runs. */
struct jobs *lcore_jobs(struct lcore *lc);

void lcore_order(struct lcore *lc, enum lcore_order order);
void lcore_wake(struct lcore *lc);

/* The order the loop has taken up. */
enum lcore_order lcore_obeys(const struct lcore *lc);
/* While draining: requests begun and not yet fully sent, as of the last millisecond. */
uint32_t lcore_busy(const struct lcore *lc);
/* Requests that LCORE_ABORT has cut. */
uint32_t lcore_aborted(const struct lcore *lc);
bool lcore_is_ended(const struct lcore *lc);
/* When it last did its housekeeping. */
uint64_t lcore_beat_ns(const struct lcore *lc);

#endif
