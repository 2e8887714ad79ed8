/* A TCP engine and a hostile peer. The input is a program for that peer and for the user of the connections: the peer
 * knows what the engine sent, so it completes handshakes, acknowledges and resets at will; every segment goes in as
 * bytes. After each step nothing that must be true is broken, and at the end nothing has leaked. */
#include "dataplane/net/dpdk/tcp_check.h"
#include "dataplane/net/dpdk/tcp_wire.h"
#include "tests/fuzz/fuzz.h"

enum { PEERS = 3, PORT = 80, STEPS_MAX = 400, PAYLOAD_MAX = 3000 };

struct peer {
	struct tcp_conn *conn; /* as its user knows it; NULL: not open */
	uint16_t engine_port, port;
	uint32_t sent_nxt;   /* behind the last byte the peer has sent, as it thinks */
	uint32_t engine_nxt; /* behind the last byte the engine has sent */
	uint32_t engine_ack; /* what the engine has acknowledged */
	uint32_t ts;	     /* the engine's last timestamp */
};

struct world {
	struct tcp tcp;
	struct wheel wheel;
	uint64_t now_ns;
	struct peer peers[PEERS];
	const uint8_t *data;
	size_t size;
	uint64_t pkts_out;
	unsigned refs_out;
	unsigned admitted;
	bool reads;
};

static const uint8_t engine_ip[16] = {[10] = 0xff, 0xff, 10, 0, 0, 1};
static const uint8_t peer_ip[16] = {[10] = 0xff, 0xff, 10, 0, 0, 2};
static const uint8_t payload[PAYLOAD_MAX];

static uint8_t byte(struct world *w)
{
	if (w->size == 0)
		return 0;
	w->size--;
	return *w->data++;
}

static uint16_t word(struct world *w)
{
	uint16_t high = byte(w);
	return (uint16_t)(high << 8 | byte(w));
}

static struct peer *peer_of(struct world *w, const struct tcp_key *key)
{
	for (unsigned i = 0; i < PEERS; i++) {
		if (w->peers[i].port == key->remote_port)
			return &w->peers[i];
	}
	return &w->peers[0];
}

static void on_emit(void *ctx, const struct tcp_seg *lend_seg)
{
	struct world *w = ctx;
	uint8_t bytes[TCP_WIRE_HEADER_MAX + PAYLOAD_MAX];
	CHECK(lend_seg->len <= 1460);
	size_t len = tcp_wire_build(lend_seg, bytes, sizeof(bytes));
	struct tcp_in in;
	/* what we send, anybody can read */
	CHECK(len != 0);
	CHECK(tcp_wire_parse(&in, lend_seg->key->local_ip, lend_seg->key->remote_ip,
		      (struct span){bytes, len}, false) == 0);
	struct peer *p = peer_of(w, lend_seg->key);
	p->engine_nxt = in.seq + in.len + ((in.flags & TCP_SYN) != 0) + ((in.flags & TCP_FIN) != 0);
	p->engine_ack = in.ack;
	p->engine_port = lend_seg->key->local_port;
	if (in.opt.flags & TCP_OPT_TS)
		p->ts = in.opt.ts_val;
}

static void on_pkt_release(void *ctx, void *take_pkt)
{
	struct world *w = ctx;
	w->pkts_out--;
	free(take_pkt);
}

static bool on_open(void *ctx, struct tcp_conn *c)
{
	struct world *w = ctx;
	struct peer *p = peer_of(w, tcp_key(c));
	if (p->conn != NULL && p->conn != c)
		return false;
	p->conn = c;
	return true;
}

static void on_readable(void *ctx, struct tcp_conn *c)
{
	struct world *w = ctx;
	if (w->reads)
		tcp_consume(c, tcp_unread(c));
}

static void on_writable(void *ctx, struct tcp_conn *c)
{
	(void)ctx;
	(void)!tcp_send_copy(c, payload, 10);
}

static void on_closed(void *ctx, struct tcp_conn *c, enum tcp_end end)
{
	struct world *w = ctx;
	(void)end;
	for (unsigned i = 0; i < PEERS; i++) {
		if (w->peers[i].conn == c)
			w->peers[i].conn = NULL;
	}
}

static bool on_admit(void *ctx, const uint8_t ip[16])
{
	struct world *w = ctx;
	(void)ip;
	w->admitted++;
	return true;
}

static void on_retire(void *ctx, const uint8_t ip[16])
{
	struct world *w = ctx;
	(void)ip;
	CHECK(w->admitted > 0);
	w->admitted--;
}

static void on_release(void *ctx)
{
	struct world *w = ctx;
	CHECK(w->refs_out > 0);
	w->refs_out--;
}

static const struct tcp_ops ops = {
	.emit = on_emit,
	.pkt_release = on_pkt_release,
	.on_open = on_open,
	.on_readable = on_readable,
	.on_writable = on_writable,
	.on_closed = on_closed,
	.admit = on_admit,
	.retire = on_retire,
};

static void put32(uint8_t *at, uint32_t v)
{
	for (unsigned i = 0; i < 4; i++)
		at[i] = (uint8_t)(v >> (24 - 8 * i));
}

/* One segment of the peer, as bytes; `opts_len` of `opts` are its options. */
static void segment(struct world *w, struct peer *p, uint8_t flags, uint32_t seq, uint32_t ack,
	uint16_t wnd, const uint8_t *opts, unsigned opts_len, uint32_t len)
{
	unsigned header = TCP_WIRE_HEADER + opts_len;
	uint8_t *bytes = malloc(header + len);
	CHECK(bytes != NULL);
	memset(bytes, 0, header + len);
	put32(bytes, (uint32_t)p->port << 16 | p->engine_port);
	put32(bytes + 4, seq);
	put32(bytes + 8, ack);
	put32(bytes + 12, (header / 4) << 28 | (uint32_t)flags << 16 | wnd);
	memcpy(bytes + TCP_WIRE_HEADER, opts, opts_len);
	struct tcp_in in = {0};
	if (tcp_wire_parse(&in, peer_ip, engine_ip, (struct span){bytes, header + len}, true) !=
		0) {
		free(bytes);
		return;
	}
	in.pkt = bytes;
	in.pkt_cost = 2304;
	w->pkts_out++;
	tcp_input(&w->tcp, &in);
}

static unsigned usual_options(const struct peer *p, uint8_t which, uint8_t out[TCP_OPT_BYTES])
{
	struct tcp_opt opt = {
		.flags = which & 15, .mss = 1460, .scale = 3, .ts_val = 1000, .ts_ecr = p->ts};
	return tcp_opt_write(&opt, out);
}

/* SACK blocks near what the engine has sent. */
static unsigned report_options(
	struct world *w, const struct peer *p, uint8_t kind, uint8_t out[TCP_OPT_BYTES])
{
	struct tcp_opt opt = {
		.flags = (kind & TCP_OPT_TS) | TCP_OPT_SACK, .ts_val = 1000, .ts_ecr = p->ts};
	opt.sack_count = (uint8_t)(1 + (kind & 3));
	for (unsigned i = 0; i < opt.sack_count; i++) {
		opt.sack[i].start = p->engine_nxt - word(w);
		opt.sack[i].end = opt.sack[i].start + word(w);
	}
	return tcp_opt_write(&opt, out);
}

/* A segment with everything chosen by the input, near where it counts. */
static void step_segment(struct world *w, struct peer *p)
{
	uint8_t opts[TCP_OPT_BYTES];
	uint8_t flags = byte(w) & 0x3f;
	uint8_t kind = byte(w);
	uint32_t seq = p->engine_ack + (uint32_t)(int16_t)word(w);
	uint32_t ack = p->engine_nxt + (uint32_t)(int16_t)word(w);
	uint16_t wnd = word(w);
	uint32_t len = word(w) % PAYLOAD_MAX;
	unsigned opts_len;
	if (kind & 0x80) {
		opts_len = (kind & 15u) % 11 * 4;
		for (unsigned i = 0; i < opts_len; i++)
			opts[i] = byte(w);
	} else if (kind & 0x40) {
		opts_len = report_options(w, p, kind, opts);
	} else {
		opts_len = usual_options(p, kind & TCP_OPT_TS, opts);
	}
	segment(w, p, flags, seq, ack, wnd, opts, opts_len, len);
}

/* The next bytes of the stream, or a FIN, as a good peer would send them. */
static void step_proper(struct world *w, struct peer *p)
{
	uint8_t opts[TCP_OPT_BYTES];
	uint8_t how = byte(w);
	uint32_t len = word(w) % 1461;
	unsigned opts_len = usual_options(p, how & TCP_OPT_TS, opts);
	uint8_t flags = (how & 1) != 0 ? TCP_ACK | TCP_FIN : TCP_ACK;
	segment(w, p, flags, p->engine_ack, p->engine_nxt, 65535, opts, opts_len, len);
}

static void step_handshake(struct world *w, struct peer *p)
{
	uint8_t opts[TCP_OPT_BYTES];
	uint8_t which = byte(w);
	uint32_t isn = (uint32_t)word(w) << 16;
	p->engine_port = PORT;
	unsigned opts_len = usual_options(p, which, opts);
	segment(w, p, TCP_SYN, isn, 0, 65535, opts, opts_len, 0);
	tcp_run(&w->tcp);
	opts_len = usual_options(p, which & TCP_OPT_TS, opts);
	segment(w, p, TCP_ACK, isn + 1, p->engine_nxt, 65535, opts, opts_len, 0);
}

static void step_connect(struct world *w, struct peer *p)
{
	struct addr local = {.port = 0}, remote = {.port = p->port};
	uint8_t opts[TCP_OPT_BYTES];
	uint8_t which = byte(w);
	memcpy(local.ip, engine_ip, 16);
	memcpy(remote.ip, peer_ip, 16);
	if (p->conn != NULL)
		return;
	p->conn = tcp_connect(&w->tcp, &local, &remote, NULL);
	if (p->conn == NULL || (which & 0x40) != 0)
		return;
	unsigned opts_len = usual_options(p, which, opts);
	segment(w, p, TCP_SYN | TCP_ACK, 5000, p->engine_nxt, 65535, opts, opts_len, 0);
}

static void step_user(struct world *w, struct peer *p)
{
	uint8_t what = byte(w);
	uint32_t len = word(w) % PAYLOAD_MAX;
	struct tcp_conn *c = p->conn;
	if (c == NULL)
		return;
	switch (what % 7) {
	case 0:
		(void)!tcp_send_copy(c, payload, len);
		break;
	case 1:
		w->refs_out++;
		if (!tcp_send_ref(c, payload, len, on_release, w))
			w->refs_out--;
		break;
	case 2:
		tcp_consume(c, len < tcp_unread(c) ? len : tcp_unread(c));
		break;
	case 3:
		tcp_shutdown(c);
		break;
	case 4:
		tcp_close(c);
		break;
	case 5:
		tcp_abort(c);
		break;
	case 6:
		tcp_flush(c);
		break;
	}
}

/* Mostly short steps: a long one costs a tick of the wheel for each of its milliseconds. */
static void step_clock(struct world *w)
{
	uint16_t ms = word(w);
	w->now_ns += (uint64_t)(ms & 0x8000 ? ms : ms & 0x3ff) * NS_PER_MS;
	tcp_begin(&w->tcp, w->now_ns);
	wheel_advance(&w->wheel, w->now_ns);
}

static void step(struct world *w)
{
	uint8_t op = byte(w);
	struct peer *p = &w->peers[(op >> 4) % PEERS];
	switch (op & 7) {
	case 0:
		step_segment(w, p);
		break;
	case 1:
	case 2:
		step_proper(w, p);
		break;
	case 3:
		step_handshake(w, p);
		break;
	case 4:
		step_connect(w, p);
		break;
	case 5:
		step_user(w, p);
		break;
	case 6:
		step_clock(w);
		break;
	case 7:
		if (p->conn != NULL)
			tcp_path_mtu(&w->tcp, tcp_key(p->conn), p->engine_nxt - word(w), word(w));
		break;
	}
	if ((op & 8) == 0)
		tcp_run(&w->tcp);
}

static void world_init(struct world *w, uint8_t how)
{
	struct tcp_conf conf;
	memset(w, 0, sizeof(*w));
	w->now_ns = 1000 * NS_PER_S;
	tcp_conf_default(&conf, 4);
	conf.ops = &ops;
	conf.ctx = w;
	conf.wheel = &w->wheel;
	conf.now_ns = w->now_ns;
	conf.segs_max = how & 1 ? 4 : 128;
	conf.pkts_max = how & 2 ? 8 : 128;
	conf.bufs_max = 32;
	conf.blocks_max = how & 4 ? 2 : 32;
	conf.rx_budget = how & 8 ? 6 * 2304 : 1 << 20;
	conf.cookies_always = (how & 16) != 0;
	conf.no_sack = (how & 32) != 0;
	conf.cc = how & 64 ? TCP_CC_NEWRENO : TCP_CC_CUBIC;
	w->reads = (how & 128) == 0;
	wheel_init(&w->wheel, w->now_ns);
	CHECK(tcp_init(&w->tcp, &conf) == 0);
	struct addr local = {.port = PORT};
	CHECK(tcp_listen(&w->tcp, &local, how & 16 ? 1 : 16, NULL) == 0);
	for (unsigned i = 0; i < PEERS; i++) {
		w->peers[i].port = (uint16_t)(1000 + i);
		w->peers[i].engine_port = PORT;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct world *w = malloc(sizeof(*w));
	if (size == 0 || w == NULL) {
		free(w);
		return 0;
	}
	world_init(w, data[0]);
	w->data = data + 1;
	w->size = size - 1;
	for (unsigned i = 0; i < STEPS_MAX && w->size != 0; i++) {
		step(w);
		if (w->tcp.ready_first == NULL)
			CHECK(tcp_check_engine(&w->tcp) == NULL);
	}
	tcp_run(&w->tcp);
	CHECK(tcp_check_engine(&w->tcp) == NULL);
	/* left alone, every connection that was not kept by its user ends; none waits for nothing */
	tcp_fini(&w->tcp);
	CHECK(w->pkts_out == 0 && w->refs_out == 0 && w->admitted == 0 && w->wheel.armed == 0);
	free(w);
	return 0;
}
