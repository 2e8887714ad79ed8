/* tcp: a TCP engine without I/O. Segments and a clock go in; segments and events come out.
 *
 *              tcp_input(segment) ──► tcp_in ──► tcp_conn ──┐
 *   wheel_advance(clock) ──► tcp_timer ──────────► tcp_conn ┤        (marked ready)
 *                                                           ▼
 *      ops->emit(segment) ◄── tcp_out ◄── tcp_run ──► ops->on_open, on_readable, on_writable, on_closed
 *
 * Owner:   one lcore; no shared state, nothing at file scope.
 * Turn:    tcp_begin(clock), tcp_input for each segment of a burst, tcp_run. Acknowledgements of a burst leave
 *          together in tcp_run; reports of missing data leave at once.
 * Events:  run only inside tcp_run. A handler may call everything but tcp_begin, tcp_input and tcp_run. A connection
 *          is valid from on_open (or tcp_connect) until on_closed returns.
 * Memory:  reserved in tcp_init; nothing is allocated afterwards. When a pool is empty, the peer sends again or the
 *          sender waits; no connection ends for it.
 * Cost:    O(1) per segment, whatever the number of connections. */
#ifndef DATAPLANE_NET_DPDK_TCP_H
#define DATAPLANE_NET_DPDK_TCP_H

#include "dataplane/net/dpdk/tcp_opt.h"
#include "lib/base/addr.h"
#include "lib/base/registry.h"

struct tcp;
struct tcp_conn;
struct wheel;

enum tcp_flag {
	TCP_FIN = 0x01,
	TCP_SYN = 0x02,
	TCP_RST = 0x04,
	TCP_PSH = 0x08,
	TCP_ACK = 0x10,
	TCP_URG = 0x20,
};

enum tcp_state {
#define TCP_STATE(id, name) TCP_##id,
#include "dataplane/net/dpdk/tcp_state.def"
#undef TCP_STATE
	TCP_STATE_COUNT
};

enum tcp_count {
#define TCP_COUNT(id, name, meaning) TCP_COUNT_##id,
#include "config/tcp_count.def"
#undef TCP_COUNT
	TCP_COUNT_COUNT
};

/* What names a connection, as this side sees it. IPv4 is mapped, ports are in host order. */
struct tcp_key {
	uint8_t local_ip[16];
	uint8_t remote_ip[16];
	uint16_t local_port;
	uint16_t remote_port;
};
static_assert(sizeof(struct tcp_key) == 36, "hashed and compared as bytes: no padding");

/* A segment that arrived: checksum verified, header and options parsed. */
struct tcp_in {
	struct tcp_key key; /* local is where it was sent to */
	uint32_t seq, ack;
	uint16_t wnd; /* as on the wire */
	uint8_t flags;
	struct tcp_opt opt;
	const uint8_t *data; /* valid until pkt is released */
	uint32_t len;
	void *pkt; /* released through ops->pkt_release exactly once; NULL: nothing to release */
	uint32_t pkt_cost; /* memory that keeping pkt takes */
};

typedef void tcp_release(void *ctx);

/* Payload on its way out. It lives until it is acknowledged and nobody holds it: a shell that lets a network card
 * read it holds it meanwhile (tcp_buf_hold, tcp_buf_drop). */
struct tcp_buf {
	struct tcp_buf *next;
	const uint8_t *data;
	uint32_t len;
	uint32_t refs;
	tcp_release *release; /* NULL: nothing to tell anybody */
	void *ctx;
	alignas(8) uint8_t
		shell[24]; /* for the shell: the size of an external buffer's shared state */
};
static_assert(sizeof(struct tcp_buf) == CACHE_LINE, "one line a buffer");

struct tcp_piece {
	const uint8_t *data;
	uint32_t len;
	struct tcp_buf *buf;
};

/* A segment to send. Everything in it is lent for the call. */
struct tcp_seg {
	const struct tcp_key *key;
	uint32_t seq, ack;
	uint16_t wnd; /* as on the wire */
	uint8_t flags;
	uint8_t opts_len;
	uint8_t opts[TCP_OPT_BYTES];
	uint32_t len; /* payload: the sum of the pieces */
	uint32_t piece_count;
	struct tcp_piece pieces[LIMIT_TCP_SEG_SPANS];
};

enum tcp_end {
	TCP_END_CLOSED,	 /* both sides ended the stream */
	TCP_END_RESET,	 /* by the peer */
	TCP_END_ABORTED, /* tcp_abort, or a close that lingered too long */
	TCP_END_REFUSED, /* tcp_connect: reset by the peer */
	TCP_END_TIMEOUT, /* the peer went silent */
};

/* What the engine's surroundings do for it. admit, retire and own may be NULL. */
struct tcp_ops {
	/* Sends, or drops: a dropped segment counts as lost on the way. */
	void (*emit)(void *ctx, const struct tcp_seg *lend_seg);
	void (*pkt_release)(void *ctx, void *take_pkt);
	/* Established. False: reset it; no other event follows. */
	bool (*on_open)(void *ctx, struct tcp_conn *c);
	void (*on_readable)(
		void *ctx, struct tcp_conn *c); /* bytes, or the end of the stream (tcp_is_eof) */
	void (*on_writable)(void *ctx, struct tcp_conn *c); /* room again, after a refused send */
	void (*on_closed)(void *ctx, struct tcp_conn *c, enum tcp_end end);
	/* A peer wants one more connection: false refuses it with a reset. Each true is followed by one retire. */
	bool (*admit)(void *ctx, const uint8_t ip[16]);
	void (*retire)(void *ctx, const uint8_t ip[16]);
	/* Would the peer's answers on this 4-tuple reach this engine (RSS)? NULL: always. */
	bool (*own)(void *ctx, const struct tcp_key *key);
};

enum tcp_cc_kind { TCP_CC_CUBIC, TCP_CC_NEWRENO };

struct tcp_conf {
	const struct tcp_ops *ops;
	void *ctx;
	struct wheel *wheel; /* the lcore's timers; outlives the engine */
	uint64_t now_ns;
	uint8_t secret[32];    /* random; unknown to peers */
	uint32_t conns_max;    /* connections, TIME_WAIT included */
	uint32_t segs_max;     /* segments in flight, all connections */
	uint32_t pkts_max;     /* received segments kept, all connections */
	uint32_t bufs_max;     /* payload references queued, all connections */
	uint32_t blocks_max;   /* blocks of LIMIT_TCP_BLOCK_BYTES for copied bytes */
	uint64_t rx_budget;    /* bytes of received packets kept, all connections */
	uint16_t mtu;	       /* of the port, from 576 up */
	uint16_t tx_spans_max; /* references queued a connection; three times as many fit 8 bits */
	uint32_t tx_copy_max;  /* copied bytes queued a connection */
	uint32_t keepalive_ms; /* 0: none */
	uint32_t time_wait_ms;
	enum tcp_cc_kind cc;
	bool no_ts, no_sack, no_scale; /* do not offer the option */
	bool cookies_always;	       /* for tests: as if the backlog was always full */
};

/* The defaults for `conns_max` connections; ops, ctx, wheel, now_ns and secret are left for the caller. */
void tcp_conf_default(struct tcp_conf *conf, uint32_t conns_max);

/* 0 or -ENOMEM. */
CHECKED int tcp_init(struct tcp *t, const struct tcp_conf *conf);
/* Ends all connections without events or segments, releases what they hold. */
void tcp_fini(struct tcp *t);

/* Sets the clock for all that follows; a clock that goes back is ignored. */
void tcp_begin(struct tcp *t, uint64_t now_ns);
/* Takes in->pkt on every path. */
void tcp_input(struct tcp *t, const struct tcp_in *in);
/* Delivers events and sends what is due. Returns the number of connections it served. */
unsigned tcp_run(struct tcp *t);

/* Takes connections to this address; an address of zeros means all. 0, -EADDRINUSE or -ENOSPC. */
CHECKED int tcp_listen(struct tcp *t, const struct addr *local, unsigned backlog, void *user);
void tcp_stop_listening(struct tcp *t);

/* Starts an active open; local->port 0 picks one. NULL when no slot or port is free. */
struct tcp_conn *tcp_connect(
	struct tcp *t, const struct addr *local, const struct addr *remote, void *user);

void *tcp_user(const struct tcp_conn *c);
void tcp_set_user(struct tcp_conn *c, void *user);
const struct tcp_key *tcp_key(const struct tcp_conn *c);

/* The unread bytes in order, at most `max` pieces. Returns how many; valid until tcp_consume or tcp_input. */
unsigned tcp_peek(const struct tcp_conn *c, struct span *pieces, unsigned max);
/* Gives `len` of the unread bytes back, which opens the window. */
void tcp_consume(struct tcp_conn *c, size_t len);
uint32_t tcp_unread(const struct tcp_conn *c);
/* The peer has ended its side and everything was consumed. */
bool tcp_is_eof(const struct tcp_conn *c);

/* Queue bytes; false when there is no room (nothing was queued, a refused reference is not released; on_writable
 * will come) or our side has ended (it will not). They leave in tcp_run or tcp_flush. */
CHECKED bool tcp_send_copy(struct tcp_conn *c, const void *data, size_t len);
CHECKED bool tcp_send_ref(
	struct tcp_conn *c, const uint8_t *data, uint32_t len, tcp_release *release, void *ctx);
/* Sends what windows allow now. */
void tcp_flush(struct tcp_conn *c);
/* Bytes queued and not yet acknowledged. */
uint32_t tcp_unacked(const struct tcp_conn *c);

/* Ends our side behind what is queued; reading goes on. */
void tcp_shutdown(struct tcp_conn *c);
/* Ends our side and drops what still arrives, up to LIMIT_NET_LINGER_BYTES and LIMIT_TCP_FIN_WAIT_MS; then resets.
 * Only on_closed follows. */
void tcp_close(struct tcp_conn *c);
/* Resets; on_closed follows in the next tcp_run. */
void tcp_abort(struct tcp_conn *c);

/* The path to this peer carries at most `mtu` bytes: told by a router about our segment `seq`. */
void tcp_path_mtu(struct tcp *t, const struct tcp_key *key, uint32_t seq, uint16_t mtu);

void tcp_buf_hold(struct tcp_buf *buf);
/* `t` is the engine that emitted it. */
void tcp_buf_drop(struct tcp *t, struct tcp_buf *buf);

const char *tcp_state_name(enum tcp_state state);

/* How a connection does. */
struct tcp_report {
	enum tcp_state state;
	uint32_t rtt_us;  /* smoothed; 0: not measured yet */
	uint32_t cwnd;	  /* bytes */
	uint32_t retrans; /* segments sent again, up to UINT16_MAX */
};
void tcp_describe(const struct tcp_conn *c, struct tcp_report *out);

#endif
