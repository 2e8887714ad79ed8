#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

#include <rte_alarm.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include "dataplane/net/dpdk/dpdk_spread.h"
#include "dataplane/net/dpdk/nd.h"
#include "lib/clock/clock.h"
#include "lib/conf/conf_route.h"
#include "lib/conf/conf_types.h"
#include "lib/log/log.h"
#include "lib/mem/mem.h"

enum { CACHE = 256, WHOLES = 64, LINK_LOCAL_PREFIX = 64, NAME_BYTES = 64, ROOM_ALIGN = 64 };
enum { SETTLE_ALARM_US = 100 };
#define SETTLE_NS_MAX NS_PER_S

/* Names are known to the whole process: two nodes in one (tests) must differ. */
static struct rte_mempool *make_pool(const struct dpdk_node *node, const char *kind, unsigned lcore,
	unsigned count, unsigned private_bytes, unsigned room)
{
	char name[NAME_BYTES];
	snprintf(name, sizeof(name), "%s%u-%lx", kind, lcore, (unsigned long)(uintptr_t)node);
	unsigned cache = count / 4 < CACHE ? count / 4 : CACHE;
	return rte_pktmbuf_pool_create(
		name, count, cache, (uint16_t)private_bytes, (uint16_t)room, SOCKET_ID_ANY);
}

/* One buffer holds a whole frame, so that nobody above has to look for the rest of it. af_packet wants the buffers to
 * hold nearly all of a frame of its ring, whose own header is RING_HEADER. */
static unsigned buffer_room(uint16_t mtu)
{
	enum { RING_HEADER = 80 };
	unsigned frame = mtu + ETH_HEADER_MAX + 4 + RING_HEADER;
	if (frame < 2048)
		frame = 2048;
	return RTE_PKTMBUF_HEADROOM + (frame + ROOM_ALIGN - 1) / ROOM_ALIGN * ROOM_ALIGN;
}

static int open_pools(struct dpdk_node *node, char *why, size_t why_size)
{
	for (unsigned i = 0; i < node->lcores; i++) {
		node->pools[i] = make_pool(node, "mbuf", i, node->mbufs, 0, buffer_room(node->mtu));
		node->shells[i] = make_pool(node, "shell", i, node->mbufs / 2,
			RTE_ALIGN(sizeof(struct dpdk_shell), RTE_MBUF_PRIV_ALIGN), 0);
		node->wholes[i] = make_pool(
			node, "whole", i, WHOLES, 0, RTE_PKTMBUF_HEADROOM + LIMIT_FRAG_BYTES);
		if (node->pools[i] == NULL || node->shells[i] == NULL || node->wholes[i] == NULL) {
			snprintf(why, why_size,
				"no memory for %u packet buffers per lcore (dpdk.mbufs): %s",
				node->mbufs, rte_strerror(rte_errno));
			return -ENOMEM;
		}
	}
	return 0;
}

static int open_ports(struct dpdk_node *node, const struct conf *conf, char *why, size_t why_size)
{
	for (unsigned i = 0; i < conf->dpdk_ports.count; i++) {
		struct port_conf pc = {
			.device = conf->dpdk_ports.items[i],
			.lcores = (uint16_t)node->lcores,
			.mtu = node->mtu,
			.rx_desc = (uint16_t)conf->dpdk_rx_desc,
			.tx_desc = (uint16_t)conf->dpdk_tx_desc,
			.is_promiscuous = conf->dpdk_promiscuous != 0,
			.has_offloads = conf->dpdk_offloads != 0,
			.pools = node->pools,
		};
		int rc = port_open(&node->ports[i], &pc, why, why_size);
		if (rc != 0)
			return rc;
		node->port_count++;
	}
	return 0;
}

static int refuse(
	int rc, char *why, size_t why_size, const char *key, const char *item, const char *what)
{
	snprintf(why, why_size, "%s: %s: %s", key, item, what);
	return rc;
}

/* IPv6 wants a link-local address on each link (RFC 4291 2.8). */
static int add_link_local(struct dpdk_node *node, uint8_t iface)
{
	uint8_t ip[WIRE_IP_BYTES];
	nd_link_local(ip, node->routes.ifaces[iface].mac);
	int rc = route_add_addr(&node->routes, iface, ip, LINK_LOCAL_PREFIX);
	return rc == -EEXIST ? 0 : rc;
}

static int add_addr(struct dpdk_node *node, const char *item, char *why, size_t why_size)
{
	static const char key[] = "dpdk.addresses";
	struct conf_route_addr a;
	if (conf_route_parse_addr(&a, item) != 0)
		return refuse(-EINVAL, why, why_size, key, item, "not an address");
	if (a.port >= node->port_count)
		return refuse(
			-EINVAL, why, why_size, key, item, "there is no such port in dpdk.ports");
	if (!wire_is_v4(a.ip) && node->mtu < IP6_MTU_MIN)
		return refuse(-EINVAL, why, why_size, key, item, "IPv6 needs a dpdk.mtu of 1280");
	uint8_t iface = route_iface(&node->routes, a.port, a.vlan, node->ports[a.port].mac);
	if (iface == ROUTE_NONE)
		return refuse(-ENOSPC, why, why_size, key, item, "too many VLANs");
	int rc = route_add_addr(&node->routes, iface, a.ip, a.prefix);
	if (rc == 0 && !wire_is_v4(a.ip))
		rc = add_link_local(node, iface);
	return rc == 0 ? 0
		       : refuse(rc, why, why_size, key, item,
				 "it is there twice, or there are too many");
}

static int add_route(struct dpdk_node *node, const char *item, char *why, size_t why_size)
{
	static const char key[] = "dpdk.routes";
	struct conf_route r;
	if (conf_route_parse(&r, item) != 0)
		return refuse(-EINVAL, why, why_size, key, item, "not a route");
	int rc = route_add(&node->routes, &r.to, r.via);
	return rc == 0 ? 0
		       : refuse(rc, why, why_size, key, item,
				 "its gateway is in none of our networks");
}

static int open_routes(struct dpdk_node *node, const struct conf *conf, char *why, size_t why_size)
{
	int rc = 0;
	for (unsigned i = 0; rc == 0 && i < conf->dpdk_addresses.count; i++)
		rc = add_addr(node, conf->dpdk_addresses.items[i], why, why_size);
	for (unsigned i = 0; rc == 0 && i < conf->dpdk_routes.count; i++)
		rc = add_route(node, conf->dpdk_routes.items[i], why, why_size);
	return rc;
}

static void say_port(const struct port *p)
{
	LOG(INFO,
		"port %s: %02x:%02x:%02x:%02x:%02x:%02x, %u queue pairs, %s, checksums by %s, "
		"payload %s",
		p->device, p->mac[0], p->mac[1], p->mac[2], p->mac[3], p->mac[4], p->mac[5],
		p->tx_queues,
		p->has_rss ? "flows spread by the port" : "flows spread by the lcores",
		p->tx_sums_l4 ? "the port" : "the lcores",
		p->takes_chains && !p->keeps_pointers ? "not copied" : "copied");
}

int dpdk_node_open(struct dpdk_node **out, const struct conf *conf, unsigned lcores, char *why,
	size_t why_size)
{
	MUST(lcores > 0 && lcores <= LIMIT_LCORES);
	struct dpdk_node *node = mem_map(sizeof(*node));
	if (node == NULL) {
		snprintf(why, why_size, "no memory for the dpdk network back end");
		return -ENOMEM;
	}
	node->lcores = lcores;
	node->mtu = (uint16_t)conf->dpdk_mtu;
	node->mbufs = (uint32_t)conf->dpdk_mbufs;
	node->congestion = (uint32_t)conf->dpdk_congestion;
	int rc = open_pools(node, why, why_size);
	if (rc == 0)
		rc = dpdk_spread_open(node);
	if (rc == 0)
		rc = open_ports(node, conf, why, why_size);
	if (rc == 0)
		rc = open_routes(node, conf, why, why_size);
	if (rc != 0) {
		dpdk_node_close(node);
		return rc;
	}
	for (unsigned i = 0; i < node->port_count; i++)
		say_port(&node->ports[i]);
	*out = node;
	return 0;
}

static void on_settled(void *flag)
{
	atomic_store_explicit((atomic_bool *)flag, true, memory_order_release);
}

/* Waits until EAL's interrupt thread has gone through its list after the ports were closed: memif gives its control
 * channel back there, and must not find the memory gone. An alarm runs on that thread; the second one is asked for
 * after the first has run, so that a whole round lies between. Where there are no alarms there is no such thread. */
static void settle(void)
{
	for (unsigned round = 0; round < 2; round++) {
		atomic_bool is_settled = false;
		if (rte_eal_alarm_set(SETTLE_ALARM_US, on_settled, &is_settled) != 0)
			return;
		uint64_t until_ns = clock_now_ns() + SETTLE_NS_MAX;
		while (!atomic_load_explicit(&is_settled, memory_order_acquire) &&
			clock_now_ns() < until_ns)
			sched_yield();
		rte_eal_alarm_cancel(on_settled, &is_settled);
	}
}

void dpdk_node_close(struct dpdk_node *node)
{
	for (unsigned i = 0; i < node->port_count; i++)
		port_close(&node->ports[i]);
	settle();
	dpdk_spread_close(node);
	for (unsigned i = 0; i < node->lcores; i++) {
		rte_mempool_free(node->pools[i]);
		rte_mempool_free(node->shells[i]);
		rte_mempool_free(node->wholes[i]);
	}
	mem_unmap(node, sizeof(*node));
}

/* A device that came back may have another link address, and with it another link-local one. No lcore uses the port
 * now. */
static void adopt_mac(struct dpdk_node *node, unsigned port)
{
	struct route_table *t = &node->routes;
	for (unsigned i = 0; i < t->iface_count; i++) {
		struct route_iface *iface = &t->ifaces[i];
		uint8_t old[WIRE_IP_BYTES];
		if (iface->port != port)
			continue;
		nd_link_local(old, iface->mac);
		memcpy(iface->mac, node->ports[port].mac, WIRE_MAC_BYTES);
		for (unsigned k = 0; k < t->addr_count; k++) {
			if (t->addrs[k].iface == i &&
				memcmp(t->addrs[k].ip, old, WIRE_IP_BYTES) == 0)
				nd_link_local(t->addrs[k].ip, iface->mac);
		}
	}
}

void dpdk_node_watch(struct dpdk_node *node, uint64_t now_ns)
{
	for (unsigned i = 0; i < node->port_count; i++) {
		if (!port_watch(&node->ports[i], now_ns))
			continue;
		adopt_mac(node, i);
		port_resume(&node->ports[i]);
	}
}

void dpdk_node_report(struct dpdk_node *node, struct tally *tally)
{
	uint64_t losses[TALLY_SET_PORT];
	for (unsigned i = 0; i < node->port_count; i++) {
		if (!port_take_losses(&node->ports[i], losses))
			continue;
		for (unsigned k = 0; k < TALLY_SET_PORT; k++)
			tally_add(tally, TALLY_PORT_ERRORS + k, losses[k]);
	}
	tally_set(tally, TALLY_PORTS_UP, dpdk_node_ports_up(node));
}

unsigned dpdk_node_ports(const struct dpdk_node *node)
{
	return node->port_count;
}

unsigned dpdk_node_ports_up(const struct dpdk_node *node)
{
	unsigned up = 0;
	for (unsigned i = 0; i < node->port_count; i++)
		up += port_is_up(&node->ports[i]) && node->ports[i].has_link;
	return up;
}
