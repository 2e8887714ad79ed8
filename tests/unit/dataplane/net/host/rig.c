#include "tests/unit/dataplane/net/host/rig.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "dataplane/net/host/host_addr.h"
#include "lib/clock/clock.h"

struct rig_conn *rig_record(struct rig *r)
{
	MUST(r->count < RIG_CONNS);
	struct rig_conn *rc = &r->conns[r->count++];
	rc->rig = r;
	return rc;
}

static bool on_accepted(struct net_conn *conn)
{
	struct rig *r = conn->user;
	struct rig_conn *rc = rig_record(r);
	rc->opened++;
	if (r->refuses)
		return false;
	rc->conn = conn;
	conn->user = rc;
	return true;
}

static bool on_connected(struct net_conn *conn)
{
	struct rig_conn *rc = conn->user;
	rc->opened++;
	rc->conn = conn;
	return !rc->rig->refuses;
}

static void on_readable(struct net_conn *conn)
{
	struct rig_conn *rc = conn->user;
	rc->readable++;
	rc->saw_eof = net_is_eof(conn);
	if (rc->rig->leaves)
		return;
	struct span span = net_peek(conn);
	size_t room = sizeof(rc->got) - rc->got_len;
	size_t part = span.len < room ? span.len : room;
	if (part != 0)
		memcpy(rc->got + rc->got_len, span.data, part);
	rc->got_len += part;
	net_consume(conn, span.len);
	if (rc->rig->on_bytes != NULL)
		rc->rig->on_bytes(rc->rig, rc);
}

static void on_writable(struct net_conn *conn)
{
	struct rig_conn *rc = conn->user;
	rc->writable++;
}

static void on_closed(struct net_conn *conn, enum net_end end)
{
	struct rig_conn *rc = conn->user;
	rc->closed++;
	rc->end = end;
	rc->conn = NULL;
}

static const struct net_events accept_events = {on_accepted, on_readable, on_writable, on_closed};
const struct net_events rig_events = {on_connected, on_readable, on_writable, on_closed};

struct rig *rig_open(struct rig_size size, const char *listen)
{
	struct rig *r =
		aligned_alloc(CACHE_LINE, (sizeof(*r) + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE);
	MUST(r != NULL);
	memset(r, 0, sizeof(*r));
	r->now_ns = clock_now_ns();
	wheel_init(&r->wheel, r->now_ns);
	MUST(ip_table_init(&r->ips, 256) == 0);
	ip_table_limit(r->ips, &(struct ip_table_limits){.conns = size.conns_per_ip});
	struct net_conf conf = {
		.conns_max = size.conns_max,
		.rx_blocks = size.rx_blocks,
		.wheel = &r->wheel,
		.tally = &r->tally,
		.ips = r->ips,
		.now_ns = &r->now_ns,
	};
	char why[128];
	MUST(host_open(&r->net, &conf, why, sizeof(why)) == 0);
	struct net_listener_conf lc = {.backlog = 4096, .events = &accept_events, .user = r};
	MUST(addr_parse(&lc.local, listen) == 0);
	MUST(net_listen(r->net, &lc, &r->at) == 0);
	return r;
}

void rig_close(struct rig *r)
{
	net_fini(r->net);
	ip_table_fini(r->ips);
	free(r);
}

void rig_turn(struct rig *r)
{
	net_poll(r->net, clock_now_ns(), 0);
	wheel_advance(&r->wheel, clock_now_ns());
}

int rig_peer(const struct rig *r)
{
	union host_addr sa;
	socklen_t len = host_addr_from(&sa, &r->at);
	int fd = socket(sa.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	MUST(fd >= 0 && connect(fd, &sa.any, len) == 0);
	return fd;
}

int rig_peer_read(int fd, uint8_t *out, size_t size, size_t *len)
{
	while (*len < size) {
		ssize_t got = recv(fd, out + *len, size - *len, MSG_DONTWAIT);
		if (got == 0)
			return 0;
		if (got < 0)
			return errno == EAGAIN || errno == EINTR ? 1 : -1;
		*len += (size_t)got;
	}
	return 1;
}

static void on_release(void *ctx)
{
	struct rig *r = ctx;
	r->released++;
}

struct net_ref rig_ref(struct rig *r, const uint8_t *data, uint32_t len)
{
	return (struct net_ref){.data = data, .len = len, .release = on_release, .ctx = r};
}
