/* Two nodes in one process, joined by a memif link: the whole path from the seam to the wire and back. */
#include "dataplane/net/dpdk/dpdk.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_eal.h>

#include "dataplane/net/dpdk/dpdk_eal.h"
#include "dataplane/net/ip_table.h"
#include "lib/clock/clock.h"
#include "lib/conf/conf.h"
#include "tests/unit/unit.h"

enum { DEADLINE_S = 20, PIECE = 65536, PIECES = 16, HTTP_PORT = 80 };

/* One end of the link. */
struct side {
	struct dpdk_node *node;
	struct net *net;
	struct wheel wheel;
	struct tally *tally;
	struct ip_table *ips;
	uint64_t now_ns;
};

static struct side server, client;

/* What a connection saw. */
struct seen {
	struct net_conn *conn;
	unsigned opened, closed, released, writable;
	enum net_end end;
	uint64_t bytes;
	uint64_t wrong;	   /* bytes that are not what was sent */
	size_t want_whole; /* leave bytes lying until this many lie in one piece */
	bool is_closing;   /* at the peer's end of stream */
};

static struct seen at_server, at_client;
static uint8_t payload[PIECE];

static uint8_t byte_at(uint64_t i)
{
	return (uint8_t)((i % PIECE) * 31 + (i % PIECE) / 251);
}

static bool on_open(struct net_conn *conn)
{
	struct seen *s = conn->user;
	s->conn = conn;
	s->opened++;
	return true;
}

static void on_readable(struct net_conn *conn)
{
	struct seen *s = conn->user;
	for (struct span in = net_peek(conn); in.len != 0; in = net_peek(conn)) {
		if (in.len < s->want_whole)
			return;
		for (size_t i = 0; i < in.len; i++)
			s->wrong += in.data[i] != byte_at(s->bytes + i);
		s->bytes += in.len;
		net_consume(conn, in.len);
	}
	if (net_is_eof(conn) && s->is_closing)
		net_close(conn);
}

static void on_writable(struct net_conn *conn)
{
	struct seen *s = conn->user;
	s->writable++;
}

static void on_closed(struct net_conn *conn, enum net_end end)
{
	struct seen *s = conn->user;
	s->conn = NULL;
	s->closed++;
	s->end = end;
}

static const struct net_events events = {on_open, on_readable, on_writable, on_closed};

static void on_release(void *ctx)
{
	struct seen *s = ctx;
	s->released++;
}

static void turn(struct side *s)
{
	net_poll(s->net, clock_now_ns(), 0);
	wheel_advance(&s->wheel, s->now_ns);
}

/* Runs both ends until the condition holds. */
#define UNTIL(condition) \
	do { \
		uint64_t end_ns_ = clock_now_ns() + DEADLINE_S * NS_PER_S; \
		while (!(condition) && clock_now_ns() < end_ns_) { \
			turn(&server); \
			turn(&client); \
		} \
		CU_ASSERT_FATAL(condition); \
	} while (0)

static struct addr addr(const char *text)
{
	struct addr a;
	CU_ASSERT_EQUAL_FATAL(addr_parse(&a, text), 0);
	return a;
}

static void open_side(struct side *s, const char *role, unsigned id, const char *ip)
{
	char text[512], why[256] = "";
	struct conf conf;
	struct conf_errors errors;
	snprintf(text, sizeof(text),
		"net:\n  backend: dpdk\ndpdk:\n  ports: "
		"['net_memif%u,role=%s,id=0,socket=millrace-%d,"
		"socket-abstract=yes']\n  addresses: ['10.0.0.%s/24', 'fd00::%s/64']\n  mbufs: "
		"8192\n",
		id, role, (int)getpid(), ip, ip);
	if (conf_load_text(&conf, NULL, text, strlen(text), "test", &errors) != 0)
		printf("%s\n", errors.text[0]);
	int rc = dpdk_node_open(&s->node, &conf, 1, why, sizeof(why));
	if (rc != 0)
		printf("%s\n", why);
	CU_ASSERT_EQUAL_FATAL(rc, 0);
	s->now_ns = clock_now_ns();
	wheel_init(&s->wheel, s->now_ns);
	s->tally = aligned_alloc(CACHE_LINE, sizeof(*s->tally));
	memset(s->tally, 0, sizeof(*s->tally));
	CU_ASSERT_EQUAL_FATAL(ip_table_init(&s->ips, 16), 0);
	struct net_conf nc = {.conns_max = 64,
		.rx_blocks = 16,
		.wheel = &s->wheel,
		.tally = s->tally,
		.ips = s->ips,
		.now_ns = &s->now_ns};
	CU_ASSERT_EQUAL_FATAL(dpdk_open(&s->net, &nc, s->node, 0, why, sizeof(why)), 0);
}

static void close_side(struct side *s)
{
	net_fini(s->net);
	dpdk_node_close(s->node);
	ip_table_fini(s->ips);
	free(s->tally);
}

/* EAL starts once a process: this is the first test of the list. */
static void test_start(void)
{
	char *args[] = {"test", "--no-huge", "--no-pci", "--no-shconf", "--no-telemetry", "-m",
		"256", "--log-level=error", "-l", "0"};
	CU_ASSERT_TRUE_FATAL(rte_eal_init(ARRAY_LEN(args), args) >= 0);
	for (unsigned i = 0; i < PIECE; i++)
		payload[i] = byte_at(i);
	open_side(&server, "server", 0, "1");
	open_side(&client, "client", 1, "2");
	struct net_listener_conf lc = {.local = addr("10.0.0.1:80"),
		.backlog = 4096,
		.events = &events,
		.user = &at_server};
	CU_ASSERT_EQUAL(net_listen(server.net, &lc, NULL), 0);
	CU_ASSERT_EQUAL(net_listen(server.net, &lc, NULL), -EADDRINUSE);
	lc.local = addr("10.0.0.9:80");
	CU_ASSERT_EQUAL(net_listen(server.net, &lc, NULL), -EADDRNOTAVAIL);
	lc.local = addr("[fd00::1]:80");
	CU_ASSERT_EQUAL(net_listen(server.net, &lc, NULL), 0);
}

static void connect_to(const char *to)
{
	struct addr there = addr(to);
	memset(&at_server, 0, sizeof(at_server));
	memset(&at_client, 0, sizeof(at_client));
	CU_ASSERT_PTR_NOT_NULL_FATAL(net_connect(client.net, NULL, &there, &events, &at_client));
	UNTIL(at_client.opened == 1 && at_server.opened == 1);
}

/* N-2: payload goes by reference, arrives whole and in order, and is released once: when it is acknowledged. */
static void transfer(const char *to)
{
	connect_to(to);
	at_server.is_closing = true;
	unsigned queued = 0;
	while (queued < PIECES) {
		struct net_ref ref = {payload, PIECE, on_release, &at_client};
		if (net_send_ref(at_client.conn, &ref))
			queued++;
		net_flush(at_client.conn);
		turn(&server);
		turn(&client);
	}
	UNTIL(at_server.bytes == (uint64_t)PIECES * PIECE);
	CU_ASSERT_EQUAL(at_server.wrong, 0);
	UNTIL(at_client.released == PIECES);
	net_sample(at_client.conn);
	CU_ASSERT_EQUAL(at_client.conn->tx_bytes, (uint64_t)PIECES * PIECE);
	CU_ASSERT_EQUAL(at_client.conn->tx_waiting, 0);
	CU_ASSERT_EQUAL(at_server.conn->rx_bytes, (uint64_t)PIECES * PIECE);
	net_close(at_client.conn);
	UNTIL(at_client.closed == 1 && at_server.closed == 1);
	CU_ASSERT_EQUAL(at_client.end, NET_END_CLOSED);
	CU_ASSERT_EQUAL(at_server.end, NET_END_CLOSED);
	CU_ASSERT_EQUAL(at_client.released, PIECES);
}

static void test_transfer(void)
{
	transfer("10.0.0.1:80");
}

static void test_transfer_v6(void)
{
	transfer("[fd00::1]:80");
}

/* A head that comes in many packets is seen in one piece by him who leaves it lying. */
static void test_join(void)
{
	connect_to("10.0.0.1:80");
	at_server.want_whole = LIMIT_HTTP_HEAD_BYTES;
	for (unsigned sent = 0; sent < LIMIT_HTTP_HEAD_BYTES; sent += 1024) {
		CU_ASSERT_TRUE(net_send_copy(at_client.conn, payload + sent, 1024));
		net_flush(at_client.conn);
		for (unsigned i = 0; i < 50; i++) {
			turn(&client);
			turn(&server);
		}
		if (sent + 1024 < LIMIT_HTTP_HEAD_BYTES)
			CU_ASSERT_EQUAL(at_server.bytes, 0);
	}
	UNTIL(at_server.bytes == LIMIT_HTTP_HEAD_BYTES);
	CU_ASSERT_EQUAL(at_server.wrong, 0);
	net_abort(at_client.conn);
	UNTIL(at_server.closed == 1);
}

static void test_abort(void)
{
	connect_to("10.0.0.1:80");
	struct net_ref ref = {payload, PIECE, on_release, &at_client};
	CU_ASSERT_TRUE(net_send_ref(at_client.conn, &ref));
	net_abort(at_client.conn);
	CU_ASSERT_EQUAL(at_client.closed, 1);
	CU_ASSERT_EQUAL(at_client.end, NET_END_ABORTED);
	UNTIL(at_client.released == 1);
	UNTIL(at_server.closed == 1);
	CU_ASSERT_EQUAL(at_server.end, NET_END_RESET);
}

static void test_refused(void)
{
	struct addr nobody = addr("10.0.0.1:81");
	memset(&at_client, 0, sizeof(at_client));
	CU_ASSERT_PTR_NOT_NULL_FATAL(net_connect(client.net, NULL, &nobody, &events, &at_client));
	UNTIL(at_client.closed == 1);
	CU_ASSERT_EQUAL(at_client.opened, 0);
	CU_ASSERT_EQUAL(at_client.end, NET_END_REFUSED);
	struct addr far = addr("192.0.2.1:80");
	CU_ASSERT_PTR_NULL(net_connect(client.net, NULL, &far, &events, &at_client));
}

/* the cap counts at the SYN. */
static void test_cap(void)
{
	struct ip_table_limits limits = {.conns = 1};
	struct addr there = addr("10.0.0.1:80");
	struct seen second = {.conn = NULL};
	ip_table_limit(server.ips, &limits);
	connect_to("10.0.0.1:80");
	CU_ASSERT_NOT_EQUAL(at_server.conn->ip_entry, IP_TABLE_NONE);
	CU_ASSERT_PTR_NOT_NULL_FATAL(net_connect(client.net, NULL, &there, &events, &second));
	UNTIL(second.closed == 1);
	CU_ASSERT_EQUAL(second.end, NET_END_REFUSED);
	CU_ASSERT_EQUAL(tally_get(server.tally, TALLY_REJECTED + REASON_IP_CAP), 1);
	net_abort(at_client.conn);
	UNTIL(at_server.closed == 1);
	limits.conns = 0;
	ip_table_limit(server.ips, &limits);
}

struct datagram {
	unsigned count;
	size_t len;
	struct addr from;
	bool is_echo;
};

static void on_datagram(
	void *user, struct net_udp *udp, const struct addr *from, struct span lend_data)
{
	struct datagram *d = user;
	d->count++;
	d->len = lend_data.len;
	d->from = *from;
	if (d->is_echo)
		CU_ASSERT_TRUE(net_udp_send(server.net, udp, from, lend_data));
}

static void test_udp(void)
{
	struct datagram at_a = {.is_echo = true}, at_b = {.count = 0};
	struct addr here = addr("10.0.0.1:7"), any = addr("0.0.0.0:0"),
		    not_ours = addr("10.0.0.9:7");
	struct net_udp *a = net_udp_open(server.net, &here, on_datagram, &at_a);
	struct net_udp *b = net_udp_open(client.net, &any, on_datagram, &at_b);
	CU_ASSERT_PTR_NOT_NULL_FATAL(a);
	CU_ASSERT_PTR_NOT_NULL_FATAL(b);
	CU_ASSERT_PTR_NULL(net_udp_open(server.net, &here, on_datagram, &at_a));
	CU_ASSERT_PTR_NULL(net_udp_open(server.net, &not_ours, on_datagram, &at_a));
	/* 1500 bytes of MTU less both headers: the most there can be, and one more */
	CU_ASSERT_TRUE(net_udp_send(client.net, b, &here, (struct span){payload, 1472}));
	CU_ASSERT_FALSE(net_udp_send(client.net, b, &here, (struct span){payload, 1473}));
	UNTIL(at_b.count == 1);
	CU_ASSERT_EQUAL(at_a.count, 1);
	CU_ASSERT_EQUAL(at_b.len, 1472);
	CU_ASSERT_EQUAL(at_b.from.port, 7);
	CU_ASSERT_NOT_EQUAL(net_udp_local(client.net, b)->port, 0);
	/* nobody there: told and counted */
	here.port = 8;
	CU_ASSERT_TRUE(net_udp_send(client.net, b, &here, (struct span){payload, 1}));
	UNTIL(tally_get(server.tally, TALLY_DROPS + REASON_UDP_PORT) == 1);
}

/* Everything that was open is reset, and every buffer is back where it came from. */
static void test_end(void)
{
	connect_to("10.0.0.1:80");
	struct net_ref ref = {payload, PIECE, on_release, &at_client};
	CU_ASSERT_TRUE(net_send_ref(at_client.conn, &ref));
	close_side(&client);
	CU_ASSERT_EQUAL(at_client.closed, 0);
	CU_ASSERT_EQUAL(at_client.released, 1);
	close_side(&server);
}

static const struct unit_case cases[] = {
	{"start", test_start},
	{"transfer", test_transfer},
	{"transfer_v6", test_transfer_v6},
	{"join", test_join},
	{"abort", test_abort},
	{"refused", test_refused},
	{"cap", test_cap},
	{"udp", test_udp},
	{"end", test_end},
};

UNIT_MAIN("dataplane/net/dpdk/dpdk", cases)
