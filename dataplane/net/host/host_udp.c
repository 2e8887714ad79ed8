#include "dataplane/net/host/host_udp.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "dataplane/net/host/host_addr.h"

static int open_socket(const struct addr *local)
{
	union host_addr sa;
	int on = 1;
	socklen_t len = host_addr_from(&sa, local);
	int fd = socket(sa.any.sa_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	bool is_v6 = sa.any.sa_family == AF_INET6;
	if ((is_v6 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on)) != 0) ||
		setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on)) != 0 ||
		bind(fd, &sa.any, len) != 0) {
		close(fd);
		return -1;
	}
	return fd;
}

struct net_udp *host_udp_open(
	struct net *net, const struct addr *local, net_datagram *on_datagram, void *user)
{
	struct host *h = (struct host *)net;
	if (h->udp_count == LIMIT_LISTENERS)
		return NULL;
	struct net_udp *udp = &h->udps[h->udp_count];
	*udp = (struct net_udp){
		.host = h, .fd = open_socket(local), .on_datagram = on_datagram, .user = user};
	if (udp->fd < 0)
		return NULL;
	struct epoll_event ev = {.events = EPOLLIN, .data.u64 = HOST_KEY_UDP + h->udp_count};
	if (epoll_ctl(h->epoll_fd, EPOLL_CTL_ADD, udp->fd, &ev) != 0) {
		close(udp->fd);
		return NULL;
	}
	host_addr_local(&udp->local, udp->fd);
	h->udp_count++;
	return udp;
}

bool host_udp_send(struct net_udp *udp, const struct addr *to, struct span data)
{
	union host_addr sa;
	socklen_t len = host_addr_from(&sa, to);
	ssize_t sent =
		sendto(udp->fd, data.data, data.len, MSG_DONTWAIT | MSG_NOSIGNAL, &sa.any, len);
	if (sent < 0)
		return false;
	tally_inc(udp->host->tally, TALLY_PACKETS + LABEL_DIR_TX);
	tally_add(udp->host->tally, TALLY_BYTES + LABEL_DIR_TX, (uint64_t)sent);
	return true;
}

const struct addr *host_udp_local(const struct net_udp *udp)
{
	return &udp->local;
}

void host_udp_event(struct host *h, unsigned index)
{
	struct net_udp *udp = &h->udps[index];
	struct mmsghdr msgs[HOST_DATAGRAMS];
	struct iovec iov[HOST_DATAGRAMS];
	union host_addr from[HOST_DATAGRAMS];
	for (unsigned i = 0; i < HOST_DATAGRAMS; i++) {
		iov[i] = (struct iovec){h->datagrams[i], HOST_DATAGRAM_BYTES};
		msgs[i] = (struct mmsghdr){.msg_hdr = {.msg_name = &from[i],
						   .msg_namelen = sizeof(from[i]),
						   .msg_iov = &iov[i],
						   .msg_iovlen = 1}};
	}
	int got = recvmmsg(udp->fd, msgs, HOST_DATAGRAMS, MSG_DONTWAIT, NULL);
	for (int i = 0; i < got; i++) {
		tally_inc(h->tally, TALLY_PACKETS + LABEL_DIR_RX);
		tally_add(h->tally, TALLY_BYTES + LABEL_DIR_RX, msgs[i].msg_len);
		if (msgs[i].msg_hdr.msg_flags & MSG_TRUNC) {
			tally_inc(h->tally, TALLY_DROPS + REASON_MALFORMED);
			continue;
		}
		struct addr peer;
		host_addr_to(&peer, &from[i]);
		udp->on_datagram(
			udp->user, udp, &peer, (struct span){h->datagrams[i], msgs[i].msg_len});
	}
}

void host_udp_close(struct host *h)
{
	for (uint32_t i = 0; i < h->udp_count; i++)
		close(h->udps[i].fd);
	h->udp_count = 0;
}
