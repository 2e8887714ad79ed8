/* addr: an IPv4 or IPv6 address with a port, and networks of them. IPv4 is kept mapped
 * (::ffff:a.b.c.d), so that one comparison serves both. Pure: no name service, no system call. */
#ifndef LIB_BASE_ADDR_H
#define LIB_BASE_ADDR_H

#include "lib/base/base.h"

struct addr {
	uint8_t ip[16];
	uint16_t port; /* host order */
};

struct cidr {
	uint8_t ip[16];
	uint8_t prefix; /* of 128; a /8 of IPv4 is 104 */
};

enum { ADDR_TEXT = 56 };

/* "127.0.0.1:8080", "[::1]:8080". Returns 0 or -EINVAL. */
CHECKED int addr_parse(struct addr *out, const char *text);
/* "10.0.0.0/8", "::1/128", "10.1.2.3". Host bits must be zero. Returns 0 or -EINVAL. */
CHECKED int cidr_parse(struct cidr *out, const char *text);

void addr_print(const struct addr *a, char out[ADDR_TEXT]);
void addr_print_ip(const struct addr *a, char out[ADDR_TEXT]);
bool addr_is_v4(const struct addr *a);
bool cidr_contains(const struct cidr *net, const struct addr *a);

#endif
