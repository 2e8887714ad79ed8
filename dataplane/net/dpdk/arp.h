/* arp: ARP packets for IPv4 over Ethernet (RFC 826), and what to do with them (RFC 5227). Pure. */
#ifndef DATAPLANE_NET_DPDK_ARP_H
#define DATAPLANE_NET_DPDK_ARP_H

#include "dataplane/net/dpdk/wire.h"

enum { ARP_BYTES = 28 };
enum { ARP_REQUEST = 1, ARP_REPLY = 2 };

struct arp_packet {
	uint16_t operation;
	uint8_t from_mac[WIRE_MAC_BYTES];
	uint8_t from_ip[WIRE_IP_BYTES]; /* mapped; 0.0.0.0 in a probe */
	uint8_t to_mac[WIRE_MAC_BYTES];
	uint8_t to_ip[WIRE_IP_BYTES];
};

/* What a packet asks of us; a set. */
enum arp_deed {
	ARP_DEED_ANSWER = 1,   /* a reply is due */
	ARP_DEED_LEARN = 2,    /* the sender's addresses belong together: enter them */
	ARP_DEED_REFRESH = 4,  /* the same, when the sender is known already */
	ARP_DEED_CONFLICT = 8, /* somebody else uses or wants our address */
};

/* False: not ARP for IPv4 over Ethernet, or no sender anyone could have. */
CHECKED bool arp_parse(struct arp_packet *out, struct span payload);
void arp_write(const struct arp_packet *p, uint8_t out[ARP_BYTES]);

/* `owns_target`, `owns_sender`: whether these addresses are ours. */
unsigned arp_judge(const struct arp_packet *p, const uint8_t our_mac[WIRE_MAC_BYTES],
	bool owns_target, bool owns_sender);

/* A broadcast that says where `ip` is (gratuitous ARP). */
void arp_announce(
	struct arp_packet *out, const uint8_t mac[WIRE_MAC_BYTES], const uint8_t ip[WIRE_IP_BYTES]);

#endif
