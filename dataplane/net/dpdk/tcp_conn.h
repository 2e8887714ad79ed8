/* tcp_conn: the state of one connection, the engine around it, and their life.
 *
 * Layout:  eight cache lines, ordered by who touches them: 0 every segment, 1-2 sending, 3 receiving, 4 timers,
 *          5 loss detection, 6 congestion control and reports, 7 the rest. An idle connection owns nothing else.
 * Life:    take -> (flow) -> ... -> end -> tcp_run delivers on_closed -> back to the pool. A connection that others
 *          may still name (it is in the ready list) is given back only by tcp_run. */
#ifndef DATAPLANE_NET_DPDK_TCP_CONN_H
#define DATAPLANE_NET_DPDK_TCP_CONN_H

#include "dataplane/net/dpdk/tcp.h"
#include "dataplane/net/dpdk/tcp_flow.h"
#include "dataplane/net/dpdk/tcp_seq.h"
#include "lib/clock/clock.h"
#include "lib/clock/wheel.h"
#include "lib/mem/pool.h"

enum tcp_conn_flag {
	TCP_F_TS = 1 << 0,	   /* timestamps agreed */
	TCP_F_SACK = 1 << 1,	   /* SACK agreed */
	TCP_F_SCALE = 1 << 2,	   /* window scaling agreed */
	TCP_F_ACTIVE = 1 << 3,	   /* opened by us */
	TCP_F_ADMITTED = 1 << 4,   /* ops->retire is owed */
	TCP_F_HALF_OPEN = 1 << 5,  /* counted in its listener's backlog */
	TCP_F_OPENED = 1 << 6,	   /* on_open was delivered and accepted */
	TCP_F_IN_FLOW = 1 << 7,	   /* in the flow table */
	TCP_F_READY = 1 << 8,	   /* in the ready list */
	TCP_F_FIN_QUEUED = 1 << 9, /* our side ends behind the queued bytes */
	TCP_F_FIN_SENT = 1 << 10,
	TCP_F_FIN_RCVD = 1 << 11,  /* rcv_nxt is behind the peer's FIN */
	TCP_F_FIN_KNOWN = 1 << 12, /* a FIN at fin_seq was seen, maybe ahead of the stream */
	TCP_F_DISCARD = 1 << 13,   /* tcp_close: nobody reads any more */
	TCP_F_WANT_ROOM = 1 << 14, /* a send was refused: on_writable is owed */
	TCP_F_ACK_NOW = 1 << 15,   /* an acknowledgement leaves in tcp_run */
	TCP_F_PERSIST = 1 << 16,   /* the RTO timer probes a closed window */
	TCP_F_REORDER = 1 << 17,   /* the path was seen to reorder */
	TCP_F_REO_TIMER = 1 << 18, /* the early timer is RACK's, not the loss probe's */
	TCP_F_TLP_OUT = 1 << 19,   /* a loss probe waits for its answer */
	TCP_F_TLP_RETX = 1 << 20,  /* it was a retransmission */
	TCP_F_CWND_FULL =
		1 << 21, /* the congestion window, not the application, limited the last flight */
	TCP_F_QUIET = 1 << 22, /* no on_closed is owed: on_open never ran, or refused */
	TCP_F_DSACK = 1 << 23, /* dsack is to be reported */
	TCP_F_DONE =
		1 << 24, /* ended, but there are bytes to read: on_closed waits for the reader */
	TCP_F_TOLD = 1 << 25, /* on_closed was delivered, or skipped */
};

/* What tcp_run owes the connection. */
enum tcp_event {
	TCP_EV_OPEN = 1,
	TCP_EV_READABLE = 2,
	TCP_EV_WRITABLE = 4,
	TCP_EV_CLOSED = 8,
	TCP_EV_OUTPUT = 16,
	TCP_EV_FREE = 32,
};

enum tcp_recovery { TCP_OPEN, TCP_RECOVERY, TCP_LOSS };

enum tcp_timer_id {
	TCP_TIMER_RTO,	 /* retransmission, or the probe of a closed window (TCP_F_PERSIST) */
	TCP_TIMER_EARLY, /* tail loss probe, or RACK's reordering wait (TCP_F_REO_TIMER) */
	TCP_TIMER_ACK,	 /* delayed acknowledgement */
	TCP_TIMER_LIFE,	 /* keep-alive, FIN_WAIT_2, TIME_WAIT, a look for room */
	TCP_TIMER_COUNT
};

/* One segment that was sent and is not acknowledged. In exactly one of: the list of those in flight (by time sent),
 * the list of those lost (to be sent again), or neither (the peer reported it). */
enum tcp_rtx_flag { TCP_RTX_SACKED = 1, TCP_RTX_LOST = 2, TCP_RTX_RETX = 4, TCP_RTX_FIN = 8 };

struct tcp_rtx {
	struct tcp_rtx *next, *prev;   /* by sequence */
	struct tcp_rtx *tnext, *tprev; /* in flight, or lost */
	struct tcp_buf *buf;	       /* where its payload begins; NULL: none */
	uint32_t off;
	uint32_t seq;
	uint32_t len; /* sequence space: payload and FIN */
	uint8_t flags;
	uint8_t tries;
	uint64_t sent_us;
};
static_assert(sizeof(struct tcp_rtx) == CACHE_LINE, "one line a segment");

struct tcp_rtx_list {
	struct tcp_rtx *first, *last;
};

/* One received piece: a packet that is kept, or a block that small segments were copied into. */
struct tcp_rx {
	struct tcp_rx *next;
	const uint8_t *data;
	void *pkt;
	uint32_t seq;
	uint32_t len;
	uint32_t cost;
	bool is_block;
};

struct tcp_conn {
	/* line 0: every segment */
	struct tcp_key key; /* first: tcp_flow compares it in place */
	uint8_t state;	    /* enum tcp_state; tcp_conn_set_state only */
	uint8_t recovery;   /* enum tcp_recovery */
	uint8_t events;	    /* enum tcp_event */
	uint8_t end;	    /* enum tcp_end, once ended */
	uint32_t flags;	    /* enum tcp_conn_flag */
	uint32_t rcv_nxt;
	uint32_t rcv_edge; /* the right edge of the window we promised */
	uint32_t snd_una, snd_nxt;
	uint32_t snd_wnd;

	/* line 1: sending */
	uint32_t
		snd_wl1; /* SND.WL2 of RFC 9293 is not needed: acknowledgements below snd_una never get that far */
	uint32_t last_tx_ms;
	uint32_t snd_wnd_max;
	uint32_t cwnd, ssthresh;
	uint32_t flight; /* bytes of the in-flight list */
	uint32_t lost;	 /* bytes of the lost list */
	uint32_t dups;	 /* without SACK: bytes that duplicate acknowledgements say have left */
	struct tcp_rtx_list rtx;
	struct tcp_rtx_list sent;

	/* line 2: what is to be sent */
	struct tcp_rtx_list gone; /* lost */
	struct tcp_buf *tx_first, *tx_last;
	struct tcp_buf *tx_cur; /* the first with unsent bytes; NULL: none */
	uint32_t tx_cur_off;
	uint32_t tx_acked; /* bytes of tx_first that are acknowledged */
	uint32_t unsent;
	uint32_t queued; /* unsent and unacknowledged */
	uint16_t mss;	 /* payload and options of a segment we send */
	uint16_t tx_copied;
	uint16_t retrans; /* segments sent again; stays at its largest */
	uint8_t tx_spans;
	uint8_t snd_scale : 4, rcv_scale : 4;

	/* line 3: receiving */
	struct tcp_rx *rx_first, *rx_last;
	struct tcp_rx *ooo_first, *ooo_last;
	uint32_t unread;
	uint32_t rx_off; /* consumed bytes of rx_first */
	uint32_t rx_cost;
	uint32_t rcv_buf;
	uint32_t ack_sent; /* the last acknowledgement that left */
	uint32_t fin_seq;
	uint16_t ooo_count;
	uint8_t sack_count;
	uint8_t quick_acks;
	uint16_t ack_bytes; /* received since the last acknowledgement, up to 65535 */
	uint16_t rcv_mss;   /* the largest segment of the peer */

	/* line 4: timers */
	struct wheel_timer timer; /* armed for the nearest of due_ns, or earlier */
	uint64_t due_ns[TCP_TIMER_COUNT];

	/* line 5: round trips and loss */
	uint32_t srtt_us, rttvar_us, rto_us, min_rtt_us;
	uint64_t rack_sent_us;
	uint32_t rack_end, rack_rtt_us;
	uint32_t recover; /* recovery ends when this is acknowledged */
	uint32_t tlp_end;
	uint32_t prr_delivered, prr_out, prr_flight;
	uint32_t stall_ms; /* since when nothing was acknowledged; 0: it was */
	uint8_t backoff;
	uint8_t dup_acks;
	uint8_t probes;
	uint8_t reo_mult;
	uint32_t last_rx_ms;

	/* line 6: congestion control (CUBIC), timestamps, reports of what is ahead */
	float cc_w_max, cc_k, cc_w_est;
	uint32_t cc_epoch_ms; /* 0: none */
	uint32_t ts_recent, ts_recent_ms, ts_offset;
	uint32_t challenge_ms;
	struct tcp_range sack[TCP_OPT_SACKS];

	/* line 7: life and windows */
	struct tcp *tcp;
	void *user;
	struct tcp_conn *ready_next;
	struct tcp_conn *wait_next, *wait_prev; /* TIME_WAIT, oldest first */
	struct tcp_range dsack;
	uint32_t rcv_copied, rcv_mark_ms;
	uint32_t rack_fack;
	uint16_t rcv_rtt_ms;
	uint8_t listener;
	uint8_t reo_left; /* recoveries until reo_mult falls back */
};
static_assert(offsetof(struct tcp_conn, snd_wl1) == 1 * CACHE_LINE, "line 1");
static_assert(offsetof(struct tcp_conn, gone) == 2 * CACHE_LINE, "line 2");
static_assert(offsetof(struct tcp_conn, rx_first) == 3 * CACHE_LINE, "line 3");
static_assert(offsetof(struct tcp_conn, timer) == 4 * CACHE_LINE, "line 4");
static_assert(offsetof(struct tcp_conn, srtt_us) == 5 * CACHE_LINE, "line 5");
static_assert(offsetof(struct tcp_conn, cc_w_max) == 6 * CACHE_LINE, "line 6");
static_assert(offsetof(struct tcp_conn, tcp) == 7 * CACHE_LINE, "line 7");
static_assert(sizeof(struct tcp_conn) == 8 * CACHE_LINE, "512 bytes a connection");

struct tcp_listener {
	struct addr local;
	void *user;
	uint32_t backlog;
	uint32_t half_open;
	bool is_open;
};

struct tcp_cc;

struct tcp {
	struct tcp_conf conf;
	const struct tcp_cc *cc;
	uint64_t now_ns;
	struct tcp_flow flow;
	struct pool conns, segs, pkts, bufs, blocks;
	struct tcp_conn *ready_first, *ready_last;
	struct tcp_conn *wait_first, *wait_last;
	uint64_t rx_used;
	struct tcp_hash_secret isn_secret, cookie_secret, port_secret;
	uint32_t port_turn;
	uint64_t cookie_ns; /* the last cookie left; 0: none ever */
	struct tcp_listener listeners[LIMIT_LISTENERS];
	uint64_t counts[TCP_COUNT_COUNT];
	uint64_t drops[REASON_COUNT];
};

static inline uint64_t tcp_now_us(const struct tcp *t)
{
	return t->now_ns / NS_PER_US;
}

static inline uint32_t tcp_now_ms(const struct tcp *t)
{
	return (uint32_t)(t->now_ns / NS_PER_MS);
}

static inline void tcp_drop(struct tcp *t, enum reason_id reason)
{
	t->drops[reason]++;
}

static inline void tcp_conn_count_retrans(struct tcp_conn *c)
{
	c->tcp->counts[TCP_COUNT_RETRANS]++;
	if (c->retrans != UINT16_MAX)
		c->retrans++;
}

/* A slot in state CLOSED with this key, in the flow table; a connection in TIME_WAIT makes room when it must.
 * NULL: none. */
struct tcp_conn *tcp_conn_take(struct tcp *t, const struct tcp_key *key);
struct tcp_conn *tcp_conn_find(struct tcp *t, const struct tcp_key *key);

void tcp_conn_set_state(struct tcp_conn *c, enum tcp_state state);
/* Puts the connection in the ready list with these events. */
void tcp_conn_wake(struct tcp_conn *c, unsigned events);
/* Established: what both ways of opening share. */
void tcp_conn_established(struct tcp_conn *c);
/* Everything it holds goes back, timers stop; on_closed follows unless it is quiet. */
void tcp_conn_end(struct tcp_conn *c, enum tcp_end end);
/* Both sides are done: on_closed follows, the key stays taken for a while. */
void tcp_conn_time_wait(struct tcp_conn *c);
/* Gives up a connection in TIME_WAIT. */
void tcp_conn_forget(struct tcp_conn *c);
/* Back to the pool: tcp_run and tcp_fini only. */
void tcp_conn_give(struct tcp_conn *c);

static inline bool tcp_conn_is_synced(const struct tcp_conn *c)
{
	return c->state >= TCP_ESTABLISHED;
}

#endif
