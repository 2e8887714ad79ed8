/* Handshakes: what is offered and agreed, backlog, cookies, caps, retries. */
#include <stdlib.h>
#include <string.h>

#include "dataplane/net/dpdk/tcp_wnd.h"
#include "tests/unit/dataplane/net/dpdk/tcp_rig.h"

enum { ALL = TCP_OPT_MSS | TCP_OPT_SCALE | TCP_OPT_TS | TCP_OPT_SACK_OK };

static void with_all(struct tcp_conf *conf)
{
	conf->no_ts = false;
}

static void syn_from(struct rig *r, uint16_t port, const struct tcp_opt *opt)
{
	struct rig_seg *seg = calloc(1, sizeof(*seg));
	MUST(seg != NULL);
	seg->flags = TCP_SYN;
	seg->opt = *opt;
	r->key.remote_port = port;
	rig_in_seg(r, seg);
	free(seg);
}

/* A SYN-ACK offers exactly what the SYN offered and we do not refuse. */
static void test_agree(void)
{
	for (unsigned offered = 0; offered < 16; offered++) {
		struct rig *r = rig_new(with_all);
		struct tcp_opt opt = rig_opt((uint8_t)offered);
		syn_from(r, 1000, &opt);
		CU_ASSERT_EQUAL(r->out_count, 1);
		CU_ASSERT_EQUAL(r->out[0].opt.flags, offered | TCP_OPT_MSS);
		CU_ASSERT_EQUAL(r->out[0].opt.mss, 1460);
		if (offered & TCP_OPT_TS)
			CU_ASSERT_EQUAL(r->out[0].opt.ts_ecr, 1);
		struct tcp_conn *c = tcp_conn_find(&r->tcp, &r->key);
		CU_ASSERT_EQUAL(c->mss, (offered & TCP_OPT_MSS) != 0 ? 1460 : 536);
		CU_ASSERT_EQUAL(c->snd_scale, (offered & TCP_OPT_SCALE) != 0 ? 7 : 0);
		rig_free(r);
	}
}

static void refuse_all(struct tcp_conf *conf)
{
	conf->no_ts = conf->no_sack = conf->no_scale = true;
}

static void test_refuse(void)
{
	struct rig *r = rig_new(refuse_all);
	struct tcp_opt opt = rig_opt(ALL);
	syn_from(r, 1000, &opt);
	CU_ASSERT_EQUAL(r->out[0].opt.flags, TCP_OPT_MSS);
	rig_free(r);
	/* nor do we offer it */
	r = rig_new(refuse_all);
	rig_to_state(r, TCP_SYN_SENT);
	CU_ASSERT_EQUAL(r->out[0].flags, TCP_SYN);
	CU_ASSERT_EQUAL(r->out[0].opt.flags, TCP_OPT_MSS);
	rig_free(r);
}

/* The peer's MSS at and around our floor and our ceiling. */
static void test_mss(void)
{
	static const uint16_t rows[][2] = {{0, LIMIT_TCP_MSS_MIN},
		{LIMIT_TCP_MSS_MIN - 1, LIMIT_TCP_MSS_MIN}, {LIMIT_TCP_MSS_MIN, LIMIT_TCP_MSS_MIN},
		{LIMIT_TCP_MSS_MIN + 1, LIMIT_TCP_MSS_MIN + 1}, {1459, 1459}, {1460, 1460},
		{1461, 1460}, {65535, 1460}};
	for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
		struct rig *r = rig_new(NULL);
		struct tcp_opt opt = {.flags = TCP_OPT_MSS, .mss = rows[i][0]};
		syn_from(r, 1000, &opt);
		CU_ASSERT_EQUAL(tcp_conn_find(&r->tcp, &r->key)->mss, rows[i][1]);
		rig_free(r);
	}
}

/* The window of a SYN is not scaled; that of what follows is. */
static void test_scale(void)
{
	struct rig *r = rig_new(with_all);
	rig_to_state(r, TCP_SYN_SENT);
	struct rig_seg *seg = calloc(1, sizeof(*seg));
	MUST(seg != NULL);
	*seg = (struct rig_seg){
		.flags = TCP_SYN | TCP_ACK, .ack = 1, .wnd = 1001, .opt = rig_opt(ALL)};
	rig_in_seg(r, seg);
	CU_ASSERT_EQUAL(r->conn->snd_wnd, 1000);
	*seg = (struct rig_seg){
		.flags = TCP_ACK, .seq = 1, .ack = 1, .wnd = 1001, .opt = rig_opt(TCP_OPT_TS)};
	rig_in_seg(r, seg);
	CU_ASSERT_EQUAL(r->conn->snd_wnd, 1000u << 7);
	CU_ASSERT_EQUAL(r->out[0].wnd, UINT16_MAX >> TCP_WND_SCALE);
	free(seg);
	rig_free(r);
}

static void syn_rto(struct rig *r, unsigned tries)
{
	unsigned gap_ms = LIMIT_TCP_RTO_FIRST_MS;
	for (unsigned i = 1; i < tries; i++) {
		CU_ASSERT_EQUAL(r->out_count, 0);
		rig_wait_ms(r, gap_ms + 1);
		CU_ASSERT_EQUAL(r->out_count, 1);
		rig_clear(r);
		rig_wait_ms(r, gap_ms - 1);
		gap_ms *= 2;
	}
	rig_wait_ms(r, gap_ms * 2);
	rig_check(r);
}

static void test_retries(void)
{
	struct rig *r = rig_new(NULL);
	rig_to_state(r, TCP_SYN_SENT);
	syn_rto(r, LIMIT_TCP_SYN_TRIES);
	CU_ASSERT_EQUAL(r->closed, 1);
	CU_ASSERT_EQUAL(r->end, TCP_END_TIMEOUT);
	rig_free(r);
	r = rig_new(NULL);
	rig_to_state(r, TCP_SYN_RCVD);
	syn_rto(r, LIMIT_TCP_SYNACK_TRIES);
	/* nobody was told of its beginning, so nobody is told of its end */
	CU_ASSERT_EQUAL(r->opened + r->closed, 0);
	rig_free(r);
}

/* backlog of 4096, and cookies from there on. */
static void big(struct tcp_conf *conf)
{
	conf->conns_max = 8192;
	conf->no_ts = false;
}

static void test_backlog(void)
{
	struct rig *r = rig_new(big);
	struct tcp_opt opt = rig_opt(ALL);
	for (unsigned i = 0; i < LIMIT_TCP_BACKLOG; i++) {
		r->out_count = 0;
		r->key.remote_ip[13] = (uint8_t)(i >> 8);
		syn_from(r, (uint16_t)(1024 + i), &opt);
	}
	CU_ASSERT_EQUAL(r->tcp.listeners[0].half_open, LIMIT_TCP_BACKLOG);
	CU_ASSERT_EQUAL(r->tcp.counts[TCP_COUNT_COOKIES_OUT], 0);
	syn_from(r, 60000, &opt);
	CU_ASSERT_EQUAL(r->tcp.counts[TCP_COUNT_COOKIES_OUT], 1);
	CU_ASSERT_EQUAL(r->tcp.conns.in_use, LIMIT_TCP_BACKLOG);
	rig_free(r);
}

static void always_cookies(struct tcp_conf *conf)
{
	conf->no_ts = false;
	conf->cookies_always = true;
}

static void cookie_open(struct rig *r, uint8_t offered, uint32_t ack_error, uint32_t len)
{
	struct tcp_opt opt = rig_opt(offered);
	struct rig_seg *seg = calloc(1, sizeof(*seg));
	MUST(seg != NULL);
	syn_from(r, 1000, &opt);
	CU_ASSERT_EQUAL(r->tcp.conns.in_use, 0);
	CU_ASSERT_EQUAL(r->out[0].flags, TCP_SYN | TCP_ACK);
	*seg = (struct rig_seg){.flags = TCP_ACK, .seq = 1, .ack = 1 + ack_error, .len = len};
	if (offered & TCP_OPT_TS) {
		seg->opt = rig_opt(TCP_OPT_TS);
		seg->opt.ts_ecr = r->out[0].opt.ts_val;
	}
	rig_clear(r);
	rig_in_seg(r, seg);
	free(seg);
}

/* No memory is spent on the SYN; the acknowledgement brings back what was agreed. */
static void test_cookie(void)
{
	struct rig *r = rig_new(always_cookies);
	cookie_open(r, ALL, 0, 10);
	CU_ASSERT_EQUAL(r->opened, 1);
	CU_ASSERT_EQUAL(r->bytes_read, 10);
	struct tcp_conn *c = r->conn;
	CU_ASSERT_EQUAL(c->flags & (TCP_F_TS | TCP_F_SACK | TCP_F_SCALE),
		TCP_F_TS | TCP_F_SACK | TCP_F_SCALE);
	CU_ASSERT_EQUAL(c->snd_scale, 7);
	CU_ASSERT_EQUAL(c->mss, 1460);
	rig_free(r);
	/* without timestamps there is no place to keep the rest */
	r = rig_new(always_cookies);
	cookie_open(r, ALL & ~TCP_OPT_TS, 0, 0);
	CU_ASSERT_EQUAL(r->opened, 1);
	CU_ASSERT_EQUAL(r->conn->flags & (TCP_F_TS | TCP_F_SACK | TCP_F_SCALE), 0);
	rig_free(r);
}

/* A wrong cookie opens nothing and is not answered: it may be a segment that has overtaken the right one. */
static void test_cookie_wrong(void)
{
	struct rig *r = rig_new(always_cookies);
	cookie_open(r, ALL, 1, 0);
	CU_ASSERT_EQUAL(r->tcp.conns.in_use, 0);
	CU_ASSERT_EQUAL(r->tcp.drops[REASON_TCP_COOKIE], 1);
	CU_ASSERT_EQUAL(r->out_count, 0);
	rig_free(r);
}

/* the cap of connections an address may have is asked at the SYN. */
static void test_admit(void)
{
	struct rig *r = rig_new(NULL);
	struct tcp_opt opt = rig_opt(TCP_OPT_MSS);
	r->admit_max = 2;
	syn_from(r, 1000, &opt);
	syn_from(r, 1001, &opt);
	CU_ASSERT_EQUAL(r->admitted, 2);
	rig_clear(r);
	syn_from(r, 1002, &opt);
	CU_ASSERT_EQUAL(r->out_count, 1);
	CU_ASSERT_EQUAL(r->out[0].flags, TCP_RST | TCP_ACK);
	CU_ASSERT_EQUAL(r->tcp.drops[REASON_IP_CAP], 1);
	CU_ASSERT_EQUAL(r->tcp.conns.in_use, 2);
	/* a place is free again when a connection ends */
	r->key.remote_port = 1000;
	rig_in(r, TCP_RST, 1, 0, 0);
	CU_ASSERT_EQUAL(r->admitted, 1);
	syn_from(r, 1003, &opt);
	CU_ASSERT_EQUAL(r->admitted, 2);
	rig_free(r);
}

static void few(struct tcp_conf *conf)
{
	conf->conns_max = 2;
}

static void test_conn_cap(void)
{
	struct rig *r = rig_new(few);
	struct tcp_opt opt = rig_opt(TCP_OPT_MSS);
	for (uint16_t i = 0; i < 3; i++)
		syn_from(r, 1000 + i, &opt);
	CU_ASSERT_EQUAL(r->tcp.conns.in_use, 2);
	CU_ASSERT_EQUAL(r->tcp.drops[REASON_CONN_CAP], 1);
	CU_ASSERT_EQUAL(r->admitted, 2);
	rig_free(r);
}

static void test_refused_open(void)
{
	struct rig *r = rig_new(NULL);
	r->refuse_open = 1;
	rig_in(r, TCP_SYN, 0, 0, 0);
	rig_clear(r);
	rig_in(r, TCP_ACK, 1, 1, 0);
	CU_ASSERT_TRUE(rig_is(r, 0, TCP_RST | TCP_ACK, 1, 1, 0));
	CU_ASSERT_EQUAL(r->closed, 0);
	rig_check(r);
	rig_free(r);
}

static void test_connect_refused(void)
{
	struct rig *r = rig_new(NULL);
	rig_to_state(r, TCP_SYN_SENT);
	rig_in(r, TCP_RST | TCP_ACK, 0, 1, 0);
	CU_ASSERT_EQUAL(r->end, TCP_END_REFUSED);
	rig_check(r);
	rig_free(r);
}

static const struct unit_case cases[] = {
	{"agree", test_agree},
	{"refuse", test_refuse},
	{"mss", test_mss},
	{"scale", test_scale},
	{"retries", test_retries},
	{"backlog", test_backlog},
	{"cookie", test_cookie},
	{"cookie_wrong", test_cookie_wrong},
	{"admit", test_admit},
	{"conn_cap", test_conn_cap},
	{"refused_open", test_refused_open},
	{"connect_refused", test_connect_refused},
};

UNIT_MAIN("net.dpdk.tcp_open", cases)
