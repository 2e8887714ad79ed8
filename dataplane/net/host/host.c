#include "dataplane/net/host/host.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "dataplane/net/host/host_conn.h"
#include "dataplane/net/host/host_listen.h"
#include "dataplane/net/host/host_rx.h"
#include "dataplane/net/host/host_state.h"
#include "dataplane/net/host/host_sys.h"
#include "dataplane/net/host/host_udp.h"
#include "lib/clock/clock.h"
#include "lib/mem/mem.h"

/* wake_word. A thread that wakes leaves HOST_CALLED behind and writes to the eventfd only when it found HOST_ASLEEP; an
 * lcore that finds HOST_CALLED does not go to sleep. So a call is never lost, whoever comes first. */
enum { HOST_AWAKE, HOST_ASLEEP, HOST_CALLED };

static void wake(struct net *net)
{
	struct host *h = (struct host *)net;
	if (atomic_exchange(&h->wake_word, HOST_CALLED) != HOST_ASLEEP)
		return;
	uint64_t one = 1;
	/* Cannot fail but when the counter is full, and then it wakes all the same. */
	ssize_t written = write(h->wake_fd, &one, sizeof(one));
	(void)written;
}

static int wait_for(struct host *h, uint64_t wait_ns)
{
	struct timespec ts = {
		.tv_sec = (time_t)(wait_ns / NS_PER_S), .tv_nsec = (long)(wait_ns % NS_PER_S)};
	int count = epoll_pwait2(h->epoll_fd, h->events, HOST_EVENTS_PER_TURN, &ts, NULL);
	if (count >= 0 || errno != ENOSYS)
		return count;
	int ms = (int)((wait_ns + NS_PER_MS - 1) / NS_PER_MS);
	return epoll_wait(h->epoll_fd, h->events, HOST_EVENTS_PER_TURN, ms);
}

static int collect(struct host *h, uint64_t wait_ns)
{
	unsigned awake = HOST_AWAKE;
	if (wait_ns == 0)
		return host_sys_epoll_poll(h->epoll_fd, h->events, HOST_EVENTS_PER_TURN);
	int count;
	if (atomic_compare_exchange_strong(&h->wake_word, &awake, HOST_ASLEEP))
		count = wait_for(h, wait_ns);
	else
		count = host_sys_epoll_poll(h->epoll_fd, h->events, HOST_EVENTS_PER_TURN);
	atomic_exchange(&h->wake_word, HOST_AWAKE);
	return count;
}

static void dispatch(struct host *h, const struct epoll_event *ev)
{
	uint32_t key = (uint32_t)ev->data.u64;
	if (LIKELY(key < HOST_KEY_LISTENER)) {
		host_conn_event(h, ev->data.u64, ev->events);
	} else if (key == HOST_KEY_WAKE) {
		uint64_t calls;
		ssize_t got = read(h->wake_fd, &calls, sizeof(calls));
		(void)got;
	} else if (key >= HOST_KEY_UDP) {
		host_udp_event(h, key - HOST_KEY_UDP);
	} else if (key - HOST_KEY_LISTENER < h->listener_count) {
		host_listen_event(h, key - HOST_KEY_LISTENER);
	}
}

static unsigned serve_ready(struct host *h)
{
	host_rx_feed(h);
	unsigned count = h->ready_count;
	for (unsigned i = 0; i < count && !TAILQ_EMPTY(&h->ready); i++) {
		struct host_conn *c = TAILQ_FIRST(&h->ready);
		host_conn_list(c, HOST_LIST_NONE);
		host_conn_service(c);
	}
	return count;
}

static unsigned poll_turn(struct net *net, uint64_t now_ns, uint64_t wait_ns)
{
	struct host *h = (struct host *)net;
	*h->now_ns = now_ns;
	unsigned done = serve_ready(h);
	int count = collect(h, done != 0 ? 0 : wait_ns);
	*h->now_ns = clock_now_ns();
	for (int i = 0; i < count; i++)
		dispatch(h, &h->events[i]);
	return done + (count > 0 ? (unsigned)count : 0);
}

static void fini(struct net *net)
{
	struct host *h = (struct host *)net;
	for (uint32_t i = 0; i < h->conns.touched; i++) {
		if (pool_is_taken(&h->conns, i))
			host_conn_end(pool_at(&h->conns, i), NET_END_ABORTED, true, true);
	}
	/* No one is left to be answered. */
	for (uint32_t i = 0; i < h->listener_count; i++) {
		wheel_disarm(h->wheel, &h->listeners[i].pause);
		close(h->listeners[i].fd);
	}
	host_udp_close(h);
	const int fds[] = {h->epoll_fd, h->reserve_fd, h->wake_fd};
	for (unsigned i = 0; i < ARRAY_LEN(fds); i++) {
		if (fds[i] >= 0)
			close(fds[i]);
	}
	pool_fini(&h->conns);
	pool_fini(&h->blocks);
	pool_fini(&h->txs);
	mem_unmap(h, sizeof(*h));
}

static const struct net_ops ops = {
	.listen = host_listen_open,
	.stop_listening = host_listen_stop,
	.connect = host_listen_connect,
	.udp_open = host_udp_open,
	.udp_local = host_udp_local,
	.udp_send = host_udp_send,
	.poll = poll_turn,
	.wake = wake,
	.fini = fini,
};

static int open_descriptors(struct host *h)
{
	h->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	h->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	h->reserve_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	struct epoll_event ev = {.events = EPOLLIN, .data.u64 = HOST_KEY_WAKE};
	if (h->epoll_fd < 0 || h->wake_fd < 0 || h->reserve_fd < 0 ||
		epoll_ctl(h->epoll_fd, EPOLL_CTL_ADD, h->wake_fd, &ev) != 0)
		return -errno;
	return 0;
}

static int reserve_memory(struct host *h, const struct net_conf *conf)
{
	if (pool_init(&h->conns, "net.conns", conf->conns_max, sizeof(struct host_conn),
		    CACHE_LINE) != 0 ||
		pool_init(&h->blocks, "net.rx", conf->rx_blocks, LIMIT_NET_RX_BLOCK_BYTES, 4096) !=
			0 ||
		pool_init(&h->txs, "net.tx", conf->conns_max, sizeof(struct host_tx), CACHE_LINE) !=
			0)
		return -ENOMEM;
	return 0;
}

int host_open(struct net **out, const struct net_conf *conf, char *why, size_t why_size)
{
	struct host *h = mem_map(sizeof(*h));
	if (h == NULL) {
		snprintf(why, why_size, "no memory for the host network back end");
		return -ENOMEM;
	}
	h->pub.ops = &ops;
	h->wheel = conf->wheel;
	h->tally = conf->tally;
	h->ips = conf->ips;
	h->now_ns = conf->now_ns;
	TAILQ_INIT(&h->ready);
	TAILQ_INIT(&h->starved);
	int rc = open_descriptors(h);
	if (rc == 0)
		rc = reserve_memory(h, conf);
	if (rc != 0) {
		snprintf(why, why_size, "host network back end: %s", strerror(-rc));
		fini(&h->pub);
		return rc;
	}
	*out = &h->pub;
	return 0;
}
