/* http_rig: a whole HTTP server without sockets: connections in memory whose room and bytes the test controls, a fake
 * clock, a worker that runs when told to. Drives the real state machine, parser, wheel, jobs and rings. */
#ifndef TESTS_UNIT_DATAPLANE_HTTP_HTTP_RIG_H
#define TESTS_UNIT_DATAPLANE_HTTP_HTTP_RIG_H

#include "dataplane/http/http.h"
#include "lib/shm/seg.h"
#include "tests/unit/unit.h"

struct rig_span {
	uint8_t *copy; /* owned, or NULL for a reference */
	const uint8_t *data;
	size_t len;
	net_release *release;
	void *ctx;
};

/* One connection; the client's end is in the test's hands. */
struct rig_conn {
	struct net_conn pub;
	struct rig *rig;
	uint8_t *rx; /* moved to new memory by each consume, so that a stale span is seen by ASan */
	size_t rx_len;
	struct rig_span spans[LIMIT_NET_TX_SPANS];
	unsigned span_count;
	size_t copy_bytes;
	size_t window;	/* bytes that may still leave */
	bool is_wanted; /* a send found no room */
	bool is_moved;	/* something left since */
	bool is_closing;
	bool is_closed; /* on_closed was called */
	enum net_end end;
	unsigned flushes;
	char *wire; /* what the client has received */
	size_t wire_len;
	size_t wire_read; /* by rig_reply */
};

enum { RIG_CONNS = 1200 };

struct rig {
	struct conf conf;
	struct wheel wheel;
	uint64_t now_ns;
	struct seg *seg;
	struct tally *tally;
	struct jobs jobs;
	struct job_bench bench;
	struct http_server *server;
	struct rig_conn *conns[RIG_CONNS];
	unsigned conn_count;
	/* blocks of the rig's own, when the test brings none */
	uint32_t blocks_left;
	uint32_t blocks_out;
	uint8_t *blocks[4096];
};

struct rig_conf {
	http_router *route;
	void *route_ctx;
	const struct http_blocks *blocks; /* NULL: the rig's own */
	uint32_t conns_max;		  /* 0: RIG_CONNS */
	struct ip_table *ips;		  /* may be NULL */
};

/* Fills everything but the server, so that services can be opened on it; then rig_start. */
void rig_init(struct rig *r);
void rig_start(struct rig *r, const struct rig_conf *c);
/* Ends it and checks that nothing leaked: blocks, jobs, connections, in-flight counts. */
void rig_fini(struct rig *r);

/* A client from 127.0.0.1; NULL when the server refused it. */
struct rig_conn *rig_connect(struct rig *r);
void rig_give(struct rig_conn *c, const void *data, size_t len);
void rig_say(struct rig_conn *c, const char *text);
void rig_eof(struct rig_conn *c);
/* The client vanishes. */
void rig_reset(struct rig_conn *c);
/* Lets `bytes` more leave, and tells the server. */
void rig_open_window(struct rig_conn *c, size_t bytes);

/* One turn of the lcore: jobs that are done, leftovers, closes. */
void rig_turn(struct rig *r);
/* The worker runs what is queued; rig_turn brings it back. Returns how many jobs. */
unsigned rig_work(struct rig *r);
/* Moves the clock and fires what is due. */
void rig_pass_ms(struct rig *r, uint64_t ms);

struct rig_reply {
	int status; /* 0: no whole answer is there */
	char head[2048];
	const uint8_t *body; /* valid until the next rig_reply */
	size_t body_len;
	bool is_chunked;
};
/* Takes the next answer off the wire. `method` tells whether there is a body. */
struct rig_reply rig_reply(struct rig_conn *c, const char *method);
/* The value of a field of an answer in a static buffer, or NULL. */
const char *rig_field(const struct rig_reply *reply, const char *name);
/* rig_say, turns and work until the answer is there. */
struct rig_reply rig_ask(struct rig_conn *c, const char *method, const char *request);

/* Checks an error answer: status, code, JSON shape, the correlation id in head and body, Retry-After. */
void rig_check_error(const struct rig_reply *reply, int status, const char *code);

uint64_t rig_rejected(const struct rig *r, enum reason_id reason);

#endif
