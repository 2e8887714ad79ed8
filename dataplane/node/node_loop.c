#include "dataplane/node/node_loop.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "dataplane/node/readiness.h"
#include "lib/base/version.h"
#include "lib/clock/clock.h"
#include "lib/log/log.h"

/* How long the control plane may be away before that counts: at a common start the two come up in any order, and a
 * restart takes a moment in which nobody misses it. */
enum { CONTROL_START_MS = 3000, CONTROL_RESTART_MS = 500 };

/* How long the lcores are given to take notice of a drain: a fifth of a second, in small steps. */
enum { OBEY_LOOKS = 2000, OBEY_NAP_US = 100 };

/* A macro, so that the format is checked where it is written. */
#define EMIT(n, kind, ...) \
	do { \
		if (!events_emit(&(n)->seg->events, SHM_DATAPLANE, kind, __VA_ARGS__)) \
			tally_inc((n)->tally, TALLY_QUEUE_DROPPED + QUEUE_EVENTS); \
	} while (0)

static uint64_t generation_of(const struct node *n)
{
	return __atomic_load_n(&n->seg->hearts[SHM_DATAPLANE].generation, __ATOMIC_ACQUIRE);
}

/* Signals only write the register; the loop reads it, as it does when the ops socket has written it. */
static void read_signals(struct node *n)
{
	struct signalfd_siginfo info;
	while (read(n->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGHUP)
			continue; /* a reload is the control plane's */
		__atomic_store_n(
			&n->seg->shutdown.requested_generation, generation_of(n), __ATOMIC_RELEASE);
	}
}

static bool is_shutdown_asked(const struct node *n)
{
	return __atomic_load_n(&n->seg->shutdown.requested_generation, __ATOMIC_ACQUIRE) ==
	       generation_of(n);
}

static void order_all(struct node *n, enum lcore_order order)
{
	for (uint32_t i = 0; i < n->cpus.count; i++)
		lcore_order(n->lcores[i], order);
}

static void look_at_control(struct node *n, uint64_t now_ns)
{
	bool is_up = seg_is_alive(n->seg, SHM_CONTROLPLANE);
	if (is_up != n->is_control_up) {
		if (is_up)
			EMIT(n, EVENT_PROCESS_UP, "the control plane is up");
		else
			EMIT(n, EVENT_PROCESS_DOWN, "the control plane is gone");
		LOG(INFO, "the control plane is %s",
			is_up ? "up" : "gone; serving on with the last configuration");
		n->control_late_ns = now_ns + CONTROL_RESTART_MS * NS_PER_MS;
	}
	n->is_control_up = is_up;
}

static void look_at_conf(struct node *n)
{
	const struct snap *snap = seg_conf(n->seg);
	if (snap_version(snap) == n->conf_version)
		return;
	n->conf_version = snap_read(snap, &n->conf);
	log_set_level((enum log_level)n->conf.log_level);
	LOG(INFO, "configuration version %llu is in force", (unsigned long long)n->conf_version);
}

static void look_after_storage(struct node *n, uint64_t now_ns)
{
	storage_report(n->storage, n->tally);
	if (now_ns < n->purged_ns + n->conf.amnesia_purge_interval_ms * NS_PER_MS)
		return;
	n->purged_ns = now_ns;
	uint32_t wiped = storage_purge(n->storage);
	tally_inc(n->tally, TALLY_AMNESIA_PURGES);
	if (wiped != 0)
		LOG(DEBUG, "purge: %u chunks wiped", wiped);
}

static unsigned lcores_missing(const struct node *n, uint64_t now_ns)
{
	unsigned missing = 0;
	for (uint32_t i = 0; i < n->cpus.count; i++) {
		uint64_t beat_ns = lcore_beat_ns(n->lcores[i]);
		missing += beat_ns + LIMIT_HEARTBEAT_STALE_MS * NS_PER_MS < now_ns;
	}
	return missing;
}

static void tell_change(struct node *n, const struct seg_ready *now)
{
	const char *first = now->reason_count != 0 ? now->reasons[0] : "all is well again";
	if (now->ready != n->ready.ready)
		EMIT(n, EVENT_READY, "%s: %s", now->ready ? "ready" : "not ready",
			now->ready && now->reason_count == 0 ? "all parts are up" : first);
	if (now->degraded != n->ready.degraded)
		EMIT(n, EVENT_DEGRADED, "%s: %s", now->degraded ? "degraded" : "not degraded",
			first);
}

static void publish_readiness(struct node *n, uint64_t now_ns)
{
	struct readiness_facts facts = {
		.is_draining = n->phase != NODE_SERVING,
		.is_controlplane_gone = !n->is_control_up && now_ns >= n->control_late_ns,
		.is_storage_full = storage_is_full(n->storage),
		.lcores_missing = lcores_missing(n, now_ns),
		.ports_missing = n->dpdk != NULL
					 ? dpdk_node_ports(n->dpdk) - dpdk_node_ports_up(n->dpdk)
					 : 0,
		.workers_missing = workers_missing(n->workers),
		.workers_stalled = workers_stalled(n->workers, now_ns),
		.work_depth = ring_depth(seg_ring(n->seg, QUEUE_STORAGE_WORK, 0)),
	};
	struct seg_ready now;
	readiness_compute(&now, &facts);
	if (memcmp(&now, &n->ready, sizeof(now)) == 0)
		return;
	tell_change(n, &now);
	n->ready = now;
	snap_publish(seg_ready(n->seg), &now);
}

static void beat(struct node *n, uint64_t now_ns)
{
	seg_beat(n->seg, SHM_DATAPLANE, n->phase == NODE_SERVING ? SEG_RUNNING : SEG_DRAINING);
	workers_supervise(n->workers, now_ns);
	look_at_control(n, now_ns);
	look_at_conf(n);
	look_after_storage(n, now_ns);
	if (n->dpdk != NULL) {
		dpdk_node_watch(n->dpdk, now_ns);
		dpdk_node_report(n->dpdk, n->tally);
	}
	publish_readiness(n, now_ns);
	uint64_t dropped = log_dropped();
	tally_add(n->tally, TALLY_QUEUE_DROPPED + QUEUE_LOG, dropped - n->log_dropped);
	n->log_dropped = dropped;
	if (n->has_watchdog)
		sd_notify(0, "WATCHDOG=1");
}

static bool is_obeyed(const struct node *n, enum lcore_order order)
{
	for (uint32_t i = 0; i < n->cpus.count; i++) {
		if (lcore_obeys(n->lcores[i]) < order)
			return false;
	}
	return true;
}

/* An lcore stops its intake and its own readiness in one step. The rest of the world is told when all have: who
 * reads `draining` there is not served here any more. An lcore that does not turn is not waited for. */
static void stop_intake(struct node *n, uint64_t now_ns)
{
	order_all(n, LCORE_DRAIN);
	for (int i = 0; i < OBEY_LOOKS && !is_obeyed(n, LCORE_DRAIN); i++)
		usleep(OBEY_NAP_US);
	seg_beat(n->seg, SHM_DATAPLANE, SEG_DRAINING);
	publish_readiness(n, now_ns);
}

static void begin_drain(struct node *n, uint64_t now_ns)
{
	n->phase = NODE_DRAINING;
	n->deadline_ns = now_ns + n->conf.drain_deadline_ms * NS_PER_MS;
	stop_intake(n, now_ns);
	sd_notify(0, "STOPPING=1");
	EMIT(n, EVENT_DRAIN, "draining, %llu ms for requests in flight",
		(unsigned long long)n->conf.drain_deadline_ms);
	LOG(INFO, "draining: %llu ms for requests in flight",
		(unsigned long long)n->conf.drain_deadline_ms);
}

static bool is_quiet(const struct node *n)
{
	/* First this: an lcore says how busy it is before it says that it obeys. */
	if (!is_obeyed(n, LCORE_DRAIN))
		return false;
	for (uint32_t i = 0; i < n->cpus.count; i++) {
		if (lcore_busy(n->lcores[i]) != 0)
			return false;
	}
	return true;
}

static bool are_ended(const struct node *n)
{
	for (uint32_t i = 0; i < n->cpus.count; i++) {
		if (!lcore_is_ended(n->lcores[i]))
			return false;
	}
	return true;
}

static void drain(struct node *n, uint64_t now_ns)
{
	if (n->phase == NODE_DRAINING && is_quiet(n)) {
		n->phase = NODE_FINISHING;
		order_all(n, LCORE_FINISH);
	}
	if (n->phase != NODE_SERVING && now_ns >= n->deadline_ns)
		order_all(n, LCORE_ABORT);
	if (!are_ended(n))
		return;
	for (uint32_t i = 0; i < n->cpus.count; i++)
		n->aborted += lcore_aborted(n->lcores[i]);
	n->phase = NODE_ENDED;
}

enum node_exit node_loop(struct node *n)
{
	uint64_t watchdog_us;
	n->has_watchdog = sd_watchdog_enabled(0, &watchdog_us) > 0;
	n->purged_ns = n->started_ns;
	n->control_late_ns = n->started_ns + CONTROL_START_MS * NS_PER_MS;
	n->is_control_up = seg_is_alive(n->seg, SHM_CONTROLPLANE);
	beat(n, clock_now_ns());
	sd_notify(0, "READY=1");
	LOG(INFO, "data plane %s of node %s serves on %s, %u lcore(s)", version_string(),
		n->conf.node_name, n->conf.net_listen.items[0], n->cpus.count);
	struct pollfd signals = {.fd = n->signal_fd, .events = POLLIN};
	uint64_t beat_at_ns = 0;
	while (n->phase != NODE_ENDED) {
		(void)poll(
			&signals, 1, n->phase == NODE_SERVING ? NODE_BEAT_MS : NODE_DRAIN_BEAT_MS);
		uint64_t now_ns = clock_now_ns();
		read_signals(n);
		if (n->phase == NODE_SERVING && is_shutdown_asked(n))
			begin_drain(n, now_ns);
		if (now_ns >= beat_at_ns) {
			beat(n, now_ns);
			beat_at_ns = now_ns + (NODE_BEAT_MS - 5) * NS_PER_MS;
		}
		drain(n, now_ns);
	}
	LOG(INFO, "drained, %u request(s) aborted", n->aborted);
	return n->aborted == 0 ? NODE_EXIT_DRAINED : NODE_EXIT_ABORTED;
}
