#include "lib/shm/capture_filter.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	ETHER_BYTES = 14,
	TAG_BYTES = 4,
	TAGS_MAX = 2,
	ETHER_IP4 = 0x0800,
	ETHER_ARP = 0x0806,
	ETHER_VLAN = 0x8100,
	ETHER_QINQ = 0x88a8,
	ETHER_IP6 = 0x86dd,
	IP4_BYTES = 20,
	IP6_BYTES = 40,
	ARP_BYTES = 28,
	EXTENSIONS_MAX = 4,
};

/* --- text */

static int refuse(char *why, size_t why_size, const char *what, const char *word)
{
	snprintf(why, why_size, "filter: %s%s%.40s%s", what, word[0] != '\0' ? " \"" : "", word,
		word[0] != '\0' ? "\"" : "");
	return -EINVAL;
}

/* A field that is set already cannot be set to something else. */
static bool set_once(uint8_t *field, uint8_t value)
{
	if (value != 0 && *field != 0 && *field != value)
		return false;
	*field |= value;
	return true;
}

enum flag_verdict { FLAG_TAKEN, FLAG_UNKNOWN, FLAG_CLASH };

static enum flag_verdict take_flag(struct capture_filter *f, const char *word)
{
	static const struct {
		const char *word;
		struct capture_filter sets;
	} flags[] = {
		{"tcp", {.protocol = IPPROTO_TCP}},
		{"udp", {.protocol = IPPROTO_UDP}},
		{"icmp", {.protocol = IPPROTO_ICMP}},
		{"arp", {.is_arp = 1}},
		{"ip", {.version = 4}},
		{"ip6", {.version = 6}},
		{"in", {.dir = CAPTURE_IN}},
		{"out", {.dir = CAPTURE_OUT}},
		{"and", {.dir = 0}},
	};
	for (unsigned i = 0; i < ARRAY_LEN(flags); i++) {
		if (strcmp(word, flags[i].word) != 0)
			continue;
		const struct capture_filter *sets = &flags[i].sets;
		f->is_arp |= sets->is_arp;
		bool is_taken = set_once(&f->protocol, sets->protocol) &&
				set_once(&f->version, sets->version) &&
				set_once(&f->dir, sets->dir);
		return is_taken ? FLAG_TAKEN : FLAG_CLASH;
	}
	return FLAG_UNKNOWN;
}

static bool take_value(struct capture_filter *f, const char *word, const char *value)
{
	if (strcmp(word, "port") == 0) {
		char *end;
		unsigned long port = strtoul(value, &end, 10);
		f->port = (uint16_t)port;
		return value[0] >= '0' && value[0] <= '9' && *end == '\0' && port >= 1 &&
		       port <= UINT16_MAX;
	}
	bool is_host = strcmp(word, "host") == 0;
	f->has_net = 1;
	return (strchr(value, '/') == NULL) == is_host && cidr_parse(&f->net, value) == 0;
}

int capture_filter_parse(struct capture_filter *out, const char *text, char *why, size_t why_size)
{
	char copy[CAPTURE_FILTER_TEXT], *rest = copy;
	memset(out, 0, sizeof(*out));
	if (strlen(text) >= sizeof(copy))
		return refuse(why, why_size, "it is longer than 127 characters", "");
	memcpy(copy, text, strlen(text) + 1);
	struct capture_filter f = {0};
	for (char *word; (word = strtok_r(rest, " ", &rest)) != NULL;) {
		enum flag_verdict flag = take_flag(&f, word);
		if (flag == FLAG_TAKEN)
			continue;
		if (flag == FLAG_CLASH)
			return refuse(why, why_size, "no packet can be all that and", word);
		if (strcmp(word, "host") != 0 && strcmp(word, "net") != 0 &&
			strcmp(word, "port") != 0)
			return refuse(why, why_size,
				"tcp, udp, icmp, arp, ip, ip6, in, out, host ADDRESS, net CIDR and "
				"port "
				"NUMBER are known, not",
				word);
		bool is_again = strcmp(word, "port") == 0 ? f.port != 0 : f.has_net != 0;
		const char *value = strtok_r(rest, " ", &rest);
		if (is_again || value == NULL || !take_value(&f, word, value))
			return refuse(why, why_size,
				is_again	? "this may stand there once only:"
				: value == NULL ? "a value is missing after"
						: "this value is wrong:",
				value == NULL || is_again ? word : value);
	}
	*out = f;
	return 0;
}

/* --- frames */

static uint16_t get16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static struct span skip(struct span s, size_t len)
{
	return len <= s.len ? (struct span){s.data + len, s.len - len} : (struct span){NULL, 0};
}

/* What the filter asks about. */
struct seen {
	uint8_t from[16], to[16];
	uint8_t version; /* 0: not IP */
	bool is_arp;
	bool has_addrs;
	uint8_t protocol;
	uint16_t ports[2]; /* 0: none */
};

static void map_v4(uint8_t out[16], const uint8_t *ip)
{
	static const uint8_t prefix[12] = {[10] = 0xff, [11] = 0xff};
	memcpy(out, prefix, sizeof(prefix));
	memcpy(out + 12, ip, 4);
}

static void see_ports(struct seen *s, struct span segment)
{
	bool has_ports = s->protocol == IPPROTO_TCP || s->protocol == IPPROTO_UDP;
	if (!has_ports || segment.len < 4)
		return;
	s->ports[0] = get16(segment.data);
	s->ports[1] = get16(segment.data + 2);
}

static void see_ip4(struct seen *s, struct span p)
{
	if (p.len < IP4_BYTES)
		return;
	s->version = 4;
	s->has_addrs = true;
	s->protocol = p.data[9];
	map_v4(s->from, p.data + 12);
	map_v4(s->to, p.data + 16);
	bool is_first = (get16(p.data + 6) & 0x1fff) == 0;
	if (is_first)
		see_ports(s, skip(p, (p.data[0] & 0xfu) * 4));
}

static void see_ip6(struct seen *s, struct span p)
{
	if (p.len < IP6_BYTES)
		return;
	s->version = 6;
	s->has_addrs = true;
	memcpy(s->from, p.data + 8, 16);
	memcpy(s->to, p.data + 24, 16);
	uint8_t next = p.data[6];
	p = skip(p, IP6_BYTES);
	bool is_first = true;
	for (int i = 0; i < EXTENSIONS_MAX && p.len >= 8; i++) {
		bool is_fragment = next == IPPROTO_FRAGMENT;
		if (!is_fragment && next != IPPROTO_HOPOPTS && next != IPPROTO_ROUTING &&
			next != IPPROTO_DSTOPTS)
			break;
		if (is_fragment)
			is_first = (get16(p.data + 2) & 0xfff8) == 0;
		next = p.data[0];
		p = skip(p, is_fragment ? 8 : (p.data[1] + 1u) * 8);
	}
	s->protocol = next == IPPROTO_ICMPV6 ? IPPROTO_ICMP : next;
	if (is_first)
		see_ports(s, p);
}

static void see_arp(struct seen *s, struct span p)
{
	s->is_arp = true;
	if (p.len < ARP_BYTES)
		return;
	s->has_addrs = true;
	map_v4(s->from, p.data + 14);
	map_v4(s->to, p.data + 24);
}

static void see(struct seen *s, struct span frame)
{
	struct span p = skip(frame, ETHER_BYTES);
	if (p.data == NULL)
		return;
	uint16_t type = get16(frame.data + 12);
	for (int i = 0; i < TAGS_MAX && (type == ETHER_VLAN || type == ETHER_QINQ) && p.len >= 4;
		i++) {
		type = get16(p.data + 2);
		p = skip(p, TAG_BYTES);
	}
	if (type == ETHER_IP4)
		see_ip4(s, p);
	else if (type == ETHER_IP6)
		see_ip6(s, p);
	else if (type == ETHER_ARP)
		see_arp(s, p);
}

static bool has_address(const struct seen *s, const struct cidr *net)
{
	struct addr from = {.port = 0}, to = {.port = 0};
	memcpy(from.ip, s->from, sizeof(from.ip));
	memcpy(to.ip, s->to, sizeof(to.ip));
	return s->has_addrs && (cidr_contains(net, &from) || cidr_contains(net, &to));
}

bool capture_filter_matches(const struct capture_filter *f, struct span frame, enum capture_dir dir)
{
	if (f->dir != 0 && (f->dir & dir) == 0)
		return false;
	if (!f->has_net && !f->is_arp && f->version == 0 && f->protocol == 0 && f->port == 0)
		return true;
	struct seen s = {.version = 0};
	see(&s, frame);
	return (!f->is_arp || s.is_arp) && (f->version == 0 || f->version == s.version) &&
	       (f->protocol == 0 || (s.version != 0 && f->protocol == s.protocol)) &&
	       (f->port == 0 || f->port == s.ports[0] || f->port == s.ports[1]) &&
	       (!f->has_net || has_address(&s, &f->net));
}
