#include "dataplane/net/dpdk/port.h"

#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_ethdev.h>

#include "lib/clock/clock.h"
#include "lib/log/log.h"

enum { PORT_LOOK_MS = 100, NAME_BYTES = RTE_ETH_NAME_MAX_LEN, ETHERNET_EXTRA = 18 };

void port_rss_key(uint8_t out[PORT_RSS_KEY_BYTES])
{
	for (unsigned i = 0; i < PORT_RSS_KEY_BYTES; i += 2) {
		out[i] = 0x6d;
		out[i + 1] = 0x5a;
	}
}

bool port_is_pci(const char *device)
{
	unsigned domain, bus, slot, function;
	int used = 0;
	if (sscanf(device, "%x:%x:%x.%x%n", &domain, &bus, &slot, &function, &used) == 4)
		return device[used] == '\0' || device[used] == ',';
	if (sscanf(device, "%x:%x.%x%n", &bus, &slot, &function, &used) == 3)
		return device[used] == '\0' || device[used] == ',';
	return false;
}

void port_find_iface(const char *args, char out[PORT_IFACE_BYTES])
{
	static const char key[] = ",iface=";
	const char *at = strstr(args, key);
	out[0] = '\0';
	/* net_tap makes its interface itself. */
	if (at == NULL || strncmp(args, "net_tap", 7) == 0)
		return;
	at += sizeof(key) - 1;
	size_t len = strcspn(at, ",");
	if (len >= PORT_IFACE_BYTES)
		return;
	memcpy(out, at, len);
	out[len] = '\0';
}

int port_split_device(const char *device, char *name, size_t name_size, const char **args)
{
	size_t len = strcspn(device, ",");
	if (len == 0 || len >= name_size)
		return -EINVAL;
	memcpy(name, device, len);
	name[len] = '\0';
	*args = device[len] == ',' ? device + len + 1 : device + len;
	return 0;
}

static int refuse(int rc, char *why, size_t why_size, const char *device, const char *what)
{
	snprintf(why, why_size, "port %s: %s: %s", device, what, rte_strerror(-rc));
	return rc;
}

/* Finds the device's port; attaches the device when it is not there yet. */
static int attach(struct port *p, char *why, size_t why_size)
{
	char name[NAME_BYTES];
	const char *args;
	if (port_split_device(p->device, name, sizeof(name), &args) != 0)
		return refuse(-EINVAL, why, why_size, p->device, "not a device");
	if (rte_eth_dev_get_port_by_name(name, &p->id) == 0)
		return 0;
	int rc = rte_dev_probe(p->device);
	if (rc != 0)
		return refuse(rc < 0 ? rc : -ENODEV, why, why_size, p->device, "cannot be opened");
	rc = rte_eth_dev_get_port_by_name(name, &p->id);
	return rc == 0 ? 0 : refuse(-ENODEV, why, why_size, p->device, "is not a network port");
}

static void choose_offloads(
	struct port *p, const struct rte_eth_dev_info *info, struct rte_eth_conf *conf)
{
	const uint64_t rx_l4 = RTE_ETH_RX_OFFLOAD_TCP_CKSUM | RTE_ETH_RX_OFFLOAD_UDP_CKSUM;
	const uint64_t tx_l4 = RTE_ETH_TX_OFFLOAD_TCP_CKSUM | RTE_ETH_TX_OFFLOAD_UDP_CKSUM;
	p->is_tap = strcmp(info->driver_name, "net_tap") == 0;
	/* A tap has no hardware: its driver would sum in our place, and gets chains of buffers wrong. */
	bool is_wanted = p->conf.has_offloads && !p->is_tap;
	uint64_t rx = is_wanted ? info->rx_offload_capa : 0;
	uint64_t tx = is_wanted ? info->tx_offload_capa : 0;
	p->rx_checks_ip = (rx & RTE_ETH_RX_OFFLOAD_IPV4_CKSUM) != 0;
	p->rx_checks_l4 = (rx & rx_l4) == rx_l4;
	p->tx_sums_ip = (tx & RTE_ETH_TX_OFFLOAD_IPV4_CKSUM) != 0;
	p->tx_sums_l4 = (tx & tx_l4) == tx_l4;
	p->takes_chains = (info->tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS) != 0;
	conf->rxmode.offloads = (p->rx_checks_ip ? RTE_ETH_RX_OFFLOAD_IPV4_CKSUM : 0) |
				(p->rx_checks_l4 ? rx_l4 : 0);
	conf->txmode.offloads = (p->tx_sums_ip ? RTE_ETH_TX_OFFLOAD_IPV4_CKSUM : 0) |
				(p->tx_sums_l4 ? tx_l4 : 0) |
				(p->takes_chains ? RTE_ETH_TX_OFFLOAD_MULTI_SEGS : 0);
	/* net_ring gives the buffers themselves to whoever reads the ring; a card on the PCI bus reads them by DMA, which
	 * the memory of the slab is not mapped for. */
	p->keeps_pointers |= strcmp(info->driver_name, "net_ring") == 0 || port_is_pci(p->device);
}

static int choose_queues(
	struct port *p, const struct rte_eth_dev_info *info, char *why, size_t why_size)
{
	if (info->max_tx_queues == 0 || info->max_rx_queues == 0) {
		snprintf(why, why_size,
			"port %s has %u receive and %u transmit queues: it needs one of each",
			p->device, info->max_rx_queues, info->max_tx_queues);
		return -ENOSPC;
	}
	p->tx_queues = info->max_tx_queues < p->conf.lcores ? info->max_tx_queues : p->conf.lcores;
	/* What one lcore gives, another may take back: not into the hands of the wrong engine. */
	if (p->tx_queues < p->conf.lcores)
		p->keeps_pointers = true;
	p->reta_size = info->reta_size;
	p->rx_queues = info->max_rx_queues < p->conf.lcores ? info->max_rx_queues : p->conf.lcores;
	const uint64_t wanted = RTE_ETH_RSS_NONFRAG_IPV4_TCP;
	p->has_rss =
		p->conf.lcores == 1 || (p->rx_queues == p->conf.lcores && info->reta_size != 0 &&
					       (info->flow_type_rss_offloads & wanted) == wanted);
	return 0;
}

static void choose_rss(const struct port *p, const struct rte_eth_dev_info *info,
	struct rte_eth_conf *conf, uint8_t *key)
{
	if (!p->has_rss || p->conf.lcores == 1)
		return;
	port_rss_key(key);
	conf->rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
	conf->rx_adv_conf.rss_conf.rss_key = key;
	conf->rx_adv_conf.rss_conf.rss_key_len =
		info->hash_key_size != 0 && info->hash_key_size <= PORT_RSS_KEY_BYTES
			? info->hash_key_size
			: 40;
	conf->rx_adv_conf.rss_conf.rss_hf =
		(RTE_ETH_RSS_IP | RTE_ETH_RSS_TCP | RTE_ETH_RSS_UDP) & info->flow_type_rss_offloads;
}

static int set_up_queues(struct port *p, const struct rte_eth_dev_info *info)
{
	uint16_t rx_desc = p->conf.rx_desc, tx_desc = p->conf.tx_desc;
	int socket = rte_eth_dev_socket_id(p->id);
	int rc = rte_eth_dev_adjust_nb_rx_tx_desc(p->id, &rx_desc, &tx_desc);
	(void)info;
	for (uint16_t q = 0; rc == 0 && q < p->rx_queues; q++)
		rc = rte_eth_rx_queue_setup(
			p->id, q, rx_desc, (unsigned)socket, NULL, p->conf.pools[q]);
	for (uint16_t q = 0; rc == 0 && q < p->tx_queues; q++)
		rc = rte_eth_tx_queue_setup(p->id, q, tx_desc, (unsigned)socket, NULL);
	return rc;
}

/* These drivers name Ethernet's usual frame as their largest, whatever frames their arguments make room for. */
static bool understates_frames(const struct rte_eth_dev_info *info)
{
	return strcmp(info->driver_name, "net_af_packet") == 0 ||
	       strcmp(info->driver_name, "net_memif") == 0;
}

static int choose_mtu(
	const struct port *p, const struct rte_eth_dev_info *info, struct rte_eth_conf *conf)
{
	uint32_t frame = (uint32_t)p->conf.mtu + ETHERNET_EXTRA;
	bool is_told = frame <= info->max_rx_pktlen &&
		       (p->conf.mtu <= info->max_mtu || info->max_mtu == 0);
	if (is_told)
		conf->rxmode.mtu = p->conf.mtu;
	return is_told || understates_frames(info) ? 0 : -EMSGSIZE;
}

static int configure(struct port *p, char *why, size_t why_size)
{
	uint8_t key[PORT_RSS_KEY_BYTES];
	struct rte_eth_dev_info info;
	struct rte_eth_conf conf = {0};
	int rc = rte_eth_dev_info_get(p->id, &info);
	if (rc != 0)
		return refuse(rc, why, why_size, p->device, "says nothing about itself");
	p->keeps_pointers = false;
	rc = choose_queues(p, &info, why, why_size);
	if (rc != 0)
		return rc;
	choose_offloads(p, &info, &conf);
	choose_rss(p, &info, &conf, key);
	rc = choose_mtu(p, &info, &conf);
	if (rc != 0)
		return refuse(rc, why, why_size, p->device, "dpdk.mtu is above its largest");
	rc = rte_eth_dev_configure(p->id, p->rx_queues, p->tx_queues, &conf);
	if (rc != 0)
		return refuse(rc, why, why_size, p->device, "cannot be configured");
	rc = set_up_queues(p, &info);
	return rc == 0 ? 0 : refuse(rc, why, why_size, p->device, "has no such queues");
}

/* Some virtual devices know no modes and receive everything: not an error. */
static void choose_modes(const struct port *p)
{
	if (p->conf.is_promiscuous)
		(void)rte_eth_promiscuous_enable(p->id);
	/* The groups of neighbour discovery; a port without filters for them gets everything instead. */
	if (rte_eth_allmulticast_enable(p->id) != 0 && !p->conf.is_promiscuous)
		(void)rte_eth_promiscuous_enable(p->id);
}

static int start(struct port *p, char *why, size_t why_size)
{
	int rc = attach(p, why, why_size);
	if (rc != 0)
		return rc;
	rc = configure(p, why, why_size);
	if (rc == 0) {
		rc = rte_eth_dev_start(p->id);
		if (rc != 0)
			(void)refuse(rc, why, why_size, p->device, "does not start");
	}
	struct rte_ether_addr mac;
	if (rc == 0)
		rc = rte_eth_macaddr_get(p->id, &mac);
	if (rc != 0) {
		port_close(p);
		return rc;
	}
	memcpy(p->mac, mac.addr_bytes, WIRE_MAC_BYTES);
	/* A tap gives its interface in the kernel and us the same address; both would take the other's frames for theirs. */
	if (p->is_tap)
		p->mac[WIRE_MAC_BYTES - 1] ^= 1;
	choose_modes(p);
	p->has_link = true;
	p->iface_index = p->iface[0] != '\0' ? if_nametoindex(p->iface) : 0;
	return 0;
}

int port_open(struct port *p, const struct port_conf *conf, char *why, size_t why_size)
{
	MUST(conf->lcores > 0 && conf->lcores <= LIMIT_LCORES);
	p->conf = *conf;
	int n = snprintf(p->device, sizeof(p->device), "%s", conf->device);
	if (n < 0 || (size_t)n >= sizeof(p->device))
		return refuse(-EINVAL, why, why_size, conf->device, "the device is too long");
	p->conf.device = p->device;
	port_find_iface(p->device, p->iface);
	int rc = start(p, why, why_size);
	if (rc == 0)
		port_resume(p);
	return rc;
}

void port_resume(struct port *p)
{
	atomic_store_explicit(&p->state, PORT_UP, memory_order_release);
}

void port_close(struct port *p)
{
	char name[NAME_BYTES];
	const char *args;
	atomic_store(&p->state, PORT_CLOSED);
	if (!rte_eth_dev_is_valid_port(p->id))
		return;
	struct rte_eth_dev_info info;
	bool has_info = rte_eth_dev_info_get(p->id, &info) == 0;
	(void)rte_eth_dev_stop(p->id);
	(void)rte_eth_dev_close(p->id);
	if (has_info && info.device != NULL &&
		port_split_device(p->device, name, sizeof(name), &args) == 0)
		(void)rte_dev_remove(info.device);
}

void port_enter(struct port *p, unsigned lcore)
{
	atomic_store(&p->is_used[lcore], true);
}

void port_leave(struct port *p, unsigned lcore)
{
	atomic_store_explicit(&p->is_used[lcore], false, memory_order_release);
}

static bool is_left(struct port *p)
{
	for (unsigned i = 0; i < p->conf.lcores; i++) {
		if (atomic_load_explicit(&p->is_used[i], memory_order_acquire))
			return false;
	}
	return true;
}

/* Drivers that stand on an interface of the kernel do not tell its state. */
static bool is_iface_running(const struct port *p)
{
	struct ifreq request = {0};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	memcpy(request.ifr_name, p->iface, sizeof(p->iface));
	bool is_running = fd >= 0 && ioctl(fd, SIOCGIFFLAGS, &request) == 0 &&
			  (request.ifr_flags & IFF_RUNNING) != 0;
	if (fd >= 0)
		close(fd);
	return is_running;
}

static bool is_gone(const struct port *p)
{
	if (p->iface[0] != '\0')
		return if_nametoindex(p->iface) != p->iface_index;
	return !p->has_link && rte_eth_dev_is_removed(p->id) != 0;
}

static void watch_link(struct port *p)
{
	struct rte_eth_link link;
	bool has_link;
	if (p->iface[0] != '\0')
		has_link = is_iface_running(p);
	else if (rte_eth_link_get_nowait(p->id, &link) == 0)
		has_link = link.link_status == RTE_ETH_LINK_UP;
	else
		return;
	if (has_link == p->has_link)
		return;
	p->has_link = has_link;
	if (has_link)
		LOG(INFO, "port %s: the link is up", p->device);
	else
		LOG(WARN, "port %s: the link is down", p->device);
}

bool port_take_losses(struct port *p, uint64_t out[TALLY_SET_PORT])
{
	struct rte_eth_stats stats;
	if (!port_is_up(p) || rte_eth_stats_get(p->id, &stats) != 0)
		return false;
	const uint64_t now[TALLY_SET_PORT] = {
		[LABEL_PORT_RX_MISSED] = stats.imissed,
		[LABEL_PORT_RX_ERRORS] = stats.ierrors,
		[LABEL_PORT_RX_NO_BUFFER] = stats.rx_nombuf,
		[LABEL_PORT_TX_ERRORS] = stats.oerrors,
	};
	for (unsigned i = 0; i < TALLY_SET_PORT; i++) {
		/* A device that came back counts from zero. */
		out[i] = now[i] >= p->losses[i] ? now[i] - p->losses[i] : now[i];
		p->losses[i] = now[i];
	}
	return true;
}

bool port_watch(struct port *p, uint64_t now_ns)
{
	char why[256];
	if (now_ns < p->retry_ns)
		return false;
	switch ((enum port_state)atomic_load(&p->state)) {
	case PORT_UP:
		p->retry_ns = now_ns + PORT_LOOK_MS * NS_PER_MS;
		watch_link(p);
		if (!is_gone(p))
			return false;
		LOG(ERROR, "port %s is gone", p->device);
		p->has_link = false;
		atomic_store(&p->state, PORT_LEAVING);
		return false;
	case PORT_LEAVING:
		if (is_left(p))
			port_close(p);
		return false;
	case PORT_CLOSED:
		p->retry_ns = now_ns + PORT_RETRY_MS * NS_PER_MS;
		if (start(p, why, sizeof(why)) != 0)
			return false;
		LOG(INFO, "port %s is back", p->device);
		return true;
	}
	return false;
}
