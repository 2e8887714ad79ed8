/* The host back end over real loopback sockets: receiving, sending, closing. */
#include "dataplane/net/host/host.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "dataplane/net/host/host_state.h"
#include "lib/clock/clock.h"
#include "tests/unit/dataplane/net/host/rig.h"
#include "tests/unit/unit.h"

static const struct rig_size usual = {.conns_max = 32, .rx_blocks = 16};

static const struct host *inside(const struct rig *r)
{
	return (const struct host *)r->net;
}

static void echo(struct rig *r, struct rig_conn *rc)
{
	(void)r;
	if (rc->got_len == 0)
		return;
	CU_ASSERT_TRUE(net_send_copy(rc->conn, rc->got, rc->got_len));
	rc->got_len = 0;
	net_flush(rc->conn);
}

static void write_all(int fd, const void *data, size_t len)
{
	CU_ASSERT_EQUAL_FATAL(send(fd, data, len, MSG_NOSIGNAL), (ssize_t)len);
}

/* One recv and one sendmsg per exchange, whatever epoll says in between; nothing is held while it is silent. */
static void exchange_on(const char *listen)
{
	struct rig *r = rig_open(usual, listen);
	r->on_bytes = echo;
	int fd = rig_peer(r);
	uint8_t back[64];
	for (unsigned i = 0; i < 10; i++) {
		size_t len = 0;
		write_all(fd, "request", 7);
		CU_ASSERT_TRUE(
			RIG_UNTIL(r, (rig_peer_read(fd, back, sizeof(back), &len), len == 7)));
		CU_ASSERT_EQUAL(memcmp(back, "request", 7), 0);
	}
	CU_ASSERT_EQUAL(tally_get(&r->tally, TALLY_PACKETS + LABEL_DIR_RX), 10);
	CU_ASSERT_EQUAL(tally_get(&r->tally, TALLY_PACKETS + LABEL_DIR_TX), 10);
	CU_ASSERT_EQUAL(tally_get(&r->tally, TALLY_BYTES + LABEL_DIR_RX), 70);
	CU_ASSERT_EQUAL(inside(r)->blocks.in_use, 0);
	CU_ASSERT_EQUAL(inside(r)->txs.in_use, 0);
	CU_ASSERT_EQUAL(r->conns[0].conn->rx_bytes, 70);
	CU_ASSERT_EQUAL(r->conns[0].conn->tx_bytes, 70);
	CU_ASSERT_EQUAL(tally_get(&r->tally, TALLY_CONNS_OPEN), 1);
	close(fd);
	CU_ASSERT_TRUE(RIG_UNTIL(r, r->conns[0].saw_eof));
	net_close(r->conns[0].conn);
	CU_ASSERT_TRUE(RIG_UNTIL(r, r->conns[0].closed == 1));
	CU_ASSERT_EQUAL(r->conns[0].end, NET_END_CLOSED);
	CU_ASSERT_EQUAL(tally_get(&r->tally, TALLY_CONNS_OPEN), 0);
	rig_close(r);
}

static void test_exchange(void)
{
	exchange_on("127.0.0.1:0");
}

static void test_exchange_v6(void)
{
	exchange_on("[::1]:0");
}

/* what is accepted has TCP_NODELAY; [::] and 0.0.0.0 take the same port side by side. */
static void test_listen_options(void)
{
	struct rig *r = rig_open(usual, "0.0.0.0:0");
	struct net_listener_conf lc = {.backlog = 4096, .events = &rig_events, .user = r};
	CU_ASSERT_EQUAL(addr_parse(&lc.local, "[::]:1"), 0);
	lc.local.port = r->at.port;
	CU_ASSERT_EQUAL(net_listen(r->net, &lc, NULL), 0);
	CU_ASSERT_EQUAL(addr_parse(&r->at, "127.0.0.1:1"), 0);
	r->at.port = lc.local.port;
	int fd = rig_peer(r);
	CU_ASSERT_TRUE_FATAL(RIG_UNTIL(r, r->count == 1));
	int on = 0;
	socklen_t len = sizeof(on);
	const struct host_conn *c = (const struct host_conn *)r->conns[0].conn;
	CU_ASSERT_EQUAL(getsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, &len), 0);
	CU_ASSERT_EQUAL(on, 1);
	char text[ADDR_TEXT];
	addr_print_ip(&c->pub.local, text);
	CU_ASSERT_STRING_EQUAL(text, "127.0.0.1");
	addr_print_ip(&c->pub.peer, text);
	CU_ASSERT_STRING_EQUAL(text, "127.0.0.1");
	close(fd);
	rig_close(r);
}

/* The lcores of one node share a port; another node does not get it. */
static void test_taken_address(void)
{
	struct rig *r = rig_open(usual, "127.0.0.1:0");
	struct net_listener_conf lc = {
		.local = r->at, .backlog = 4096, .events = &rig_events, .user = r};
	CU_ASSERT_EQUAL(net_listen(r->net, &lc, NULL), 0);
	lc.is_first = true;
	CU_ASSERT_EQUAL(net_listen(r->net, &lc, NULL), -EADDRINUSE);
	rig_close(r);
}

static void test_listeners_at_limit_and_one_past(void)
{
	struct rig *r = rig_open(usual, "127.0.0.1:0");
	struct net_listener_conf lc = {.backlog = 4096, .events = &rig_events, .user = r};
	CU_ASSERT_EQUAL(addr_parse(&lc.local, "127.0.0.1:1"), 0);
	lc.local.port = 0;
	for (unsigned i = 1; i < LIMIT_LISTENERS; i++)
		CU_ASSERT_EQUAL(net_listen(r->net, &lc, NULL), 0);
	CU_ASSERT_EQUAL(net_listen(r->net, &lc, NULL), -ENOSPC);
	rig_close(r);
}

/* Bytes that come one by one are there in one piece until they are consumed. */
static void test_split_reads_join(void)
{
	struct rig *r = rig_open(usual, "127.0.0.1:0");
	r->leaves = true;
	int fd = rig_peer(r);
	int on = 1;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	for (unsigned i = 0; i < 100; i++) {
		uint8_t byte = (uint8_t)i;
		write_all(fd, &byte, 1);
		CU_ASSERT_TRUE_FATAL(
			RIG_UNTIL(r, r->count == 1 && net_peek(r->conns[0].conn).len == i + 1));
	}
	struct span span = net_peek(r->conns[0].conn);
	for (unsigned i = 0; i < 100; i++)
		CU_ASSERT_EQUAL(span.data[i], i);
	net_consume(r->conns[0].conn, 40);
	span = net_peek(r->conns[0].conn);
	CU_ASSERT_EQUAL(span.len, 60);
	CU_ASSERT_EQUAL(span.data[0], 40);
	CU_ASSERT_EQUAL(inside(r)->blocks.in_use, 1);
	net_consume(r->conns[0].conn, 60);
	CU_ASSERT_EQUAL(inside(r)->blocks.in_use, 0);
	CU_ASSERT_EQUAL(net_peek(r->conns[0].conn).len, 0);
	close(fd);
	rig_close(r);
}

/* A full block stops the reading; consuming a part moves the rest to the front and reads on. Nothing is lost. */
static void test_full_block_and_compaction(void)
{
	enum { TOTAL = 3 * LIMIT_NET_RX_BLOCK_BYTES };
	struct rig *r = rig_open(usual, "127.0.0.1:0");
	r->leaves = true;
	int fd = rig_peer(r);
	fcntl(fd, F_SETFL, O_NONBLOCK);
	uint8_t *out = malloc(TOTAL);
	for (unsigned i = 0; i < TOTAL; i++)
		out[i] = (uint8_t)(i * 7 + i / 251);
	size_t sent = 0, got = 0;
	bool was_full = false;
	uint64_t end_ns = clock_now_ns() + 10 * NS_PER_S;
	while (got < TOTAL && clock_now_ns() < end_ns) {
		ssize_t n = sent < TOTAL ? send(fd, out + sent, TOTAL - sent, MSG_NOSIGNAL) : 0;
		sent += n > 0 ? (size_t)n : 0;
		rig_turn(r);
		if (r->count == 0)
			continue;
		struct span span = net_peek(r->conns[0].conn);
		CU_ASSERT_TRUE(span.len <= LIMIT_NET_RX_BLOCK_BYTES);
		was_full |= span.len == LIMIT_NET_RX_BLOCK_BYTES;
		if (span.len < LIMIT_NET_RX_BLOCK_BYTES && got + span.len < TOTAL)
			continue;
		size_t part = got + span.len == TOTAL ? span.len : 20000;
		CU_ASSERT_EQUAL(memcmp(span.data, out + got, part), 0);
		net_consume(r->conns[0].conn, part);
		got += part;
	}
	CU_ASSERT_EQUAL(got, TOTAL);
	CU_ASSERT_TRUE(was_full);
	free(out);
	close(fd);
	rig_close(r);
}

/* The end of the stream reaches the user with the last bytes or after them, and half-closed peers get answers. */
static void test_half_close(void)
{
	struct rig *r = rig_open(usual, "127.0.0.1:0");
	int fd = rig_peer(r);
	write_all(fd, "bye", 3);
	shutdown(fd, SHUT_WR);
	CU_ASSERT_TRUE_FATAL(RIG_UNTIL(r, r->count == 1 && r->conns[0].saw_eof));
	CU_ASSERT_EQUAL(r->conns[0].got_len, 3);
	CU_ASSERT_EQUAL(r->conns[0].closed, 0);
	CU_ASSERT_TRUE(net_send_copy(r->conns[0].conn, "answer", 6));
	net_flush(r->conns[0].conn);
	net_close(r->conns[0].conn);
	uint8_t back[16];
	size_t len = 0;
	CU_ASSERT_TRUE(RIG_UNTIL(r, rig_peer_read(fd, back, sizeof(back), &len) == 0));
	CU_ASSERT_EQUAL(len, 6);
	CU_ASSERT_TRUE(RIG_UNTIL(r, r->conns[0].closed == 1));
	CU_ASSERT_EQUAL(r->conns[0].end, NET_END_CLOSED);
	close(fd);
	rig_close(r);
}

/* No receive block left: the bytes wait in the socket and are read when a block comes back. */
static void test_no_block_left(void)
{
	struct rig *r = rig_open((struct rig_size){.conns_max = 8, .rx_blocks = 2}, "127.0.0.1:0");
	r->leaves = true;
	int fd[4];
	for (unsigned i = 0; i < 4; i++) {
		fd[i] = rig_peer(r);
		write_all(fd[i], "hello", 5);
		CU_ASSERT_TRUE_FATAL(RIG_UNTIL(r, r->count == i + 1));
	}
	CU_ASSERT_TRUE(RIG_UNTIL(r, inside(r)->blocks.in_use == 2));
	for (unsigned i = 0; i < 20; i++)
		rig_turn(r);
	unsigned first = 0, second = 1;
	CU_ASSERT_EQUAL(r->conns[0].readable + r->conns[1].readable + r->conns[2].readable +
				r->conns[3].readable,
		2);
	while (r->conns[first].readable == 0)
		first++;
	net_consume(r->conns[first].conn, 5);
	for (second = 0; second == first || r->conns[second].readable == 0;)
		second++;
	net_abort(r->conns[second].conn);
	unsigned *counts[4] = {&r->conns[0].readable, &r->conns[1].readable, &r->conns[2].readable,
		&r->conns[3].readable};
	CU_ASSERT_TRUE(RIG_UNTIL(r, *counts[0] && *counts[1] && *counts[2] && *counts[3]));
	for (unsigned i = 0; i < 4; i++)
		close(fd[i]);
	rig_close(r);
}

/* the connection slots are all taken: one more is closed at once and counted; a slot that frees is used. */
static void test_conns_at_max_and_one_past(void)
{
	struct rig *r = rig_open((struct rig_size){.conns_max = 3, .rx_blocks = 2}, "127.0.0.1:0");
	int fd[4];
	for (unsigned i = 0; i < 3; i++)
		fd[i] = rig_peer(r);
	CU_ASSERT_TRUE_FATAL(RIG_UNTIL(r, r->count == 3));
	CU_ASSERT_EQUAL(tally_get(&r->tally, TALLY_DROPS + REASON_CONN_CAP), 0);
	fd[3] = rig_peer(r);
	uint8_t back[8];
	size_t len = 0;
	CU_ASSERT_TRUE(RIG_UNTIL(r, rig_peer_read(fd[3], back, sizeof(back), &len) <= 0));
	CU_ASSERT_EQUAL(tally_get(&r->tally, TALLY_DROPS + REASON_CONN_CAP), 1);
	CU_ASSERT_EQUAL(tally_get(&r->tally, TALLY_REJECTED + REASON_CONN_CAP), 1);
	CU_ASSERT_EQUAL(r->count, 3);
	net_abort(r->conns[0].conn);
	int again = rig_peer(r);
	CU_ASSERT_TRUE(RIG_UNTIL(r, r->count == 4));
	close(again);
	for (unsigned i = 0; i < 4; i++)
		close(fd[i]);
	rig_close(r);
}

/* the cap of one address, and that a closed connection leaves it. */
static void test_ip_cap(void)
{
	struct rig *r =
		rig_open((struct rig_size){.conns_max = 8, .rx_blocks = 2, .conns_per_ip = 2},
			"127.0.0.1:0");
	int fd[3];
	for (unsigned i = 0; i < 3; i++)
		fd[i] = rig_peer(r);
	uint8_t back[8];
	size_t len = 0;
	CU_ASSERT_TRUE(RIG_UNTIL(r, rig_peer_read(fd[2], back, sizeof(back), &len) <= 0));
	CU_ASSERT_EQUAL(r->count, 2);
	CU_ASSERT_EQUAL(tally_get(&r->tally, TALLY_DROPS + REASON_IP_CAP), 1);
	CU_ASSERT_EQUAL(tally_get(&r->tally, TALLY_REJECTED + REASON_IP_CAP), 1);
	net_abort(r->conns[1].conn);
	int again = rig_peer(r);
	CU_ASSERT_TRUE(RIG_UNTIL(r, r->count == 3));
	close(again);
	for (unsigned i = 0; i < 3; i++)
		close(fd[i]);
	rig_close(r);
}

/* Refused in on_open: reset, no on_closed, slot and address given back. */
static void test_refused_in_on_open(void)
{
	struct rig *r = rig_open(usual, "127.0.0.1:0");
	r->refuses = true;
	int fd = rig_peer(r);
	uint8_t back[8];
	size_t len = 0;
	CU_ASSERT_TRUE(RIG_UNTIL(r, rig_peer_read(fd, back, sizeof(back), &len) <= 0));
	CU_ASSERT_EQUAL(r->conns[0].closed, 0);
	CU_ASSERT_EQUAL(inside(r)->conns.in_use, 0);
	CU_ASSERT_EQUAL(ip_table_count(r->ips), 0);
	close(fd);
	rig_close(r);
}

/* No descriptor left: who comes is turned away and counted, and the loop does not spin on it. */
static void test_out_of_descriptors(void)
{
	struct rig *r = rig_open(usual, "127.0.0.1:0");
	int fd = rig_peer(r);
	struct rlimit old;
	CU_ASSERT_EQUAL_FATAL(getrlimit(RLIMIT_NOFILE, &old), 0);
	struct rlimit tight = {.rlim_cur = (rlim_t)fd + 1, .rlim_max = old.rlim_max};
	CU_ASSERT_EQUAL_FATAL(setrlimit(RLIMIT_NOFILE, &tight), 0);
	uint8_t back[8];
	size_t len = 0;
	CU_ASSERT_TRUE(RIG_UNTIL(r, rig_peer_read(fd, back, sizeof(back), &len) <= 0));
	CU_ASSERT_EQUAL(tally_get(&r->tally, TALLY_DROPS + REASON_CONN_CAP), 1);
	CU_ASSERT_EQUAL(net_poll(r->net, clock_now_ns(), 0), 0);
	CU_ASSERT_EQUAL(setrlimit(RLIMIT_NOFILE, &old), 0);
	int again = rig_peer(r);
	CU_ASSERT_TRUE(RIG_UNTIL(r, r->count == 1));
	close(again);
	close(fd);
	rig_close(r);
}

static const struct unit_case cases[] = {
	{"exchange", test_exchange},
	{"exchange_v6", test_exchange_v6},
	{"listen_options", test_listen_options},
	{"taken_address", test_taken_address},
	{"listeners_at_limit_and_one_past", test_listeners_at_limit_and_one_past},
	{"split_reads_join", test_split_reads_join},
	{"full_block_and_compaction", test_full_block_and_compaction},
	{"half_close", test_half_close},
	{"no_block_left", test_no_block_left},
	{"conns_at_max_and_one_past", test_conns_at_max_and_one_past},
	{"ip_cap", test_ip_cap},
	{"refused_in_on_open", test_refused_in_on_open},
	{"out_of_descriptors", test_out_of_descriptors},
};

UNIT_MAIN("dataplane/net/host", cases)
