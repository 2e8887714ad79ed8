#include "dataplane/net/dpdk/dpdk_udp.h"

#include "dataplane/net/dpdk/dpdk_tx.h"

enum { PORT_FIRST = 49152 };

static bool is_any(const struct addr *a)
{
	return wire_is_zero(a->ip, WIRE_IP_BYTES) ||
	       (wire_is_v4(a->ip) && wire_is_zero(a->ip + 12, 4));
}

static struct net_udp *find(struct dpdk *d, const struct addr *local)
{
	for (uint32_t i = 0; i < d->udp_count; i++) {
		struct net_udp *udp = &d->udps[i];
		if (udp->local.port == local->port &&
			(memcmp(udp->local.ip, local->ip, WIRE_IP_BYTES) == 0 ||
				(is_any(&udp->local) &&
					wire_is_v4(udp->local.ip) == wire_is_v4(local->ip))))
			return udp;
	}
	return NULL;
}

struct net_udp *dpdk_udp_open(
	struct net *net, const struct addr *local, net_datagram *on_datagram, void *user)
{
	struct dpdk *d = (struct dpdk *)net;
	struct addr at = *local;
	if (d->udp_count == LIMIT_LISTENERS)
		return NULL;
	/* The same on every lcore: they open their sockets in the same order. */
	if (at.port == 0)
		at.port = (uint16_t)(PORT_FIRST + d->udp_count);
	if ((!is_any(&at) && route_local(&d->node->routes, ROUTE_NONE, at.ip) == NULL) ||
		find(d, &at) != NULL)
		return NULL;
	struct net_udp *udp = &d->udps[d->udp_count++];
	*udp = (struct net_udp){.dpdk = d, .local = at, .on_datagram = on_datagram, .user = user};
	return udp;
}

bool dpdk_udp_send(struct net_udp *udp, const struct addr *to, struct span data)
{
	struct dpdk *d = udp->dpdk;
	struct addr from = udp->local;
	struct route_hop hop;
	uint8_t head[UDP_HEADER];
	if (data.len > UINT16_MAX - UDP_HEADER)
		return false;
	if (is_any(&from)) {
		if (!route_find(&d->node->routes, NULL, to->ip, &hop))
			return false;
		memcpy(from.ip, hop.from->ip, WIRE_IP_BYTES);
	}
	udp_write(head, &from, to, data, dpdk_tx_is_offloaded(d, from.ip, to->ip));
	return dpdk_tx_packet(
		d, from.ip, to->ip, IP_PROTO_UDP, (struct span){head, sizeof(head)}, data);
}

const struct addr *dpdk_udp_local(const struct net_udp *udp)
{
	return &udp->local;
}

bool dpdk_udp_input(struct dpdk *d, const struct ip_in *ip, const struct udp_in *in)
{
	struct addr to = {.port = in->to_port}, from = {.port = in->from_port};
	memcpy(to.ip, ip->to, WIRE_IP_BYTES);
	memcpy(from.ip, ip->from, WIRE_IP_BYTES);
	struct net_udp *udp = find(d, &to);
	if (udp == NULL)
		return false;
	udp->on_datagram(udp->user, udp, &from, in->data);
	return true;
}
