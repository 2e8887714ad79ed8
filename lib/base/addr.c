#include "lib/base/addr.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static const uint8_t v4_prefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

/* Digits only, at most `max`: strtoul would take signs, spaces and hexadecimal. */
static int parse_number(const char *text, unsigned max, unsigned *out)
{
	unsigned value = 0;
	if (*text == '\0')
		return -EINVAL;
	for (; *text != '\0'; text++) {
		if (*text < '0' || *text > '9')
			return -EINVAL;
		value = value * 10 + (unsigned)(*text - '0');
		if (value > max)
			return -EINVAL;
	}
	*out = value;
	return 0;
}

/* Copies text[0..len) as a string for inet_pton. */
static int copy_host(char out[INET6_ADDRSTRLEN], const char *text, size_t len)
{
	if (len == 0 || len >= INET6_ADDRSTRLEN)
		return -EINVAL;
	memcpy(out, text, len);
	out[len] = '\0';
	return 0;
}

static int parse_v4(uint8_t ip[16], const char *host)
{
	memcpy(ip, v4_prefix, sizeof(v4_prefix));
	return inet_pton(AF_INET, host, ip + sizeof(v4_prefix)) == 1 ? 0 : -EINVAL;
}

static int parse_v6(uint8_t ip[16], const char *host)
{
	return inet_pton(AF_INET6, host, ip) == 1 ? 0 : -EINVAL;
}

int addr_parse(struct addr *out, const char *text)
{
	char host[INET6_ADDRSTRLEN];
	unsigned port;
	bool is_v6 = text[0] == '[';
	const char *start = is_v6 ? text + 1 : text;
	const char *end = strchr(start, is_v6 ? ']' : ':');
	if (end == NULL || copy_host(host, start, (size_t)(end - start)) < 0)
		return -EINVAL;
	if (is_v6 && *++end != ':')
		return -EINVAL;
	if (parse_number(end + 1, UINT16_MAX, &port) < 0)
		return -EINVAL;
	out->port = (uint16_t)port;
	return is_v6 ? parse_v6(out->ip, host) : parse_v4(out->ip, host);
}

/* Whether all bits below the prefix are zero. */
static bool host_bits_are_zero(const struct cidr *net)
{
	for (unsigned bit = net->prefix; bit < 128; bit++) {
		if (net->ip[bit / 8] & (0x80u >> (bit % 8)))
			return false;
	}
	return true;
}

int cidr_parse(struct cidr *out, const char *text)
{
	char host[INET6_ADDRSTRLEN];
	const char *slash = strchr(text, '/');
	size_t len = slash != NULL ? (size_t)(slash - text) : strlen(text);
	if (copy_host(host, text, len) < 0)
		return -EINVAL;
	bool is_v6 = strchr(host, ':') != NULL;
	unsigned bits = is_v6 ? 128 : 32;
	unsigned prefix = bits;
	if (slash != NULL && parse_number(slash + 1, bits, &prefix) < 0)
		return -EINVAL;
	if ((is_v6 ? parse_v6(out->ip, host) : parse_v4(out->ip, host)) < 0)
		return -EINVAL;
	out->prefix = (uint8_t)(128 - bits + prefix);
	return host_bits_are_zero(out) ? 0 : -EINVAL;
}

bool addr_is_v4(const struct addr *a)
{
	return memcmp(a->ip, v4_prefix, sizeof(v4_prefix)) == 0;
}

void addr_print_ip(const struct addr *a, char out[ADDR_TEXT])
{
	const char *done = addr_is_v4(a)
				   ? inet_ntop(AF_INET, a->ip + sizeof(v4_prefix), out, ADDR_TEXT)
				   : inet_ntop(AF_INET6, a->ip, out, ADDR_TEXT);
	MUST(done != NULL);
}

void addr_print(const struct addr *a, char out[ADDR_TEXT])
{
	char ip[ADDR_TEXT];
	addr_print_ip(a, ip);
	static_assert(ADDR_TEXT >= INET6_ADDRSTRLEN + sizeof("[]:65535") - 1, "the longest form");
	int n = snprintf(out, ADDR_TEXT, addr_is_v4(a) ? "%s:%u" : "[%s]:%u", ip, a->port);
	MUST(n > 0 && n < ADDR_TEXT);
}

bool cidr_contains(const struct cidr *net, const struct addr *a)
{
	unsigned whole = net->prefix / 8;
	unsigned rest = net->prefix % 8;
	if (memcmp(net->ip, a->ip, whole) != 0)
		return false;
	return rest == 0 || ((net->ip[whole] ^ a->ip[whole]) >> (8 - rest)) == 0;
}
