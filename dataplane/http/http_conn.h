/* http_conn: what one connection and the request under way on it look like inside this folder. Private to
 * dataplane/http; services see http.h only.
 *
 *          first byte          head whole            body whole         http_reply          all queued
 *   IDLE ------------> HEAD -------------> BODY --------------> WORK -------------> REPLY ------------> IDLE
 *                        |   no body: the service is called at once    ^                        |
 *                        +---------------------------------------------+       CLOSING <--------+ not kept alive
 *
 * http_conn_drive moves a connection as far as it can go; everything else only changes state and lets it run:
 * on_readable, on_writable, timers, http_server_turn. Answers are sent by it alone, so a service may call http_reply
 * from anywhere on the lcore without the connection vanishing under it.
 *
 * Owner:      the lcore.
 * Memory:     IDLE and CLOSING hold a struct http_conn; the other states an exchange too; BODY and what follows it the
 *             copy of the head, since the receive buffer has moved on.
 * Invariants: x != NULL exactly in HEAD, BODY, WORK, REPLY. */
#ifndef DATAPLANE_HTTP_HTTP_CONN_H
#define DATAPLANE_HTTP_HTTP_CONN_H

#include <sys/queue.h>

#include "dataplane/http/http.h"
#include "dataplane/http/http_chunked.h"
#include "dataplane/http/http_date.h"
#include "dataplane/http/http_target.h"

enum http_conn_state {
	HTTP_CONN_IDLE,
	HTTP_CONN_HEAD,
	HTTP_CONN_BODY,
	HTTP_CONN_WORK,
	HTTP_CONN_REPLY,
	HTTP_CONN_CLOSING, /* net_close was called */
};

struct http_exchange;

struct http_conn {
	struct net_conn *net;
	struct http_server *server;
	struct http_exchange *x;
	TAILQ_ENTRY(http_conn) run;
	uint8_t state;	 /* enum http_conn_state */
	bool is_queued;	 /* in the server's run queue */
	bool is_driving; /* http_conn_drive is on the stack */
	bool is_watched; /* tx_* below are in use: bytes wait to leave */
	uint32_t generation;
	uint64_t requests;
	/* timers: one wheel timer, armed lazily; armed_ns is when it fires, the due time may be later */
	struct wheel_timer timer;
	uint64_t armed_ns;
	uint64_t opened_ns;
	uint64_t active_ns;   /* when the last answer was queued, or the connection opened */
	uint64_t tx_seen;     /* net->tx_bytes at the last look */
	uint64_t tx_moved_ns; /* when it was last seen to change */
	uint64_t tx_look_ns;  /* when to look again */
};
static_assert(sizeof(struct http_conn) <= 4 * CACHE_LINE, "an idle connection is small");

enum { HTTP_OUT_BYTES = LIMIT_HTTP_REPLY_HEAD_BYTES + HTTP_INLINE_BYTES };
static_assert(
	(int)HTTP_OUT_BYTES <= (int)LIMIT_NET_TX_COPY_BYTES, "an answer fits the send buffer");

/* A request from its first byte to the last byte of its answer. */
struct http_exchange {
	struct http_req rq; /* first: a request is its exchange */

	/* body */
	uint64_t body_left; /* of Content-Length */
	uint8_t *head_copy;
	struct http_chunked chunked;
	bool is_body_read; /* nothing of this request is left in the receive buffer but its head */
	bool is_inflight;  /* counted in inflight_requests */

	struct job *job; /* submitted or taken, and not yet given back */

	/* answer */
	bool is_kept;	 /* keep-alive after it */
	bool is_chunked; /* the answer's body */
	bool is_last;	 /* `next` has given all */
	uint16_t status;
	uint64_t
		left; /* bytes still to be asked of `next`; HTTP_LENGTH_UNKNOWN when chunked or until close */
	uint64_t offset; /* given so far */
	bool (*next)(void *ctx, uint64_t offset, struct net_ref *out);
	void (*finish)(void *ctx);
	uint64_t ctx_words[4];
	struct net_ref held; /* given by `next`, refused by the network so far; len 0: none */
	uint32_t out_len;    /* bytes of `out` that wait */
	char out[HTTP_OUT_BYTES];
};

/* "Date: ...\r\n" and the fields every answer carries, as one piece. */
#define HTTP_COMMON_FIELDS "Referrer-Policy: no-referrer\r\nX-Content-Type-Options: nosniff\r\n"
enum { HTTP_COMMON_BYTES = 6 + HTTP_DATE_BYTES + 2 + sizeof(HTTP_COMMON_FIELDS) - 1 };

enum { HTTP_CORR_PREFIX_BYTES = 17 };

struct http_server {
	struct http_server_conf c;
	struct pool conns;
	struct pool exchanges;
	struct pool heads;
	TAILQ_HEAD(http_conn_run, http_conn) run;
	unsigned run_count;
	uint32_t generation; /* of the newest connection */
	bool is_draining;
	uint32_t turn_answered[TALLY_SET_ROUTE]; /* requests begun and answered in this turn */
	uint64_t common_until_ns;
	char common[HTTP_COMMON_BYTES];
	uint64_t corr_next;
	char corr_prefix
		[HTTP_CORR_PREFIX_BYTES]; /* random; makes ids differ between lcores and starts */
	uint8_t path[HTTP_TARGET_PATH_BYTES]; /* of the request a service is being called with */
};

static inline struct http_exchange *http_exchange_of(struct http_req *rq)
{
	return (struct http_exchange *)rq;
}

static inline uint64_t http_server_now(const struct http_server *s)
{
	return *s->c.now_ns;
}

/* http_conn.c */
extern const struct net_events http_conn_events;
/* Goes as far as it can. The connection may be gone afterwards. */
void http_conn_drive(struct http_conn *c);
/* To be driven by the next http_server_turn. */
void http_conn_queue(struct http_conn *c);
/* Ends it in order. It may be gone afterwards. */
void http_conn_close(struct http_conn *c);

/* http_exchange.c: taking and giving back */
struct http_exchange *http_exchange_begin(struct http_conn *c);
/* Gives back everything it holds: job, blocks, references, itself. */
void http_exchange_end(struct http_exchange *x);
/* Counts the answer, then ends it. */
void http_exchange_finish(struct http_exchange *x);

/* http_admit.c: from a whole head to the service; ends in WORK, BODY or REPLY. */
void http_admit(struct http_exchange *x);
/* Calls the service's `handle`, the body being there. */
void http_admit_handle(struct http_exchange *x);

/* http_body.c: reads what has come. */
enum http_body_status { HTTP_BODY_DONE, HTTP_BODY_MORE, HTTP_BODY_FAILED /* answered */ };
enum http_body_status http_body_read(struct http_exchange *x);
/* Gives the blocks back. */
void http_body_drop(struct http_exchange *x);

/* http_reply.c */
enum http_reply_status { HTTP_REPLY_DONE, HTTP_REPLY_WAIT, HTTP_REPLY_CUT };
enum http_reply_status http_reply_send(struct http_exchange *x);
/* Sends x->out. False: no room yet. */
bool http_reply_send_out(struct http_exchange *x);
void http_reply_drop(struct http_exchange *x);
/* Sets rq->corr_id: the client's if it is valid, else a new one. */
void http_reply_set_corr_id(struct http_exchange *x);
enum label_status http_reply_status_label(uint16_t status);

/* http_fail.c: http_fail_with and the reason to count; REASON_COUNT counts none. */
void http_fail_for(struct http_req *rq, enum err_id err, const char *detail, struct span fields,
	enum reason_id reason);

/* http_job.c: nobody waits for the job any more. */
void http_job_cancel(struct http_exchange *x);

/* http_timer.c */
void http_timer_init(struct http_conn *c);
/* After each drive. */
void http_timer_update(struct http_conn *c);
void http_timer_stop(struct http_conn *c);

#endif
