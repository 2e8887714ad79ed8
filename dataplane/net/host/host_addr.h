/* host_addr: struct addr to and from the socket calls' form. Pure. */
#ifndef DATAPLANE_NET_HOST_HOST_ADDR_H
#define DATAPLANE_NET_HOST_HOST_ADDR_H

#include <netinet/in.h>

#include "lib/base/addr.h"

union host_addr {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

/* Returns the length to give to the call. */
socklen_t host_addr_from(union host_addr *out, const struct addr *a);
void host_addr_to(struct addr *out, const union host_addr *sa);
/* The address a socket is bound to; all zero when that cannot be told. */
void host_addr_local(struct addr *out, int fd);
bool host_addr_is_any(const struct addr *a);

#endif
