/* tcp_rig: one engine on a bench. The test plays the peer: it feeds segments, turns the clock, and reads what came out.
 * Sequence numbers of the tests are relative: ours to the number of our SYN, the peer's to that of its SYN. */
#ifndef TESTS_UNIT_DATAPLANE_NET_DPDK_TCP_RIG_H
#define TESTS_UNIT_DATAPLANE_NET_DPDK_TCP_RIG_H

#include "dataplane/net/dpdk/tcp_conn.h"
#include "tests/unit/unit.h"

enum {
	RIG_OUT_MAX = 4096,
	RIG_PAYLOAD = 16384,
	RIG_LISTEN_PORT = 80,
	RIG_PEER_PORT = 40000,
	RIG_PKT_COST = 2304
};

/* A segment as the tests write it. */
struct rig_seg {
	uint8_t flags;
	uint32_t seq, ack;
	uint32_t len;
	uint32_t wnd; /* 0: 65535 in; any out */
	struct tcp_opt opt;
	uint8_t data[RIG_PAYLOAD];
};

struct rig {
	struct tcp tcp;
	struct wheel wheel;
	struct tcp_conf conf;
	uint64_t now_ns;
	struct tcp_conn *conn; /* the one under test, until on_closed */
	uint32_t iss, irs;     /* absolute */
	uint32_t peer_ts;      /* the timestamp the peer sends next; 0: none */
	struct tcp_key key;

	struct rig_seg out[RIG_OUT_MAX];
	unsigned out_count;
	unsigned opened, readable, writable, closed, refuse_open;
	enum tcp_end end;
	uint64_t pkts_held;
	unsigned admitted, admit_max;
	bool holds; /* emit holds the buffers it is given */
	struct tcp_buf *held[64];
	unsigned held_count;
	bool keeps_unread; /* on_readable does not consume */
	uint64_t bytes_read;
};

/* An engine that listens, timestamps off unless the test turns them on (then the numbers are easy to read). */
struct rig *rig_new(void (*change)(struct tcp_conf *conf));
void rig_free(struct rig *r);

/* Feeds one segment of the peer and runs the engine. */
void rig_in(struct rig *r, uint8_t flags, uint32_t seq, uint32_t ack, uint32_t len);
void rig_in_seg(struct rig *r, const struct rig_seg *seg);
/* The same without tcp_run: part of a burst. */
void rig_feed(struct rig *r, const struct rig_seg *seg);
void rig_run(struct rig *r);
/* Turns the clock, in steps of a millisecond. */
void rig_wait_ms(struct rig *r, unsigned ms);
/* Forgets what came out. */
void rig_clear(struct rig *r);

/* The connection in this state; the peer's options as given. */
void rig_open(struct rig *r, const struct tcp_opt *peer_opt);
void rig_to_state(struct rig *r, enum tcp_state state);
/* The peer's SYN with what most peers offer: MSS 1460, SACK, scale 7 when `flags` say so. */
struct tcp_opt rig_opt(uint8_t flags);

/* Checks segment `i` of what came out; numbers relative. */
bool rig_is(
	const struct rig *r, unsigned i, uint8_t flags, uint32_t seq, uint32_t ack, uint32_t len);
/* No invariant is broken, nothing leaked once the connection is gone. */
void rig_check(struct rig *r);

#endif
