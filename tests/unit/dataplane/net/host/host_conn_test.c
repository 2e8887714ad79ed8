/* The host back end over real loopback sockets: sending, closing, ending, waking, datagrams, active opens. */
#include "dataplane/net/host/host_conn.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "dataplane/net/host/host_state.h"
#include "lib/clock/clock.h"
#include "tests/unit/dataplane/net/host/rig.h"
#include "tests/unit/unit.h"

static const struct rig_size usual = {.conns_max = 32, .rx_blocks = 16};
enum { BIG = 1 << 20 };

static const struct host *inside(const struct rig *r)
{
	return (const struct host *)r->net;
}

/* A rig with one connected peer whose receive buffer is small, so that it fills up. */
static struct rig *connected(int *fd)
{
	struct rig *r = rig_open(usual, "127.0.0.1:0");
	*fd = rig_peer(r);
	int small = 32768;
	setsockopt(*fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
	CU_ASSERT_TRUE_FATAL(RIG_UNTIL(r, r->count == 1));
	return r;
}

static uint8_t *pattern(size_t len)
{
	uint8_t *p = malloc(len);
	MUST(p != NULL);
	for (size_t i = 0; i < len; i++)
		p[i] = (uint8_t)(i * 31 + i / 257);
	return p;
}

/* Queues references of `data` until there is no room; returns how many. */
static unsigned fill_queue(struct rig *r, const uint8_t *data, uint32_t len)
{
	unsigned count = 0;
	struct net_ref ref = rig_ref(r, data, len);
	while (net_send_ref(r->conns[0].conn, &ref))
		count++;
	return count;
}

/* LIMIT_NET_TX_SPANS pieces wait at once, one more is refused and not released; on_writable follows. */
static void test_spans_at_limit_and_one_past(void)
{
	int fd;
	struct rig *r = connected(&fd);
	CU_ASSERT_EQUAL(fill_queue(r, (const uint8_t *)"abc", 3), LIMIT_NET_TX_SPANS);
	CU_ASSERT_EQUAL(r->released, 0);
	CU_ASSERT_EQUAL(r->conns[0].conn->tx_waiting, 3 * LIMIT_NET_TX_SPANS);
	CU_ASSERT_TRUE(RIG_UNTIL(r, r->conns[0].writable == 1));
	CU_ASSERT_EQUAL(r->released, LIMIT_NET_TX_SPANS);
	CU_ASSERT_EQUAL(r->conns[0].conn->tx_waiting, 0);
	uint8_t back[256];
	size_t len = 0;
	CU_ASSERT_TRUE(RIG_UNTIL(
		r, (rig_peer_read(fd, back, sizeof(back), &len), len == 3 * LIMIT_NET_TX_SPANS)));
	for (unsigned i = 0; i < 20; i++)
		rig_turn(r);
	CU_ASSERT_EQUAL(r->conns[0].writable, 1);
	close(fd);
	rig_close(r);
}

/* LIMIT_NET_TX_COPY_BYTES of copies wait at once, one more byte is refused. */
static void test_copies_at_limit_and_one_past(void)
{
	int fd;
	struct rig *r = connected(&fd);
	uint8_t *data = pattern(LIMIT_NET_TX_COPY_BYTES);
	CU_ASSERT_TRUE(net_send_copy(r->conns[0].conn, data, 1000));
	CU_ASSERT_TRUE(
		net_send_copy(r->conns[0].conn, data + 1000, LIMIT_NET_TX_COPY_BYTES - 1000));
	CU_ASSERT_FALSE(net_send_copy(r->conns[0].conn, data, 1));
	CU_ASSERT_TRUE(RIG_UNTIL(r, r->conns[0].writable == 1));
	uint8_t back[LIMIT_NET_TX_COPY_BYTES + 1];
	size_t len = 0;
	CU_ASSERT_TRUE(RIG_UNTIL(
		r, (rig_peer_read(fd, back, sizeof(back), &len), len == LIMIT_NET_TX_COPY_BYTES)));
	CU_ASSERT_EQUAL(memcmp(back, data, LIMIT_NET_TX_COPY_BYTES), 0);
	free(data);
	close(fd);
	rig_close(r);
}

/* A peer that stops reading: sends find no room, nothing spins; when it reads again all bytes come in order, heads
 * (copies) and payload (references) mixed, and each reference is released once. */
static void test_backpressure(void)
{
	enum { ROUNDS = 200, HEAD = 700, BODY = 60000, ROUND = HEAD + BODY };
	int fd;
	struct rig *r = connected(&fd);
	struct net_conn *conn = r->conns[0].conn;
	uint8_t *data = pattern(ROUND);
	uint8_t *back = malloc(ROUNDS * ROUND);
	struct net_ref ref = rig_ref(r, data + HEAD, BODY);
	unsigned queued = 0, turns = 0;
	bool head_out = false;
	size_t len = 0;
	uint64_t end_ns = clock_now_ns() + 20 * NS_PER_S;
	while (len < ROUNDS * ROUND && clock_now_ns() < end_ns) {
		while (queued < ROUNDS) {
			if (!head_out && !net_send_copy(conn, data, HEAD))
				break;
			head_out = true;
			if (!net_send_ref(conn, &ref))
				break;
			head_out = false;
			queued++;
		}
		net_flush(conn);
		rig_turn(r);
		if (++turns < 1000)
			continue;
		/* Until now the peer has not read: there is no room, and an idle turn is idle. */
		if (turns == 1000) {
			CU_ASSERT_TRUE(queued < ROUNDS);
			rig_turn(r);
			CU_ASSERT_EQUAL(net_poll(r->net, clock_now_ns(), 0), 0);
		}
		rig_peer_read(fd, back, ROUNDS * ROUND, &len);
	}
	CU_ASSERT_EQUAL(len, ROUNDS * ROUND);
	bool same = true;
	for (unsigned i = 0; i < ROUNDS; i++)
		same &= memcmp(back + (size_t)i * ROUND, data, ROUND) == 0;
	CU_ASSERT_TRUE(same);
	CU_ASSERT_TRUE(r->conns[0].writable > 0);
	CU_ASSERT_EQUAL(r->released, ROUNDS);
	CU_ASSERT_EQUAL(conn->tx_waiting, 0);
	CU_ASSERT_EQUAL(inside(r)->txs.in_use, 0);
	free(data);
	free(back);
	close(fd);
	rig_close(r);
}

/* Every way a connection can end releases each reference exactly once. */
static void end_with_queue(void (*end)(struct rig *r, int *fd), enum net_end how)
{
	int fd;
	struct rig *r = connected(&fd);
	uint8_t *data = pattern(BIG);
	unsigned queued = fill_queue(r, data, BIG);
	net_flush(r->conns[0].conn);
	unsigned sent = r->released;
	CU_ASSERT_TRUE(sent < queued);
	end(r, &fd);
	CU_ASSERT_TRUE(RIG_UNTIL(r, r->conns[0].closed == 1));
	CU_ASSERT_EQUAL(r->conns[0].end, how);
	CU_ASSERT_EQUAL(r->released, queued);
	CU_ASSERT_EQUAL(inside(r)->txs.in_use, 0);
	CU_ASSERT_EQUAL(inside(r)->conns.in_use, 0);
	if (fd >= 0)
		close(fd);
	free(data);
	rig_close(r);
}

static void end_by_abort(struct rig *r, int *fd)
{
	(void)fd;
	net_abort(r->conns[0].conn);
	CU_ASSERT_EQUAL(r->conns[0].closed, 1);
}

static void end_by_peer_reset(struct rig *r, int *fd)
{
	(void)r;
	struct linger now = {.l_onoff = 1, .l_linger = 0};
	setsockopt(*fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	close(*fd);
	*fd = -1;
}

static void end_by_abort_while_closing(struct rig *r, int *fd)
{
	(void)fd;
	net_close(r->conns[0].conn);
	rig_turn(r);
	CU_ASSERT_EQUAL(r->conns[0].closed, 0);
	net_abort(r->conns[0].conn);
}

static void test_references_after_abort(void)
{
	end_with_queue(end_by_abort, NET_END_ABORTED);
}

static void test_references_after_peer_reset(void)
{
	end_with_queue(end_by_peer_reset, NET_END_RESET);
}

static void test_references_after_abort_while_closing(void)
{
	end_with_queue(end_by_abort_while_closing, NET_END_ABORTED);
}

static void test_references_after_fini(void)
{
	int fd;
	struct rig *r = connected(&fd);
	uint8_t *data = pattern(BIG);
	unsigned queued = fill_queue(r, data, BIG);
	net_fini(r->net);
	CU_ASSERT_EQUAL(r->released, queued);
	CU_ASSERT_EQUAL(r->conns[0].closed, 0);
	ip_table_fini(r->ips);
	free(r);
	free(data);
	close(fd);
}

/* A close sends all that is queued first, to a peer that reads slowly too. */
static void test_close_sends_the_rest(void)
{
	int fd;
	struct rig *r = connected(&fd);
	uint8_t *data = pattern(BIG);
	uint8_t *back = malloc(2 * BIG);
	struct net_ref ref = rig_ref(r, data, BIG);
	CU_ASSERT_TRUE(net_send_ref(r->conns[0].conn, &ref));
	net_close(r->conns[0].conn);
	CU_ASSERT_FALSE(net_send_ref(r->conns[0].conn, &ref));
	size_t len = 0;
	CU_ASSERT_TRUE(RIG_UNTIL(r, rig_peer_read(fd, back, 2 * BIG, &len) == 0));
	CU_ASSERT_EQUAL(len, BIG);
	CU_ASSERT_EQUAL(memcmp(back, data, BIG), 0);
	close(fd);
	CU_ASSERT_TRUE(RIG_UNTIL(r, r->conns[0].closed == 1));
	CU_ASSERT_EQUAL(r->conns[0].end, NET_END_CLOSED);
	CU_ASSERT_EQUAL(r->released, 1);
	free(data);
	free(back);
	rig_close(r);
}

/* The answer to a request whose body was not read still reaches the client: the close lingers and reads the body. */
static void test_lingering_close(void)
{
	struct rig *r = rig_open(usual, "127.0.0.1:0");
	r->leaves = true;
	int fd = rig_peer(r);
	uint8_t *body = pattern(BIG);
	size_t sent = 0;
	CU_ASSERT_TRUE_FATAL(RIG_UNTIL(r, ({
		ssize_t n = send(fd, body + sent, BIG / 4 - sent, MSG_DONTWAIT | MSG_NOSIGNAL);
		sent += n > 0 ? (size_t)n : 0;
		r->count == 1 && r->conns[0].readable > 0;
	})));
	CU_ASSERT_TRUE(net_send_copy(r->conns[0].conn, "refused", 7));
	net_close(r->conns[0].conn);
	CU_ASSERT_TRUE(RIG_UNTIL(r, ({
		ssize_t n = send(fd, body + sent, BIG - sent, MSG_DONTWAIT | MSG_NOSIGNAL);
		sent += n > 0 ? (size_t)n : 0;
		sent == BIG;
	})));
	uint8_t back[64];
	size_t len = 0;
	CU_ASSERT_TRUE(RIG_UNTIL(r, rig_peer_read(fd, back, sizeof(back), &len) == 0));
	CU_ASSERT_EQUAL(len, 7);
	CU_ASSERT_EQUAL(r->conns[0].closed, 0);
	close(fd);
	CU_ASSERT_TRUE(RIG_UNTIL(r, r->conns[0].closed == 1));
	CU_ASSERT_EQUAL(r->conns[0].end, NET_END_CLOSED);
	free(body);
	rig_close(r);
}

/* More than LIMIT_NET_LINGER_BYTES are not taken. */
static void test_linger_bytes(void)
{
	int fd;
	struct rig *r = connected(&fd);
	uint8_t *body = pattern(BIG);
	net_close(r->conns[0].conn);
	size_t sent = 0;
	CU_ASSERT_TRUE(RIG_UNTIL(r, ({
		ssize_t n = send(fd, body, BIG, MSG_DONTWAIT | MSG_NOSIGNAL);
		sent += n > 0 ? (size_t)n : 0;
		r->conns[0].closed == 1;
	})));
	CU_ASSERT_EQUAL(r->conns[0].end, NET_END_RESET);
	CU_ASSERT_TRUE(sent > LIMIT_NET_LINGER_BYTES);
	free(body);
	close(fd);
	rig_close(r);
}

/* A peer that neither sends nor ends is reset after LIMIT_NET_LINGER_MS; time is the wheel's. */
static void test_linger_time(void)
{
	int fd;
	struct rig *r = connected(&fd);
	uint64_t start_ns = clock_now_ns();
	net_close(r->conns[0].conn);
	net_poll(r->net, start_ns, 0);
	wheel_advance(&r->wheel, start_ns + (LIMIT_NET_LINGER_MS - 10) * NS_PER_MS);
	CU_ASSERT_EQUAL(r->conns[0].closed, 0);
	wheel_advance(&r->wheel, start_ns + (LIMIT_NET_LINGER_MS + 1000) * NS_PER_MS);
	CU_ASSERT_EQUAL(r->conns[0].closed, 1);
	CU_ASSERT_EQUAL(r->conns[0].end, NET_END_RESET);
	close(fd);
	rig_close(r);
}

/* A closing connection whose peer takes nothing does not keep its slot for ever. */
static void test_close_stall(void)
{
	int fd;
	struct rig *r = connected(&fd);
	uint8_t *data = pattern(BIG);
	unsigned queued = fill_queue(r, data, BIG);
	net_close(r->conns[0].conn);
	for (unsigned i = 0; i < 10; i++)
		net_poll(r->net, clock_now_ns(), 0);
	wheel_advance(&r->wheel, clock_now_ns() + (LIMIT_NET_CLOSE_STALL_MS - 1000) * NS_PER_MS);
	CU_ASSERT_EQUAL(r->conns[0].closed, 0);
	wheel_advance(&r->wheel, clock_now_ns() + (LIMIT_NET_CLOSE_STALL_MS + 1000) * NS_PER_MS);
	CU_ASSERT_EQUAL(r->conns[0].closed, 1);
	CU_ASSERT_EQUAL(r->released, queued);
	free(data);
	close(fd);
	rig_close(r);
}

static void test_abort_resets(void)
{
	int fd;
	struct rig *r = connected(&fd);
	net_abort(r->conns[0].conn);
	CU_ASSERT_EQUAL(r->conns[0].closed, 1);
	uint8_t back[8];
	size_t len = 0;
	CU_ASSERT_EQUAL(rig_peer_read(fd, back, sizeof(back), &len), -1);
	close(fd);
	rig_close(r);
}

static void abort_others(struct rig *r, struct rig_conn *rc)
{
	for (unsigned i = 0; i < r->count; i++) {
		if (&r->conns[i] != rc && r->conns[i].conn != NULL)
			net_abort(r->conns[i].conn);
	}
}

/* Two connections have events in one batch; the first handler ends the second. Its event must reach neither the dead
 * connection nor one that has its slot by then. */
static void test_stale_events(void)
{
	struct rig *r = rig_open(usual, "127.0.0.1:0");
	int fd[2] = {rig_peer(r), rig_peer(r)};
	CU_ASSERT_TRUE_FATAL(RIG_UNTIL(r, r->count == 2));
	rig_turn(r);
	uint64_t key = (uint64_t)((struct host_conn *)r->conns[1].conn)->generation << 32 |
		       pool_index(&inside(r)->conns, r->conns[1].conn);
	r->on_bytes = abort_others;
	CU_ASSERT_EQUAL(send(fd[0], "x", 1, 0), 1);
	CU_ASSERT_EQUAL(send(fd[1], "x", 1, 0), 1);
	CU_ASSERT_TRUE(RIG_UNTIL(r, r->conns[0].closed + r->conns[1].closed == 1));
	CU_ASSERT_EQUAL(r->conns[0].readable + r->conns[1].readable, 1);
	/* The slot has a new user: an event with the old key is not for it. */
	int third = rig_peer(r);
	CU_ASSERT_TRUE_FATAL(RIG_UNTIL(r, r->count == 3));
	if (r->conns[1].conn == NULL)
		host_conn_event((struct host *)r->net, key, EPOLLIN | EPOLLHUP);
	CU_ASSERT_EQUAL(r->conns[2].readable, 0);
	CU_ASSERT_EQUAL(r->conns[2].closed, 0);
	close(third);
	close(fd[0]);
	close(fd[1]);
	rig_close(r);
}

static void test_connect(void)
{
	struct rig *r = rig_open(usual, "127.0.0.1:0");
	struct rig_conn *out = rig_record(r);
	CU_ASSERT_PTR_NOT_NULL_FATAL(net_connect(r->net, NULL, &r->at, &rig_events, out));
	CU_ASSERT_EQUAL(out->opened, 0);
	CU_ASSERT_TRUE(RIG_UNTIL(r, out->opened == 1 && r->count == 2));
	CU_ASSERT_TRUE(net_send_copy(out->conn, "ping", 4));
	net_flush(out->conn);
	CU_ASSERT_TRUE(RIG_UNTIL(r, r->conns[1].got_len == 4));
	net_close(out->conn);
	CU_ASSERT_TRUE(RIG_UNTIL(r, r->conns[1].saw_eof));
	net_close(r->conns[1].conn);
	CU_ASSERT_TRUE(RIG_UNTIL(r, out->closed == 1 && r->conns[1].closed == 1));
	CU_ASSERT_EQUAL(out->end, NET_END_CLOSED);
	rig_close(r);
}

/* N-6: a load generator has many addresses. */
static void test_connect_from(void)
{
	struct rig *r = rig_open(usual, "127.0.0.1:0");
	struct rig_conn *out = rig_record(r);
	struct addr local, elsewhere, v6;
	CU_ASSERT_EQUAL_FATAL(addr_parse(&local, "127.0.0.9:0"), 0);
	CU_ASSERT_EQUAL_FATAL(addr_parse(&elsewhere, "192.0.2.1:0"), 0);
	CU_ASSERT_EQUAL_FATAL(addr_parse(&v6, "[::1]:0"), 0);
	CU_ASSERT_PTR_NOT_NULL_FATAL(net_connect(r->net, &local, &r->at, &rig_events, out));
	CU_ASSERT_TRUE_FATAL(RIG_UNTIL(r, out->opened == 1 && r->count == 2));
	CU_ASSERT_EQUAL(memcmp(out->conn->local.ip, local.ip, sizeof(local.ip)), 0);
	CU_ASSERT_NOT_EQUAL(out->conn->local.port, 0);
	CU_ASSERT_EQUAL(memcmp(r->conns[1].conn->peer.ip, local.ip, sizeof(local.ip)), 0);
	CU_ASSERT_PTR_NULL(net_connect(r->net, &elsewhere, &r->at, &rig_events, NULL));
	CU_ASSERT_PTR_NULL(net_connect(r->net, &v6, &r->at, &rig_events, NULL));
	rig_close(r);
}

static void test_connect_refused(void)
{
	struct rig *r = rig_open(usual, "127.0.0.1:0");
	struct addr nobody = r->at;
	net_stop_listening(r->net);
	struct rig_conn *out = rig_record(r);
	CU_ASSERT_PTR_NOT_NULL_FATAL(net_connect(r->net, NULL, &nobody, &rig_events, out));
	CU_ASSERT_EQUAL(out->closed, 0);
	CU_ASSERT_TRUE(RIG_UNTIL(r, out->closed == 1));
	CU_ASSERT_EQUAL(out->end, NET_END_REFUSED);
	CU_ASSERT_EQUAL(out->opened, 0);
	rig_close(r);
}

static void test_connect_no_slot(void)
{
	struct rig *r = rig_open((struct rig_size){.conns_max = 1, .rx_blocks = 1}, "127.0.0.1:0");
	int fd = rig_peer(r);
	CU_ASSERT_TRUE_FATAL(RIG_UNTIL(r, r->count == 1));
	CU_ASSERT_PTR_NULL(net_connect(r->net, NULL, &r->at, &rig_events, NULL));
	close(fd);
	rig_close(r);
}

/* Who waits in line when the listening stops is still taken. */
static void test_stop_listening(void)
{
	struct rig *r = rig_open(usual, "127.0.0.1:0");
	int fd = rig_peer(r);
	net_stop_listening(r->net);
	CU_ASSERT_EQUAL(r->count, 1);
	CU_ASSERT_EQUAL(send(fd, "x", 1, 0), 1);
	CU_ASSERT_TRUE(RIG_UNTIL(r, r->conns[0].got_len == 1));
	close(fd);
	rig_close(r);
}

struct echo {
	struct net *net;
	unsigned count;
	size_t len;
	bool answers;
};

static void on_datagram(void *user, struct net_udp *udp, const struct addr *from, struct span data)
{
	struct echo *e = user;
	e->count++;
	e->len = data.len;
	if (e->answers)
		CU_ASSERT_TRUE(net_udp_send(e->net, udp, from, data));
}

/* A datagram goes there and back; one of HOST_DATAGRAM_BYTES fits, one byte more is dropped and counted. */
static void test_udp(void)
{
	struct rig *r = rig_open(usual, "127.0.0.1:0");
	struct echo server = {.net = r->net, .answers = true}, client = {.net = r->net};
	struct addr any;
	CU_ASSERT_EQUAL(addr_parse(&any, "127.0.0.1:1"), 0);
	any.port = 0;
	struct net_udp *a = net_udp_open(r->net, &any, on_datagram, &server);
	struct net_udp *b = net_udp_open(r->net, &any, on_datagram, &client);
	CU_ASSERT_PTR_NOT_NULL_FATAL(a);
	CU_ASSERT_PTR_NOT_NULL_FATAL(b);
	uint8_t data[HOST_DATAGRAM_BYTES + 1] = {1};
	const struct addr *to = net_udp_local(r->net, a);
	CU_ASSERT_TRUE(net_udp_send(r->net, b, to, (struct span){data, 100}));
	CU_ASSERT_TRUE(RIG_UNTIL(r, client.count == 1));
	CU_ASSERT_EQUAL(client.len, 100);
	CU_ASSERT_TRUE(net_udp_send(r->net, b, to, (struct span){data, HOST_DATAGRAM_BYTES}));
	CU_ASSERT_TRUE(RIG_UNTIL(r, client.count == 2));
	CU_ASSERT_EQUAL(client.len, HOST_DATAGRAM_BYTES);
	CU_ASSERT_TRUE(net_udp_send(r->net, b, to, (struct span){data, HOST_DATAGRAM_BYTES + 1}));
	CU_ASSERT_TRUE(RIG_UNTIL(r, tally_get(&r->tally, TALLY_DROPS + REASON_MALFORMED) == 1));
	CU_ASSERT_EQUAL(server.count, 2);
	rig_close(r);
}

struct waker {
	struct net *net;
	atomic_uint posted;
	atomic_bool stop;
};

static void *wake_often(void *arg)
{
	struct waker *w = arg;
	while (!atomic_load(&w->stop)) {
		atomic_fetch_add(&w->posted, 1);
		net_wake(w->net);
		/* The next word only when the last was taken: each must end a wait of its own. */
		while (atomic_load(&w->posted) != 0 && !atomic_load(&w->stop))
			;
	}
	return NULL;
}

/* A wake is never lost, whether the lcore sleeps, is about to, or does not: with a lost one a wait of ten seconds
 * would pass and the count would not be reached in time. */
static void test_wake(void)
{
	struct rig *r = rig_open(usual, "127.0.0.1:0");
	struct waker w = {.net = r->net};
	pthread_t thread;
	CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, wake_often, &w), 0);
	unsigned seen = 0;
	uint64_t end_ns = clock_now_ns() + 8 * NS_PER_S;
	while (seen < 2000 && clock_now_ns() < end_ns) {
		net_poll(r->net, clock_now_ns(), 10 * NS_PER_S);
		seen += atomic_exchange(&w.posted, 0);
	}
	CU_ASSERT_TRUE(seen >= 2000);
	atomic_store(&w.stop, true);
	pthread_join(thread, NULL);
	rig_close(r);
}

static const struct unit_case cases[] = {
	{"spans_at_limit_and_one_past", test_spans_at_limit_and_one_past},
	{"copies_at_limit_and_one_past", test_copies_at_limit_and_one_past},
	{"backpressure", test_backpressure},
	{"references_after_abort", test_references_after_abort},
	{"references_after_peer_reset", test_references_after_peer_reset},
	{"references_after_abort_while_closing", test_references_after_abort_while_closing},
	{"references_after_fini", test_references_after_fini},
	{"close_sends_the_rest", test_close_sends_the_rest},
	{"lingering_close", test_lingering_close},
	{"linger_bytes", test_linger_bytes},
	{"linger_time", test_linger_time},
	{"close_stall", test_close_stall},
	{"abort_resets", test_abort_resets},
	{"stale_events", test_stale_events},
	{"connect", test_connect},
	{"connect_from", test_connect_from},
	{"connect_refused", test_connect_refused},
	{"connect_no_slot", test_connect_no_slot},
	{"stop_listening", test_stop_listening},
	{"udp", test_udp},
	{"wake", test_wake},
};

UNIT_MAIN("dataplane/net/host_conn", cases)
