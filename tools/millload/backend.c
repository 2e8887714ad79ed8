#include "tools/millload/backend.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "dataplane/net/dpdk/dpdk.h"
#include "dataplane/net/host/host.h"
#include "lib/clock/clock.h"
#include "tools/millload/backend_dpdk.h"

#define BACKEND_WATCH_NS      (100 * NS_PER_MS)
#define BACKEND_LAST_TURNS_NS (50 * NS_PER_MS)
#define BACKEND_QUIET_NS      (200 * NS_PER_MS)

enum {
	BACKEND_SPARE_CONNS = 4096, /* that are closing while others open */
	BACKEND_RX_BLOCKS_MAX = 4096,
};

static int pin(const struct options *o, char *why, size_t why_size)
{
	if (o->lcore == OPTIONS_ANY)
		return 0;
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET((int)o->lcore, &set);
	if (sched_setaffinity(0, sizeof(set), &set) == 0)
		return 0;
	snprintf(why, why_size, "--lcore %d: %s", (int)o->lcore, strerror(errno));
	return -errno;
}

/* Each connection of the host back end is a descriptor. */
static int raise_descriptors(uint64_t wanted, char *why, size_t why_size)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return -errno;
	if (limit.rlim_cur >= wanted)
		return 0;
	struct rlimit more = {wanted, limit.rlim_max < wanted ? wanted : limit.rlim_max};
	if (setrlimit(RLIMIT_NOFILE, &more) == 0)
		return 0;
	snprintf(why, why_size, "%llu descriptors are needed: %s (ulimit -n)",
		(unsigned long long)wanted, strerror(errno));
	return -errno;
}

static uint32_t conns_of(const struct options *o)
{
	return (uint32_t)(o->idle + 2 * o->connections + BACKEND_SPARE_CONNS);
}

static int open_host(struct backend *b, const struct options *o, const struct net_conf *conf,
	char *why, size_t why_size)
{
	int rc = raise_descriptors(o->idle + 2 * o->connections + 64, why, why_size);
	return rc != 0 ? rc : host_open(&b->net, conf, why, why_size);
}

int backend_open(struct backend *b, const struct options *o, char *why, size_t why_size)
{
	*b = (struct backend){.now_ns = clock_now_ns()};
	int rc = pin(o, why, why_size);
	if (rc != 0)
		return rc;
	b->tally = aligned_alloc(CACHE_LINE, sizeof(*b->tally));
	if (b->tally == NULL) {
		snprintf(why, why_size, "no memory");
		return -ENOMEM;
	}
	memset(b->tally, 0, sizeof(*b->tally));
	wheel_init(&b->wheel, b->now_ns);
	uint64_t blocks = o->connections + o->idle;
	struct net_conf conf = {
		.conns_max = conns_of(o),
		.rx_blocks =
			(uint32_t)(blocks < BACKEND_RX_BLOCKS_MAX ? blocks : BACKEND_RX_BLOCKS_MAX),
		.wheel = &b->wheel,
		.tally = b->tally,
		.now_ns = &b->now_ns,
	};
	rc = o->backend == OPTIONS_DPDK
		     ? backend_dpdk_open(&b->node, &b->net, o, &conf, why, why_size)
		     : open_host(b, o, &conf, why, why_size);
	if (rc != 0)
		backend_close(b);
	return rc;
}

void backend_turn(struct backend *b)
{
	(void)net_poll(b->net, clock_now_ns(), 0);
	wheel_advance(&b->wheel, b->now_ns);
	if (b->node == NULL || b->now_ns < b->watch_ns)
		return;
	dpdk_node_watch(b->node, b->now_ns);
	b->watch_ns = b->now_ns + BACKEND_WATCH_NS;
}

bool backend_has_link(const struct backend *b)
{
	return b->node == NULL || dpdk_node_ports_up(b->node) != 0;
}

static void quieten(struct backend *b)
{
	const struct timespec quiet = {.tv_nsec = BACKEND_QUIET_NS};
	uint64_t end_ns = clock_now_ns() + BACKEND_LAST_TURNS_NS;
	while (clock_now_ns() < end_ns)
		backend_turn(b);
	net_fini(b->net);
	(void)nanosleep(&quiet, NULL);
}

void backend_end_net(struct backend *b)
{
	if (b->net == NULL)
		return;
	if (b->node != NULL)
		quieten(b);
	else
		net_fini(b->net);
	b->net = NULL;
}

void backend_close(struct backend *b)
{
	backend_end_net(b);
	if (b->node != NULL)
		backend_dpdk_close(b->node);
	b->node = NULL;
	free(b->tally);
	b->tally = NULL;
}
