#include "dataplane/net/host/host_listen.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "dataplane/net/host/host_addr.h"
#include "dataplane/net/host/host_conn.h"
#include "lib/clock/clock.h"

static int set_flag(int fd, int level, int name)
{
	int on = 1;
	return setsockopt(fd, level, name, &on, sizeof(on));
}

/* SO_REUSEPORT would share the port with another node of the same user without a word. Returns 0 or -errno. */
static int probe(const union host_addr *sa, socklen_t len)
{
	int fd = socket(sa->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	int rc = 0;
	if ((sa->any.sa_family == AF_INET6 && set_flag(fd, IPPROTO_IPV6, IPV6_V6ONLY) != 0) ||
		set_flag(fd, SOL_SOCKET, SO_REUSEADDR) != 0 || bind(fd, &sa->any, len) != 0)
		rc = -errno;
	close(fd);
	return rc;
}

/* A listening socket, or -errno. */
static int open_socket(const struct net_listener_conf *lc)
{
	union host_addr sa;
	socklen_t len = host_addr_from(&sa, &lc->local);
	int rc = lc->is_first ? probe(&sa, len) : 0;
	if (rc != 0)
		return rc;
	int fd = socket(sa.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	/* IPv6 alone, so that 0.0.0.0 and [::] can both be listened on. TCP_NODELAY is inherited by what is accepted. */
	bool is_v6 = sa.any.sa_family == AF_INET6;
	if ((is_v6 && set_flag(fd, IPPROTO_IPV6, IPV6_V6ONLY) != 0) ||
		set_flag(fd, SOL_SOCKET, SO_REUSEADDR) != 0 ||
		set_flag(fd, SOL_SOCKET, SO_REUSEPORT) != 0 ||
		set_flag(fd, IPPROTO_TCP, TCP_NODELAY) != 0 || bind(fd, &sa.any, len) != 0 ||
		listen(fd, (int)lc->backlog) != 0) {
		rc = -errno;
		close(fd);
		return rc;
	}
	return fd;
}

static int watch(struct host_listener *l, int op, uint32_t events)
{
	struct host *h = l->host;
	uint32_t key = HOST_KEY_LISTENER + (uint32_t)(l - h->listeners);
	struct epoll_event ev = {.events = events, .data.u64 = key};
	return epoll_ctl(h->epoll_fd, op, l->fd, &ev) == 0 ? 0 : -errno;
}

static void on_pause_over(struct wheel_timer *timer, uint64_t now_ns)
{
	struct host_listener *l = CONTAINER_OF(timer, struct host_listener, pause);
	if (watch(l, EPOLL_CTL_MOD, EPOLLIN) != 0)
		wheel_arm(l->host->wheel, timer, now_ns + HOST_ACCEPT_PAUSE_MS * NS_PER_MS);
}

int host_listen_open(struct net *net, const struct net_listener_conf *lc, struct addr *bound)
{
	struct host *h = (struct host *)net;
	if (h->listener_count == LIMIT_LISTENERS)
		return -ENOSPC;
	struct host_listener *l = &h->listeners[h->listener_count];
	*l = (struct host_listener){
		.host = h, .fd = open_socket(lc), .conf = *lc, .pause = {.fire = on_pause_over}};
	if (l->fd < 0)
		return l->fd;
	host_addr_local(&l->conf.local, l->fd);
	int rc = watch(l, EPOLL_CTL_ADD, EPOLLIN);
	if (rc != 0) {
		close(l->fd);
		return rc;
	}
	h->listener_count++;
	if (bound != NULL)
		*bound = l->conf.local;
	return 0;
}

static void refuse(struct host *h, int take_fd, enum reason_id why)
{
	close(take_fd);
	tally_inc(h->tally, TALLY_REJECTED + why);
	tally_inc(h->tally, TALLY_DROPS + why);
}

static void admit(struct host_listener *l, int take_fd, const union host_addr *sa)
{
	struct host *h = l->host;
	struct host_conn_start start = {
		.take_fd = take_fd,
		.state = HOST_CONN_OPEN,
		.local = l->conf.local,
		.events = l->conf.events,
		.user = l->conf.user,
		.ip_entry = IP_TABLE_NONE,
	};
	host_addr_to(&start.peer, sa);
	if (host_addr_is_any(&start.local))
		host_addr_local(&start.local, take_fd);
	enum reason_id why = REASON_CONN_CAP;
	if (h->ips != NULL &&
		!ip_table_enter(h->ips, &start.peer, *h->now_ns, &start.ip_entry, &why)) {
		refuse(h, take_fd, why);
		return;
	}
	struct host_conn *c = host_conn_start(h, &start);
	if (c == NULL) {
		if (h->ips != NULL)
			ip_table_leave(h->ips, start.ip_entry, *h->now_ns);
		refuse(h, take_fd, REASON_CONN_CAP);
		return;
	}
	tally_inc(h->tally, TALLY_CONNS_ACCEPTED);
	uint32_t generation = c->generation;
	if (!l->conf.events->on_open(&c->pub) && c->generation == generation)
		host_conn_end(c, NET_END_ABORTED, true, true);
}

/* No descriptor for a connection that waits: it would stay first in line and wake us for ever. The reserve makes room
 * to take it and turn it away. False when that did not work either. */
static bool shed(struct host_listener *l)
{
	struct host *h = l->host;
	if (h->reserve_fd < 0)
		return false;
	close(h->reserve_fd);
	int fd = accept4(l->fd, NULL, NULL, SOCK_CLOEXEC);
	if (fd >= 0)
		refuse(h, fd, REASON_CONN_CAP);
	h->reserve_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	return fd >= 0;
}

/* One connection of those that wait. False when there is none, or none can be taken now. */
static bool accept_one(struct host_listener *l)
{
	union host_addr sa;
	socklen_t len = sizeof(sa);
	int fd = accept4(l->fd, &sa.any, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (LIKELY(fd >= 0)) {
		admit(l, fd, &sa);
		return true;
	}
	if (errno == EAGAIN)
		return false;
	if (errno == EINTR || errno == ECONNABORTED || errno == EPROTO)
		return true;
	if ((errno == EMFILE || errno == ENFILE) && shed(l))
		return true;
	/* Out of memory, or the like: look again in a while instead of spinning. */
	struct host *h = l->host;
	if (watch(l, EPOLL_CTL_MOD, 0) == 0)
		wheel_arm(h->wheel, &l->pause, *h->now_ns + HOST_ACCEPT_PAUSE_MS * NS_PER_MS);
	return false;
}

void host_listen_event(struct host *h, unsigned index)
{
	struct host_listener *l = &h->listeners[index];
	/* A handler may stop the listening. */
	for (unsigned i = 0; i < HOST_ACCEPTS_PER_TURN && index < h->listener_count; i++) {
		if (!accept_one(l))
			return;
	}
}

void host_listen_stop(struct net *net)
{
	struct host *h = (struct host *)net;
	uint32_t count = h->listener_count;
	h->listener_count = 0;
	for (uint32_t i = 0; i < count; i++) {
		struct host_listener *l = &h->listeners[i];
		/* Closing resets those who wait in line; they came in time and get an answer. */
		for (unsigned n = 0; n < l->conf.backlog && accept_one(l); n++)
			;
		wheel_disarm(h->wheel, &l->pause);
		close(l->fd);
		l->fd = -1;
	}
}

/* A socket of the family of `sa`, bound to `local` unless that is NULL; -1 when it cannot be. */
static int client_socket(const union host_addr *sa, const struct addr *local)
{
	int fd = socket(sa->any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	(void)set_flag(fd, IPPROTO_TCP, TCP_NODELAY);
	if (local == NULL)
		return fd;
	union host_addr from;
	socklen_t len = host_addr_from(&from, local);
	/* The port is chosen when the peer is known: one port then serves many peers. */
	(void)set_flag(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT);
	(void)set_flag(fd, SOL_SOCKET, SO_REUSEADDR);
	if (bind(fd, &from.any, len) != 0) {
		close(fd);
		return -1;
	}
	return fd;
}

struct net_conn *host_listen_connect(struct net *net, const struct addr *local,
	const struct addr *to, const struct net_events *events, void *user)
{
	struct host *h = (struct host *)net;
	union host_addr sa;
	socklen_t len = host_addr_from(&sa, to);
	int fd = client_socket(&sa, local);
	if (fd < 0)
		return NULL;
	int rc = connect(fd, &sa.any, len);
	int error = rc != 0 && errno != EINPROGRESS ? errno : 0;
	struct host_conn_start start = {
		.take_fd = fd,
		.state = HOST_CONN_CONNECTING,
		.peer = *to,
		.events = events,
		.user = user,
		.ip_entry = IP_TABLE_NONE,
	};
	host_addr_local(&start.local, fd);
	struct host_conn *c = host_conn_start(h, &start);
	if (c == NULL) {
		close(fd);
		return NULL;
	}
	if (error != 0) {
		c->is_failed = true;
		c->end = error == ECONNREFUSED ? NET_END_REFUSED : NET_END_RESET;
		host_conn_list(c, HOST_LIST_READY);
	}
	return &c->pub;
}
