#include "lib/conf/conf_route.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { PORTS_MAX = 15, VLAN_MAX = 4094, TEXT_MAX = 64 };

static int parse_ip(uint8_t out[16], const char *text)
{
	uint8_t v4[4];
	if (inet_pton(AF_INET, text, v4) == 1) {
		static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
		memcpy(out, mapped, sizeof(mapped));
		memcpy(out + 12, v4, sizeof(v4));
		return 0;
	}
	return inet_pton(AF_INET6, text, out) == 1 ? 0 : -EINVAL;
}

static bool is_v4(const char *text)
{
	return strchr(text, ':') == NULL;
}

/* A decimal number of at most `max` at *text, which moves behind it. False when there is none. */
static bool read_number(const char **text, unsigned max, unsigned *out)
{
	unsigned value = 0;
	const char *p = *text;
	for (; *p >= '0' && *p <= '9'; p++) {
		value = value * 10 + (unsigned)(*p - '0');
		if (value > max)
			return false;
	}
	bool is_there = p != *text;
	*text = p;
	*out = value;
	return is_there;
}

/* Groups, the unspecified address and loopback cannot be ours. */
static bool is_host(const uint8_t ip[16], bool v4)
{
	static const uint8_t none[16], loopback[16] = {[15] = 1};
	if (v4)
		return ip[12] != 0 && ip[12] != 127 && ip[12] < 224;
	return ip[0] != 0xff && memcmp(ip, none, 16) != 0 && memcmp(ip, loopback, 16) != 0;
}

int conf_route_parse_addr(struct conf_route_addr *out, const char *text)
{
	char ip[TEXT_MAX];
	const char *slash = strchr(text, '/');
	if (slash == NULL || (size_t)(slash - text) >= sizeof(ip))
		return -EINVAL;
	memcpy(ip, text, (size_t)(slash - text));
	ip[slash - text] = '\0';
	bool v4 = is_v4(ip);
	unsigned prefix, port = 0, vlan = 0;
	const char *p = slash + 1;
	if (parse_ip(out->ip, ip) != 0 || !is_host(out->ip, v4) ||
		!read_number(&p, v4 ? 32 : 128, &prefix) || prefix == 0)
		return -EINVAL;
	if (*p == '@') {
		p++;
		if (!read_number(&p, PORTS_MAX, &port))
			return -EINVAL;
		if (*p == '.') {
			p++;
			if (!read_number(&p, VLAN_MAX, &vlan) || vlan == 0)
				return -EINVAL;
		}
	}
	if (*p != '\0')
		return -EINVAL;
	out->prefix = (uint8_t)(v4 ? prefix + 96 : prefix);
	out->port = (uint8_t)port;
	out->vlan = (uint16_t)vlan;
	return 0;
}

int conf_route_parse(struct conf_route *out, const char *text)
{
	static const char between[] = " via ";
	char to[TEXT_MAX];
	const char *via = strstr(text, between);
	if (via == NULL || (size_t)(via - text) >= sizeof(to))
		return -EINVAL;
	memcpy(to, text, (size_t)(via - text));
	to[via - text] = '\0';
	via += sizeof(between) - 1;
	if (cidr_parse(&out->to, to) != 0 || parse_ip(out->via, via) != 0 ||
		is_v4(to) != is_v4(via))
		return -EINVAL;
	return is_host(out->via, is_v4(via)) ? 0 : -EINVAL;
}
