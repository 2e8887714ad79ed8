#include "dataplane/net/dpdk/arp.h"

#include "dataplane/net/dpdk/eth.h"

static const uint8_t kind[6] = {0, 1, 0x08, 0, WIRE_MAC_BYTES, 4};

bool arp_parse(struct arp_packet *out, struct span payload)
{
	const uint8_t *p = payload.data;
	if (payload.len < ARP_BYTES || memcmp(p, kind, sizeof(kind)) != 0)
		return false;
	out->operation = wire_get16(p + 6);
	memcpy(out->from_mac, p + 8, WIRE_MAC_BYTES);
	wire_map_v4(out->from_ip, p + 14);
	memcpy(out->to_mac, p + 18, WIRE_MAC_BYTES);
	wire_map_v4(out->to_ip, p + 24);
	if (out->operation != ARP_REQUEST && out->operation != ARP_REPLY)
		return false;
	return !eth_is_group(out->from_mac) && !wire_is_zero(out->from_mac, WIRE_MAC_BYTES);
}

void arp_write(const struct arp_packet *p, uint8_t out[ARP_BYTES])
{
	memcpy(out, kind, sizeof(kind));
	wire_put16(out + 6, p->operation);
	memcpy(out + 8, p->from_mac, WIRE_MAC_BYTES);
	memcpy(out + 14, p->from_ip + 12, 4);
	memcpy(out + 18, p->to_mac, WIRE_MAC_BYTES);
	memcpy(out + 24, p->to_ip + 12, 4);
}

unsigned arp_judge(const struct arp_packet *p, const uint8_t our_mac[WIRE_MAC_BYTES],
	bool owns_target, bool owns_sender)
{
	bool is_probe = wire_is_zero(p->from_ip + 12, 4);
	bool is_us = memcmp(p->from_mac, our_mac, WIRE_MAC_BYTES) == 0;
	if (is_us)
		return 0;
	if (owns_sender)
		return ARP_DEED_CONFLICT;
	unsigned deeds = 0;
	if (owns_target && p->operation == ARP_REQUEST)
		deeds |= ARP_DEED_ANSWER;
	/* Only those who talk to us are entered: others may chatter without filling the table. */
	if (!is_probe)
		deeds |= owns_target ? ARP_DEED_LEARN : ARP_DEED_REFRESH;
	return deeds;
}

void arp_announce(
	struct arp_packet *out, const uint8_t mac[WIRE_MAC_BYTES], const uint8_t ip[WIRE_IP_BYTES])
{
	*out = (struct arp_packet){.operation = ARP_REQUEST};
	memcpy(out->from_mac, mac, WIRE_MAC_BYTES);
	memcpy(out->from_ip, ip, WIRE_IP_BYTES);
	memcpy(out->to_ip, ip, WIRE_IP_BYTES);
}
