/* Segment arrival, one table per state: a segment goes in, these come out, this is the state afterwards (RFC 9293
 * 3.10.7, RFC 5961, RFC 1337). Numbers are relative to the SYNs: the peer's first byte is 1, ours is 1. */
#include "tests/unit/dataplane/net/dpdk/tcp_rig.h"

#include <stdio.h>
#include <stdlib.h>

enum { NO_REASON = -1, FAR = 1 << 20 };

struct wire {
	uint8_t flags;
	uint32_t seq, ack, len;
};

struct row {
	const char *what;
	struct wire in;
	unsigned out_count;
	struct wire out;
	enum tcp_state then;
	int reason; /* that was counted, or NO_REASON */
};

#define S  TCP_SYN
#define A  TCP_ACK
#define F  TCP_FIN
#define R  TCP_RST
#define SA (TCP_SYN | TCP_ACK)
#define FA (TCP_FIN | TCP_ACK)
#define RA (TCP_RST | TCP_ACK)

static enum tcp_state state_now(struct rig *r, enum tcp_state start)
{
	struct tcp_conn *c = tcp_conn_find(&r->tcp, &r->key);
	if (c != NULL)
		return (enum tcp_state)c->state;
	return start == TCP_LISTEN ? TCP_LISTEN : TCP_CLOSED;
}

static void run_row(const struct row *row, enum tcp_state start)
{
	struct rig *r = rig_new(NULL);
	rig_to_state(r, start);
	uint64_t before = row->reason != NO_REASON ? r->tcp.drops[row->reason] : 0;
	uint32_t iss = r->iss;
	rig_in(r, row->in.flags, row->in.seq, row->in.ack, row->in.len);
	bool is_ok = r->out_count == row->out_count;
	/* a reset that answers no connection is numbered by the segment it answers */
	if (row->out_count != 0 && start != TCP_LISTEN)
		r->iss = iss;
	if (is_ok && row->out_count != 0)
		is_ok = rig_is(r, 0, row->out.flags, row->out.seq, row->out.ack, row->out.len);
	if (row->reason != NO_REASON && r->tcp.drops[row->reason] != before + 1)
		is_ok = false;
	if (state_now(r, start) != row->then)
		is_ok = false;
	if (!is_ok)
		printf("  %s: %s: %u out, state %s\n", tcp_state_name(start), row->what,
			r->out_count, tcp_state_name(state_now(r, start)));
	CU_ASSERT_TRUE(is_ok);
	rig_free(r);
}

static void run_rows(const struct row *rows, unsigned count, enum tcp_state start)
{
	for (unsigned i = 0; i < count; i++)
		run_row(&rows[i], start);
}

#define RUN(rows, state) run_rows(rows, ARRAY_LEN(rows), state)

static void test_closed(void)
{
	static const struct row rows[] = {
		{"RST is never answered", {R, 0, 0, 0}, 0, {0}, TCP_CLOSED, REASON_TCP_STATE},
		{"SYN is refused", {S, 0, 0, 0}, 1, {RA, 0, 1, 0}, TCP_CLOSED, REASON_TCP_PORT},
		{"data without ACK is refused, its length counts", {F, 5, 0, 10}, 1, {RA, 0, 16, 0},
			TCP_CLOSED, REASON_TCP_PORT},
		{"ACK is refused with its own number", {A, 5, 77, 0}, 1, {R, 77, 0, 0}, TCP_CLOSED,
			REASON_TCP_PORT},
	};
	RUN(rows, TCP_CLOSED);
}

static void test_listen(void)
{
	static const struct row rows[] = {
		{"SYN opens", {S, 0, 0, 0}, 1, {SA, 0, 1, 0}, TCP_SYN_RCVD, NO_REASON},
		{"data in a SYN is left for later", {S, 0, 0, 100}, 1, {SA, 0, 1, 0}, TCP_SYN_RCVD,
			NO_REASON},
		{"RST is nothing", {R, 0, 0, 0}, 0, {0}, TCP_LISTEN, REASON_TCP_STATE},
		{"ACK of nothing is refused", {A, 1, 1, 0}, 1, {R, 1, 0, 0}, TCP_LISTEN,
			REASON_TCP_PORT},
		{"SYN-ACK is refused", {SA, 0, 9, 0}, 1, {R, 9, 0, 0}, TCP_LISTEN, REASON_TCP_PORT},
		{"SYN with FIN is a scan", {S | F, 0, 0, 0}, 0, {0}, TCP_LISTEN, REASON_TCP_STATE},
		{"no flags at all", {0, 0, 0, 0}, 0, {0}, TCP_LISTEN, REASON_TCP_STATE},
	};
	RUN(rows, TCP_LISTEN);
}

static void test_syn_sent(void)
{
	static const struct row rows[] = {
		{"SYN-ACK establishes", {SA, 0, 1, 0}, 1, {A, 1, 1, 0}, TCP_ESTABLISHED, NO_REASON},
		{"SYN-ACK of something else is reset", {SA, 0, 2, 0}, 1, {R, 2, 0, 0}, TCP_SYN_SENT,
			REASON_TCP_ACK},
		{"SYN-ACK of our SYN before it", {SA, 0, 0, 0}, 1, {R, 0, 0, 0}, TCP_SYN_SENT,
			REASON_TCP_ACK},
		{"SYN: both open at once", {S, 0, 0, 0}, 1, {SA, 0, 1, 0}, TCP_SYN_RCVD, NO_REASON},
		{"RST that acknowledges refuses", {RA, 0, 1, 0}, 0, {0}, TCP_CLOSED, NO_REASON},
		{"RST that acknowledges nothing is blind", {R, 0, 0, 0}, 0, {0}, TCP_SYN_SENT,
			REASON_TCP_STATE},
		{"RST that acknowledges something else", {RA, 0, 2, 0}, 0, {0}, TCP_SYN_SENT,
			REASON_TCP_STATE},
		{"ACK of an old connection is reset", {A, 5, 9, 0}, 1, {R, 9, 0, 0}, TCP_SYN_SENT,
			REASON_TCP_STATE},
		{"ACK without SYN is dropped", {A, 1, 1, 0}, 0, {0}, TCP_SYN_SENT,
			REASON_TCP_STATE},
		{"FIN alone is dropped", {F, 1, 0, 0}, 0, {0}, TCP_SYN_SENT, REASON_TCP_STATE},
	};
	RUN(rows, TCP_SYN_SENT);
}

static void test_syn_rcvd(void)
{
	static const struct row rows[] = {
		{"ACK establishes", {A, 1, 1, 0}, 0, {0}, TCP_ESTABLISHED, NO_REASON},
		{"ACK with data establishes and is acknowledged", {A, 1, 1, 10}, 1, {A, 1, 11, 0},
			TCP_ESTABLISHED, NO_REASON},
		{"ACK with FIN goes on to CLOSE_WAIT", {FA, 1, 1, 0}, 1, {A, 1, 2, 0},
			TCP_CLOSE_WAIT, NO_REASON},
		{"ACK of too much is reset", {A, 1, 2, 0}, 1, {R, 2, 0, 0}, TCP_SYN_RCVD,
			REASON_TCP_ACK},
		{"ACK of too little is reset", {A, 1, 0, 0}, 1, {R, 0, 0, 0}, TCP_SYN_RCVD,
			REASON_TCP_ACK},
		{"the same SYN again: SYN-ACK again", {S, 0, 0, 0}, 1, {SA, 0, 1, 0}, TCP_SYN_RCVD,
			NO_REASON},
		{"another SYN is challenged", {S, 50, 0, 0}, 1, {A, 1, 1, 0}, TCP_SYN_RCVD,
			NO_REASON},
		{"RST at rcv_nxt ends it", {R, 1, 0, 0}, 0, {0}, TCP_CLOSED, NO_REASON},
		{"RST in the window is challenged", {R, 2, 0, 0}, 1, {A, 1, 1, 0}, TCP_SYN_RCVD,
			REASON_TCP_WINDOW},
		{"RST outside the window is dropped", {R, FAR, 0, 0}, 0, {0}, TCP_SYN_RCVD,
			REASON_TCP_WINDOW},
		{"SYN-ACK of a simultaneous open", {SA, 0, 1, 0}, 1, {A, 1, 1, 0}, TCP_ESTABLISHED,
			NO_REASON},
	};
	RUN(rows, TCP_SYN_RCVD);
}

static void test_established(void)
{
	static const struct row rows[] = {
		{"data is acknowledged", {A, 1, 1, 10}, 1, {A, 1, 11, 0}, TCP_ESTABLISHED,
			NO_REASON},
		{"pure ACK is silent", {A, 1, 1, 0}, 0, {0}, TCP_ESTABLISHED, NO_REASON},
		{"data ahead: what is missing is told at once", {A, 5, 1, 10}, 1, {A, 1, 1, 0},
			TCP_ESTABLISHED, NO_REASON},
		{"old data is acknowledged again", {A, 0, 1, 1}, 1, {A, 1, 1, 0}, TCP_ESTABLISHED,
			REASON_TCP_WINDOW},
		{"data half old: the new half counts", {A, 0, 1, 11}, 1, {A, 1, 11, 0},
			TCP_ESTABLISHED, NO_REASON},
		{"keep-alive is answered", {A, 0, 1, 0}, 1, {A, 1, 1, 0}, TCP_ESTABLISHED,
			REASON_TCP_WINDOW},
		{"the last byte of the window", {A, 65535, 1, 1}, 1, {A, 1, 1, 0}, TCP_ESTABLISHED,
			NO_REASON},
		{"one past the window", {A, 65537, 1, 1}, 1, {A, 1, 1, 0}, TCP_ESTABLISHED,
			REASON_TCP_WINDOW},
		{"FIN", {FA, 1, 1, 0}, 1, {A, 1, 2, 0}, TCP_CLOSE_WAIT, NO_REASON},
		{"data and FIN", {FA, 1, 1, 10}, 1, {A, 1, 12, 0}, TCP_CLOSE_WAIT, NO_REASON},
		{"FIN ahead waits", {FA, 11, 1, 0}, 1, {A, 1, 1, 0}, TCP_ESTABLISHED, NO_REASON},
		{"ACK of the future is challenged", {A, 1, 2, 0}, 1, {A, 1, 1, 0}, TCP_ESTABLISHED,
			REASON_TCP_ACK},
		{"ACK older than any window is challenged", {A, 1, (uint32_t) - (9 << 20), 0}, 1,
			{A, 1, 1, 0}, TCP_ESTABLISHED, REASON_TCP_ACK},
		{"data with an impossible ACK is not taken", {A, 1, 2, 10}, 1, {A, 1, 1, 0},
			TCP_ESTABLISHED, REASON_TCP_ACK},
		{"RST at rcv_nxt", {R, 1, 0, 0}, 0, {0}, TCP_CLOSED, NO_REASON},
		{"RST with ACK at rcv_nxt", {RA, 1, 1, 0}, 0, {0}, TCP_CLOSED, NO_REASON},
		{"RST in the window is challenged", {R, 2, 0, 0}, 1, {A, 1, 1, 0}, TCP_ESTABLISHED,
			REASON_TCP_WINDOW},
		{"RST before the window is dropped", {R, 0, 0, 0}, 0, {0}, TCP_ESTABLISHED,
			REASON_TCP_WINDOW},
		{"RST behind the window is dropped", {R, FAR, 0, 0}, 0, {0}, TCP_ESTABLISHED,
			REASON_TCP_WINDOW},
		{"SYN is challenged", {S, 1, 0, 0}, 1, {A, 1, 1, 0}, TCP_ESTABLISHED,
			REASON_TCP_STATE},
		{"SYN anywhere is challenged", {S, FAR, 0, 0}, 1, {A, 1, 1, 0}, TCP_ESTABLISHED,
			REASON_TCP_STATE},
		{"SYN-ACK again: our ACK was lost", {SA, 0, 1, 0}, 1, {A, 1, 1, 0}, TCP_ESTABLISHED,
			REASON_TCP_STATE},
		{"no ACK: dropped", {F, 1, 0, 0}, 0, {0}, TCP_ESTABLISHED, REASON_TCP_STATE},
		{"urgent data is data", {A | TCP_URG, 1, 1, 10}, 1, {A, 1, 11, 0}, TCP_ESTABLISHED,
			NO_REASON},
	};
	RUN(rows, TCP_ESTABLISHED);
}

static void test_fin_wait_1(void)
{
	static const struct row rows[] = {
		{"our FIN is acknowledged", {A, 1, 2, 0}, 0, {0}, TCP_FIN_WAIT_2, NO_REASON},
		{"FIN of the peer: both close at once", {FA, 1, 1, 0}, 1, {A, 2, 2, 0}, TCP_CLOSING,
			NO_REASON},
		{"FIN that acknowledges ours", {FA, 1, 2, 0}, 1, {A, 2, 2, 0}, TCP_TIME_WAIT,
			NO_REASON},
		{"data still comes", {A, 1, 1, 10}, 1, {A, 2, 11, 0}, TCP_FIN_WAIT_1, NO_REASON},
		{"data and ACK of our FIN", {A, 1, 2, 10}, 1, {A, 2, 11, 0}, TCP_FIN_WAIT_2,
			NO_REASON},
		{"RST at rcv_nxt", {R, 1, 0, 0}, 0, {0}, TCP_CLOSED, NO_REASON},
		{"SYN is challenged", {S, 1, 0, 0}, 1, {A, 2, 1, 0}, TCP_FIN_WAIT_1,
			REASON_TCP_STATE},
	};
	RUN(rows, TCP_FIN_WAIT_1);
}

static void test_fin_wait_2(void)
{
	static const struct row rows[] = {
		{"data still comes", {A, 1, 2, 10}, 1, {A, 2, 11, 0}, TCP_FIN_WAIT_2, NO_REASON},
		{"FIN", {FA, 1, 2, 0}, 1, {A, 2, 2, 0}, TCP_TIME_WAIT, NO_REASON},
		{"data and FIN", {FA, 1, 2, 5}, 1, {A, 2, 7, 0}, TCP_TIME_WAIT, NO_REASON},
		{"RST at rcv_nxt", {R, 1, 0, 0}, 0, {0}, TCP_CLOSED, NO_REASON},
		{"SYN is challenged", {S, 1, 0, 0}, 1, {A, 2, 1, 0}, TCP_FIN_WAIT_2,
			REASON_TCP_STATE},
	};
	RUN(rows, TCP_FIN_WAIT_2);
}

static void test_close_wait(void)
{
	static const struct row rows[] = {
		{"FIN again is acknowledged again", {FA, 1, 1, 0}, 1, {A, 1, 2, 0}, TCP_CLOSE_WAIT,
			REASON_TCP_WINDOW},
		{"data behind the FIN is none", {A, 2, 1, 10}, 0, {0}, TCP_CLOSE_WAIT, NO_REASON},
		{"RST at rcv_nxt", {R, 2, 0, 0}, 0, {0}, TCP_CLOSED, NO_REASON},
		{"SYN is challenged", {S, 2, 0, 0}, 1, {A, 1, 2, 0}, TCP_CLOSE_WAIT,
			REASON_TCP_STATE},
	};
	RUN(rows, TCP_CLOSE_WAIT);
}

static void test_closing(void)
{
	static const struct row rows[] = {
		{"our FIN is acknowledged", {A, 2, 2, 0}, 0, {0}, TCP_TIME_WAIT, NO_REASON},
		{"FIN again is acknowledged again", {FA, 1, 1, 0}, 1, {A, 2, 2, 0}, TCP_CLOSING,
			REASON_TCP_WINDOW},
		{"RST at rcv_nxt", {R, 2, 0, 0}, 0, {0}, TCP_CLOSED, NO_REASON},
	};
	RUN(rows, TCP_CLOSING);
}

static void test_last_ack(void)
{
	static const struct row rows[] = {
		{"our FIN is acknowledged", {A, 2, 2, 0}, 0, {0}, TCP_CLOSED, NO_REASON},
		{"FIN again is acknowledged again", {FA, 1, 1, 0}, 1, {A, 2, 2, 0}, TCP_LAST_ACK,
			REASON_TCP_WINDOW},
		{"ACK of less keeps waiting", {A, 2, 1, 0}, 0, {0}, TCP_LAST_ACK, NO_REASON},
		{"RST at rcv_nxt", {R, 2, 0, 0}, 0, {0}, TCP_CLOSED, NO_REASON},
	};
	RUN(rows, TCP_LAST_ACK);
}

static void test_time_wait(void)
{
	static const struct row rows[] = {
		{"FIN again is acknowledged again", {FA, 1, 2, 0}, 1, {A, 2, 2, 0}, TCP_TIME_WAIT,
			NO_REASON},
		{"RST is ignored (RFC 1337)", {R, 2, 0, 0}, 0, {0}, TCP_TIME_WAIT,
			REASON_TCP_STATE},
		{"a SYN that is not newer is challenged", {S, 1, 0, 0}, 1, {A, 2, 2, 0},
			TCP_TIME_WAIT, REASON_TCP_STATE},
		{"the plain last ACK is nothing", {A, 2, 2, 0}, 0, {0}, TCP_TIME_WAIT,
			REASON_TCP_STATE},
	};
	RUN(rows, TCP_TIME_WAIT);
}

static void test_time_wait_reuse(void)
{
	struct rig *r = rig_new(NULL);
	rig_to_state(r, TCP_TIME_WAIT);
	uint32_t old_nxt = r->iss + 2;
	rig_in(r, TCP_SYN, 5000, 0, 0);
	CU_ASSERT_EQUAL(r->out_count, 1);
	CU_ASSERT_EQUAL(r->out[0].flags, TCP_SYN | TCP_ACK);
	CU_ASSERT_TRUE(tcp_seq_gt(r->out[0].seq, old_nxt));
	CU_ASSERT_EQUAL(r->tcp.counts[TCP_COUNT_RECYCLED], 1);
	rig_free(r);
}

/* RFC 5961 7: challenges are limited, whatever provokes them. */
static void test_challenge_limit(void)
{
	struct rig *r = rig_new(NULL);
	rig_to_state(r, TCP_ESTABLISHED);
	for (unsigned i = 0; i < 50; i++)
		rig_in(r, TCP_SYN, 1, 0, 0);
	CU_ASSERT_EQUAL(r->out_count, 1);
	rig_wait_ms(r, LIMIT_TCP_CHALLENGE_MS - 1);
	rig_in(r, TCP_RST, 2, 0, 0);
	CU_ASSERT_EQUAL(r->out_count, 1);
	rig_wait_ms(r, 1);
	rig_in(r, TCP_RST, 2, 0, 0);
	CU_ASSERT_EQUAL(r->out_count, 2);
	rig_free(r);
}

static void with_ts(struct tcp_conf *conf)
{
	conf->no_ts = false;
}

/* RFC 7323 5: an old timestamp is an old segment; one without is none of this connection. */
static void test_paws(void)
{
	struct rig *r = rig_new(with_ts);
	struct tcp_opt opt = rig_opt(TCP_OPT_MSS | TCP_OPT_TS);
	opt.ts_val = 100;
	r->peer_ts = 100;
	rig_open(r, &opt);
	rig_in(r, TCP_ACK, 1, 1, 10);
	CU_ASSERT_TRUE(rig_is(r, 0, TCP_ACK, 1, 11, 0));
	CU_ASSERT_EQUAL(r->out[0].opt.ts_ecr, 100);
	rig_clear(r);
	r->peer_ts = 99;
	rig_in(r, TCP_ACK, 11, 1, 10);
	CU_ASSERT_EQUAL(r->tcp.drops[REASON_TCP_PAWS], 1);
	CU_ASSERT_TRUE(rig_is(r, 0, TCP_ACK, 1, 11, 0));
	rig_clear(r);
	r->peer_ts = 0;
	rig_in(r, TCP_ACK, 11, 1, 10);
	CU_ASSERT_EQUAL(r->tcp.drops[REASON_TCP_PAWS], 2);
	/* a reset needs none */
	r->peer_ts = 0;
	rig_in(r, TCP_RST, 11, 0, 0);
	CU_ASSERT_EQUAL(r->end, TCP_END_RESET);
	rig_free(r);
}

/* RFC 7323 4.3: the echo is of the segment that the acknowledgement is about, not of one ahead. */
static void test_ts_echo(void)
{
	struct rig *r = rig_new(with_ts);
	struct tcp_opt opt = rig_opt(TCP_OPT_MSS | TCP_OPT_TS);
	r->peer_ts = 10;
	rig_open(r, &opt);
	r->peer_ts = 30;
	rig_in(r, TCP_ACK, 11, 1, 10);
	CU_ASSERT_EQUAL(r->out[0].opt.ts_ecr, 10);
	r->peer_ts = 40;
	rig_in(r, TCP_ACK, 1, 1, 10);
	CU_ASSERT_TRUE(rig_is(r, 1, TCP_ACK, 1, 21, 0));
	CU_ASSERT_EQUAL(r->out[1].opt.ts_ecr, 40);
	rig_free(r);
}

static const struct unit_case cases[] = {
	{"closed", test_closed},
	{"listen", test_listen},
	{"syn_sent", test_syn_sent},
	{"syn_rcvd", test_syn_rcvd},
	{"established", test_established},
	{"fin_wait_1", test_fin_wait_1},
	{"fin_wait_2", test_fin_wait_2},
	{"close_wait", test_close_wait},
	{"closing", test_closing},
	{"last_ack", test_last_ack},
	{"time_wait", test_time_wait},
	{"time_wait_reuse", test_time_wait_reuse},
	{"challenge_limit", test_challenge_limit},
	{"paws", test_paws},
	{"ts_echo", test_ts_echo},
};

UNIT_MAIN("net.dpdk.tcp_in", cases)
