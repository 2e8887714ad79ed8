#include "dataplane/net/dpdk/eth.h"

enum { VLAN_MASK = 0xfff };

const uint8_t eth_broadcast[WIRE_MAC_BYTES] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

bool eth_parse(struct eth_head *out, struct span frame)
{
	const uint8_t *p = frame.data;
	if (frame.len < ETH_HEADER)
		return false;
	memcpy(out->to, p, WIRE_MAC_BYTES);
	memcpy(out->from, p + WIRE_MAC_BYTES, WIRE_MAC_BYTES);
	out->vlan = 0;
	out->type = wire_get16(p + 12);
	out->len = ETH_HEADER;
	if (LIKELY(out->type != ETH_TYPE_VLAN))
		return true;
	if (frame.len < ETH_HEADER_MAX)
		return false;
	out->vlan = wire_get16(p + 14) & VLAN_MASK;
	out->type = wire_get16(p + 16);
	out->len = ETH_HEADER_MAX;
	return out->type != ETH_TYPE_VLAN;
}

unsigned eth_write(const struct eth_head *head, uint8_t out[ETH_HEADER_MAX])
{
	memcpy(out, head->to, WIRE_MAC_BYTES);
	memcpy(out + WIRE_MAC_BYTES, head->from, WIRE_MAC_BYTES);
	if (head->vlan == 0) {
		wire_put16(out + 12, head->type);
		return ETH_HEADER;
	}
	wire_put16(out + 12, ETH_TYPE_VLAN);
	wire_put16(out + 14, head->vlan);
	wire_put16(out + 16, head->type);
	return ETH_HEADER_MAX;
}
