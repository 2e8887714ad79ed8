#include "dataplane/node/node.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "dataplane/node/cpus.h"
#include "dataplane/node/eal.h"
#include "dataplane/node/node_loop.h"
#include "lib/clock/clock.h"
#include "lib/log/log.h"
#include "lib/mem/mem.h"

enum { CONF_WAIT_MS = 200, CONF_NAP_US = 2000 };

/* Before any thread starts, so that all inherit it; the main loop reads them from a descriptor. */
static int take_signals(struct node *n)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	signal(SIGPIPE, SIG_IGN);
	if (sigprocmask(SIG_BLOCK, &set, NULL) != 0)
		return -errno;
	n->signal_fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	return n->signal_fd >= 0 ? 0 : -errno;
}

/* Every connection is a descriptor. */
static void raise_descriptors(const struct node *n)
{
	struct rlimit limit;
	rlim_t want = n->conf.net_conns_max * n->cpus.count + 256;
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= want)
		return;
	limit.rlim_cur = limit.rlim_max < want ? limit.rlim_max : want;
	if (setrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur < want)
		LOG(WARN,
			"only %llu descriptors for %llu connections; raise LimitNOFILE or ulimit "
			"-n",
			(unsigned long long)limit.rlim_cur,
			(unsigned long long)(n->conf.net_conns_max * n->cpus.count));
}

/* A living control plane's word counts from the start; what a dead one left in the segment does not. */
static void adopt_conf(struct node *n)
{
	struct snap *snap = seg_conf(n->seg);
	uint64_t end_ns = clock_now_ns() + CONF_WAIT_MS * NS_PER_MS;
	while (seg_is_alive(n->seg, SHM_CONTROLPLANE) && clock_now_ns() < end_ns) {
		if (snap_version(snap) != 0) {
			n->conf_version = snap_read(snap, &n->conf);
			return;
		}
		usleep(CONF_NAP_US);
	}
	n->conf_version = snap_version(snap);
}

/* Values with a meaning that this build does not have. */
static int check_build(const struct conf *conf)
{
	if (conf->net_backend == CONF_BACKEND_FSTACK) {
		LOG(ERROR, "net.backend: fstack is not in this build, which has: host, dpdk");
		return -ENOTSUP;
	}
	if (!conf->node_amnesia) {
		LOG(ERROR, "node.amnesia: this build keeps nothing on disk; allowed: true");
		return -ENOTSUP;
	}
	return 0;
}

/* What can be wrong with the configuration only on this machine. */
static int check_machine(struct node *n, cpu_set_t *allowed)
{
	char why[256];
	int rc = check_build(&n->conf);
	if (rc != 0)
		return rc;
	rc = cpus_allowed(allowed);
	if (rc != 0) {
		LOG(ERROR, "cannot tell the allowed CPUs: %s", strerror(-rc));
		return rc;
	}
	rc = cpus_pick(&n->cpus, &n->conf, allowed, why, sizeof(why));
	if (rc != 0)
		LOG(ERROR, "%s", why);
	return rc;
}

static int open_lcores(struct node *n, char *why, size_t why_size)
{
	for (uint32_t i = 0; i < n->cpus.count; i++) {
		struct lcore_conf c = {
			.index = i,
			.lcores = n->cpus.count,
			.seg = n->seg,
			.conf = &n->conf,
			.conf_version = n->conf_version,
			.storage = n->storage,
			.gateway = n->gateway,
			.dpdk = n->dpdk,
		};
		int rc = lcore_open(&n->lcores[i], &c, why, why_size);
		if (rc != 0)
			return rc;
		n->jobs[i] = lcore_jobs(n->lcores[i]);
	}
	return 0;
}

static void wake_lcore(void *ctx, uint32_t lcore)
{
	struct node *n = ctx;
	lcore_wake(n->lcores[lcore]);
}

static int open_workers(struct node *n, char *why, size_t why_size)
{
	struct workers_conf c = {
		.seg = n->seg, .jobs = n->jobs, .wake_lcore = wake_lcore, .wake_ctx = n};
	int rc = workers_open(&n->workers, &c, why, why_size);
	for (uint32_t i = 0; rc == 0 && i < n->cpus.count; i++) {
		n->jobs[i]->wake_worker = workers_wake;
		n->jobs[i]->wake_ctx = n->workers;
	}
	return rc;
}

static int launch(struct node *n, char *why, size_t why_size)
{
	struct tally *tally = &n->seg->tally[TALLY_SLOT_DATAPLANE];
	for (uint32_t i = 0; i < n->cpus.count; i++) {
		int rc = eal_launch(i, lcore_run, n->lcores[i]);
		if (rc != 0) {
			snprintf(why, why_size, "lcore %u does not start: %s", i, strerror(-rc));
			return rc;
		}
		n->launched++;
		n->seg->lcore_cpu[i] = n->cpus.cpu[i];
		tally_inc(tally, TALLY_TASKS_SPAWNED + LABEL_KIND_LCORE);
	}
	__atomic_store_n(&n->seg->lcore_count, n->cpus.count, __ATOMIC_RELEASE);
	tally_inc(tally, TALLY_TASKS_SPAWNED + LABEL_KIND_DATAPLANE);
	return 0;
}

/* From the bottom up; what fails has filled `why`. */
static int start(struct node *n, const cpu_set_t *allowed, char *why, size_t why_size)
{
	int rc = seg_attach(&n->seg, n->conf.node_name, SHM_DATAPLANE, why, why_size);
	if (rc != 0)
		return rc;
	n->started_ns = clock_now_ns();
	n->tally = &n->seg->tally[TALLY_SLOT_DATAPLANE];
	tally_claim(n->tally);
	adopt_conf(n);
	log_set_level((enum log_level)n->conf.log_level);
	raise_descriptors(n);
	rc = eal_start(&n->conf, &n->cpus, allowed, why, why_size);
	if (rc != 0)
		return rc;
	if (n->conf.net_backend == CONF_BACKEND_DPDK)
		rc = dpdk_node_open(&n->dpdk, &n->conf, n->cpus.count, why, why_size);
	if (rc == 0)
		rc = storage_open(&n->storage, &n->conf, why, why_size);
	if (rc == 0) {
		snprintf(why, why_size, "no memory for the gateway");
		rc = gateway_open(&n->gateway, n->storage, n->seg);
	}
	if (rc == 0)
		rc = open_lcores(n, why, why_size);
	if (rc == 0)
		rc = open_workers(n, why, why_size);
	if (rc == 0)
		rc = launch(n, why, why_size);
	return rc;
}

/* From the top down; also after a start that came half way. */
static void stop(struct node *n)
{
	mem_unseal();
	for (uint32_t i = 0; i < n->launched; i++) {
		lcore_order(n->lcores[i], LCORE_ABORT);
		eal_join(i);
	}
	if (n->workers != NULL)
		workers_close(n->workers);
	for (uint32_t i = 0; i < n->cpus.count; i++) {
		if (n->lcores[i] != NULL)
			lcore_close(n->lcores[i]);
	}
	if (n->dpdk != NULL)
		dpdk_node_close(n->dpdk);
	if (n->gateway != NULL)
		gateway_close(n->gateway);
	if (n->storage != NULL)
		storage_close(n->storage);
	if (n->seg != NULL) {
		seg_beat(n->seg, SHM_DATAPLANE, SEG_STOPPED);
		seg_detach(n->seg);
	}
	if (n->signal_fd >= 0)
		close(n->signal_fd);
}

static enum node_exit run(struct node *n)
{
	char why[256] = "out of memory or descriptors";
	cpu_set_t allowed;
	if (check_machine(n, &allowed) != 0)
		return NODE_EXIT_CONFIG;
	int rc = start(n, &allowed, why, sizeof(why));
	if (rc != 0) {
		LOG(ERROR, "cannot start: %s", why);
		stop(n);
		return NODE_EXIT_START;
	}
	mem_seal();
	enum node_exit code = node_loop(n);
	stop(n);
	return code;
}

enum node_exit node_run(const struct conf *conf)
{
	struct node n = {.conf = *conf, .signal_fd = -1};
	int rc = take_signals(&n);
	if (rc == 0)
		rc = log_start("dataplane", (enum log_level)conf->log_level,
			(enum log_format)conf->log_format);
	if (rc != 0) {
		LOG(ERROR, "cannot start: %s", strerror(-rc));
		return NODE_EXIT_START;
	}
	enum node_exit code = run(&n);
	log_stop();
	return code;
}
