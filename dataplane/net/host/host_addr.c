#include "dataplane/net/host/host_addr.h"

#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>

static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

socklen_t host_addr_from(union host_addr *out, const struct addr *a)
{
	memset(out, 0, sizeof(*out));
	if (addr_is_v4(a)) {
		out->v4.sin_family = AF_INET;
		out->v4.sin_port = htons(a->port);
		memcpy(&out->v4.sin_addr, a->ip + 12, 4);
		return sizeof(out->v4);
	}
	out->v6.sin6_family = AF_INET6;
	out->v6.sin6_port = htons(a->port);
	memcpy(&out->v6.sin6_addr, a->ip, 16);
	return sizeof(out->v6);
}

void host_addr_to(struct addr *out, const union host_addr *sa)
{
	memset(out, 0, sizeof(*out));
	if (sa->any.sa_family == AF_INET) {
		memcpy(out->ip, mapped, 12);
		memcpy(out->ip + 12, &sa->v4.sin_addr, 4);
		out->port = ntohs(sa->v4.sin_port);
	} else if (sa->any.sa_family == AF_INET6) {
		memcpy(out->ip, &sa->v6.sin6_addr, 16);
		out->port = ntohs(sa->v6.sin6_port);
	}
}

void host_addr_local(struct addr *out, int fd)
{
	union host_addr sa;
	socklen_t len = sizeof(sa);
	memset(&sa, 0, sizeof(sa));
	if (getsockname(fd, &sa.any, &len) != 0)
		sa.any.sa_family = AF_UNSPEC;
	host_addr_to(out, &sa);
}

bool host_addr_is_any(const struct addr *a)
{
	unsigned first = addr_is_v4(a) ? 12 : 0;
	for (unsigned i = first; i < 16; i++) {
		if (a->ip[i] != 0)
			return false;
	}
	return true;
}
