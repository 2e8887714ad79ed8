#include "tools/millload/backend_dpdk.h"

#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "dataplane/net/dpdk/dpdk.h"
#include "dataplane/net/dpdk/dpdk_eal.h"
#include "lib/conf/conf.h"
#include "lib/log/log.h"

static bool put(char *out, size_t size, const char *fmt, ...) PRINTF_LIKE(3, 4);
static bool put(char *out, size_t size, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	int n = vsnprintf(out, size, fmt, args);
	va_end(args);
	return n >= 0 && (size_t)n < size;
}

int backend_dpdk_conf(struct conf *out, const struct options *o, char *why, size_t why_size)
{
	struct conf_errors errors = {0};
	struct conf_input none = {0};
	int rc = conf_load(out, NULL, &none, &errors);
	MUST(rc == 0);
	out->net_backend = CONF_BACKEND_DPDK;
	out->dpdk_mtu = o->mtu;
	out->dpdk_mbufs = o->mbufs;
	out->dpdk_ports.count = 1;
	if (!put(out->dpdk_ports.items[0], sizeof(out->dpdk_ports.items[0]), "%s", o->vdev)) {
		snprintf(why, why_size, "--vdev is too long");
		return -EINVAL;
	}
	out->dpdk_addresses.count = o->address_count;
	for (unsigned i = 0; i < o->address_count; i++) {
		bool fits = put(out->dpdk_addresses.items[i], sizeof(out->dpdk_addresses.items[i]),
			"%s", o->addresses[i]);
		MUST(fits);
	}
	if (o->gateway == NULL)
		return 0;
	bool is_v4 = addr_is_v4(&o->targets[0].at);
	out->dpdk_routes.count = 1;
	if (!put(out->dpdk_routes.items[0], sizeof(out->dpdk_routes.items[0]), "%s via %s",
		    is_v4 ? "0.0.0.0/0" : "::/0", o->gateway)) {
		snprintf(why, why_size, "--gateway is too long");
		return -EINVAL;
	}
	return 0;
}

/* This thread's CPUs, as EAL wants them: the main lcore floats over all it may use, or has one (--lcore). */
static int lcore_map(char *out, size_t size)
{
	cpu_set_t allowed;
	if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
		return -errno;
	size_t len = (size_t)snprintf(out, size, "0@(");
	for (int cpu = 0; cpu < CPU_SETSIZE && len < size; cpu++) {
		if (CPU_ISSET(cpu, &allowed))
			len += (size_t)snprintf(out + len, size - len, "%d,", cpu);
	}
	if (len >= size)
		return -ENOSPC;
	out[len - 1] = ')';
	return 0;
}

static int start_eal(const struct conf *conf, char *why, size_t why_size)
{
	char map[4096];
	snprintf(why, why_size, "the list of allowed CPUs is too long for EAL");
	int rc = lcore_map(map, sizeof(map));
	if (rc != 0)
		return rc;
	struct dpdk_eal memory;
	dpdk_eal_args(&memory, conf, 1, dpdk_eal_has_huge_pages(dpdk_eal_memory(conf, 1)));
	return dpdk_eal_start("millload", map, &memory, why, why_size);
}

int backend_dpdk_open(struct dpdk_node **node, struct net **net, const struct options *o,
	const struct net_conf *net_conf, char *why, size_t why_size)
{
	struct conf *conf = calloc(1, sizeof(*conf));
	if (conf == NULL)
		return -ENOMEM;
	/* What a port tells about its link is for a node's log. */
	log_set_level(LOG_ERROR);
	int rc = backend_dpdk_conf(conf, o, why, why_size);
	if (rc == 0)
		rc = start_eal(conf, why, why_size);
	if (rc == 0)
		rc = dpdk_node_open(node, conf, 1, why, why_size);
	free(conf);
	if (rc != 0)
		return rc;
	rc = dpdk_open(net, net_conf, *node, 0, why, why_size);
	if (rc != 0)
		backend_dpdk_close(*node);
	return rc;
}

void backend_dpdk_close(struct dpdk_node *take_node)
{
	dpdk_node_close(take_node);
}
