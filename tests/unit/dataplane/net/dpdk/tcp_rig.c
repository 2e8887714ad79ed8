#include "tests/unit/dataplane/net/dpdk/tcp_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dataplane/net/dpdk/tcp_check.h"

static void on_emit(void *ctx, const struct tcp_seg *lend_seg)
{
	struct rig *r = ctx;
	MUST(r->out_count < RIG_OUT_MAX);
	struct rig_seg *out = &r->out[r->out_count++];
	out->flags = lend_seg->flags;
	out->seq = lend_seg->seq;
	out->ack = lend_seg->ack;
	out->len = lend_seg->len;
	out->wnd = lend_seg->wnd;
	MUST(tcp_opt_parse(&out->opt, (struct span){lend_seg->opts, lend_seg->opts_len}));
	uint32_t at = 0;
	for (unsigned i = 0; i < lend_seg->piece_count; i++) {
		const struct tcp_piece *piece = &lend_seg->pieces[i];
		MUST(at + piece->len <= RIG_PAYLOAD);
		memcpy(out->data + at, piece->data, piece->len);
		at += piece->len;
		if (r->holds && r->held_count < ARRAY_LEN(r->held)) {
			tcp_buf_hold(piece->buf);
			r->held[r->held_count++] = piece->buf;
		}
	}
	MUST(at == lend_seg->len);
	if (out->flags & TCP_SYN)
		r->iss = out->seq;
}

static void on_pkt_release(void *ctx, void *take_pkt)
{
	struct rig *r = ctx;
	r->pkts_held--;
	free(take_pkt);
}

static bool on_open(void *ctx, struct tcp_conn *c)
{
	struct rig *r = ctx;
	r->opened++;
	if (r->refuse_open)
		return false;
	r->conn = c;
	return true;
}

static void on_readable(void *ctx, struct tcp_conn *c)
{
	struct rig *r = ctx;
	r->readable++;
	if (r->keeps_unread)
		return;
	r->bytes_read += tcp_unread(c);
	tcp_consume(c, tcp_unread(c));
}

static void on_writable(void *ctx, struct tcp_conn *c)
{
	struct rig *r = ctx;
	(void)c;
	r->writable++;
}

static void on_closed(void *ctx, struct tcp_conn *c, enum tcp_end end)
{
	struct rig *r = ctx;
	if (r->conn == c)
		r->conn = NULL;
	r->closed++;
	r->end = end;
}

static bool on_admit(void *ctx, const uint8_t ip[16])
{
	struct rig *r = ctx;
	(void)ip;
	if (r->admitted >= r->admit_max)
		return false;
	r->admitted++;
	return true;
}

static void on_retire(void *ctx, const uint8_t ip[16])
{
	struct rig *r = ctx;
	(void)ip;
	r->admitted--;
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

static struct addr address(uint8_t last, uint16_t port)
{
	struct addr a = {.port = port};
	a.ip[10] = a.ip[11] = 0xff;
	a.ip[12] = 10;
	a.ip[15] = last;
	return a;
}

struct rig *rig_new(void (*change)(struct tcp_conf *conf))
{
	struct rig *r = calloc(1, sizeof(*r));
	MUST(r != NULL);
	r->now_ns = 1000 * NS_PER_S;
	r->irs = 0xfffffff0; /* the peer's numbers wrap early */
	r->admit_max = UINT32_MAX;
	tcp_conf_default(&r->conf, 64);
	r->conf.no_ts = true;
	r->conf.keepalive_ms = 0;
	if (change != NULL)
		change(&r->conf);
	r->conf.ops = &ops;
	r->conf.ctx = r;
	r->conf.wheel = &r->wheel;
	r->conf.now_ns = r->now_ns;
	memset(r->conf.secret, 7, sizeof(r->conf.secret));
	wheel_init(&r->wheel, r->now_ns);
	MUST(tcp_init(&r->tcp, &r->conf) == 0);
	struct addr local = address(1, RIG_LISTEN_PORT);
	MUST(tcp_listen(&r->tcp, &local, LIMIT_TCP_BACKLOG, NULL) == 0);
	struct addr peer = address(2, RIG_PEER_PORT);
	memcpy(r->key.local_ip, local.ip, 16);
	memcpy(r->key.remote_ip, peer.ip, 16);
	r->key.local_port = RIG_LISTEN_PORT;
	r->key.remote_port = RIG_PEER_PORT;
	return r;
}

void rig_free(struct rig *r)
{
	for (unsigned i = 0; i < r->held_count; i++)
		tcp_buf_drop(&r->tcp, r->held[i]);
	tcp_fini(&r->tcp);
	CU_ASSERT_EQUAL(r->pkts_held, 0);
	CU_ASSERT_EQUAL(r->admitted, 0);
	free(r);
}

void rig_feed(struct rig *r, const struct rig_seg *seg)
{
	uint8_t *data = malloc(seg->len + 1);
	MUST(data != NULL);
	memcpy(data, seg->data, seg->len);
	struct tcp_in in = {.key = r->key,
		.seq = r->irs + seg->seq,
		.ack = (seg->flags & TCP_ACK) != 0 ? r->iss + seg->ack : 0,
		.wnd = seg->wnd != 0 ? (uint16_t)(seg->wnd - 1) : 65535,
		.flags = seg->flags,
		.opt = seg->opt,
		.data = data,
		.len = seg->len,
		.pkt = data,
		.pkt_cost = RIG_PKT_COST};
	if (r->peer_ts != 0 && (in.opt.flags & TCP_OPT_TS) == 0) {
		in.opt.flags |= TCP_OPT_TS;
		in.opt.ts_val = r->peer_ts;
	}
	r->pkts_held++;
	tcp_begin(&r->tcp, r->now_ns);
	tcp_input(&r->tcp, &in);
}

void rig_run(struct rig *r)
{
	tcp_begin(&r->tcp, r->now_ns);
	tcp_run(&r->tcp);
	const char *wrong = tcp_check_engine(&r->tcp);
	if (wrong != NULL)
		printf("  invariant: %s\n", wrong);
	CU_ASSERT_PTR_NULL(wrong);
}

void rig_in_seg(struct rig *r, const struct rig_seg *seg)
{
	rig_feed(r, seg);
	rig_run(r);
}

void rig_in(struct rig *r, uint8_t flags, uint32_t seq, uint32_t ack, uint32_t len)
{
	struct rig_seg *seg = calloc(1, sizeof(*seg));
	MUST(seg != NULL && len <= RIG_PAYLOAD);
	seg->flags = flags;
	seg->seq = seq;
	seg->ack = ack;
	seg->len = len;
	for (uint32_t i = 0; i < len; i++)
		seg->data[i] = (uint8_t)(seq + i);
	rig_in_seg(r, seg);
	free(seg);
}

void rig_wait_ms(struct rig *r, unsigned ms)
{
	for (unsigned i = 0; i < ms; i++) {
		r->now_ns += NS_PER_MS;
		wheel_advance(&r->wheel, r->now_ns);
		if (r->tcp.ready_first != NULL)
			rig_run(r);
	}
}

void rig_clear(struct rig *r)
{
	r->out_count = 0;
}

struct tcp_opt rig_opt(uint8_t flags)
{
	return (struct tcp_opt){.flags = flags, .mss = 1460, .scale = 7, .ts_val = 1};
}

static void send_opt(
	struct rig *r, uint8_t flags, uint32_t seq, uint32_t ack, const struct tcp_opt *opt)
{
	struct rig_seg *seg = calloc(1, sizeof(*seg));
	MUST(seg != NULL);
	*seg = (struct rig_seg){.flags = flags, .seq = seq, .ack = ack};
	if (opt != NULL)
		seg->opt = *opt;
	rig_in_seg(r, seg);
	free(seg);
}

void rig_open(struct rig *r, const struct tcp_opt *peer_opt)
{
	send_opt(r, TCP_SYN, 0, 0, peer_opt);
	send_opt(r, TCP_ACK, 1, 1, NULL);
	CU_ASSERT_EQUAL(r->opened, 1);
	rig_clear(r);
}

static void connect_out(struct rig *r)
{
	struct addr local = address(1, 0), remote = address(2, RIG_PEER_PORT);
	r->conn = tcp_connect(&r->tcp, &local, &remote, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(r->conn);
	r->key = *tcp_key(r->conn);
}

static void to_established(struct rig *r)
{
	struct tcp_opt opt = rig_opt(TCP_OPT_MSS | TCP_OPT_SACK_OK | TCP_OPT_SCALE);
	rig_open(r, &opt);
}

static void shut(struct rig *r)
{
	tcp_shutdown(r->conn);
	rig_run(r);
}

void rig_to_state(struct rig *r, enum tcp_state state)
{
	switch (state) {
	case TCP_CLOSED:
		r->key.local_port = 81;
		break;
	case TCP_LISTEN:
	case TCP_STATE_COUNT:
		break;
	case TCP_SYN_SENT:
		connect_out(r);
		break;
	case TCP_SYN_RCVD:
		rig_in(r, TCP_SYN, 0, 0, 0);
		break;
	case TCP_ESTABLISHED:
		to_established(r);
		break;
	case TCP_FIN_WAIT_1:
		to_established(r);
		shut(r);
		break;
	case TCP_FIN_WAIT_2:
		to_established(r);
		shut(r);
		rig_in(r, TCP_ACK, 1, 2, 0);
		break;
	case TCP_CLOSE_WAIT:
		to_established(r);
		rig_in(r, TCP_FIN | TCP_ACK, 1, 1, 0);
		break;
	case TCP_CLOSING:
		to_established(r);
		shut(r);
		rig_in(r, TCP_FIN | TCP_ACK, 1, 1, 0);
		break;
	case TCP_LAST_ACK:
		to_established(r);
		rig_in(r, TCP_FIN | TCP_ACK, 1, 1, 0);
		shut(r);
		break;
	case TCP_TIME_WAIT:
		to_established(r);
		shut(r);
		rig_in(r, TCP_FIN | TCP_ACK, 1, 2, 0);
		break;
	}
	rig_clear(r);
}

bool rig_is(
	const struct rig *r, unsigned i, uint8_t flags, uint32_t seq, uint32_t ack, uint32_t len)
{
	if (i >= r->out_count)
		return false;
	const struct rig_seg *s = &r->out[i];
	uint32_t ack_is = (s->flags & TCP_ACK) != 0 ? s->ack - r->irs : 0;
	if ((s->flags & ~TCP_PSH) == flags && s->seq - r->iss == seq && ack_is == ack &&
		s->len == len)
		return true;
	printf("  segment %u is flags %x seq %u ack %u len %u\n", i, s->flags, s->seq - r->iss,
		ack_is, s->len);
	return false;
}

void rig_check(struct rig *r)
{
	CU_ASSERT_EQUAL(r->tcp.conns.in_use, 0);
	CU_ASSERT_EQUAL(r->tcp.segs.in_use, 0);
	CU_ASSERT_EQUAL(r->tcp.bufs.in_use, 0);
	CU_ASSERT_EQUAL(r->tcp.blocks.in_use, 0);
	CU_ASSERT_EQUAL(r->tcp.pkts.in_use, 0);
	CU_ASSERT_EQUAL(r->wheel.armed, 0);
}
