/* tcp_host: one side of the TCP simulation: an engine, its wheel, and the programs that use its connections. */
#ifndef TESTS_SIM_TCP_HOST_H
#define TESTS_SIM_TCP_HOST_H

#include "dataplane/net/dpdk/tcp_conn.h"
#include "tests/sim/sim_link.h"

enum { TCP_HOST_APPS = 8, TCP_APP_REFS = 256 };

/* When a program ends its side. */
enum tcp_app_mode {
	TCP_APP_SHUTDOWN, /* as soon as all is sent; then reads to the end */
	TCP_APP_ANSWER,	  /* sends only when the peer has ended its side, then ends */
	TCP_APP_CLOSE,	  /* sends when all of the peer's bytes are here, then closes */
	TCP_APP_ABORT,	  /* resets when so many bytes were sent or received */
};

/* A program on one end of one connection. */
struct tcp_app {
	/* the plan */
	enum tcp_app_mode mode;
	uint32_t id; /* of the stream it sends */
	uint32_t peer_id;
	uint64_t tx_total, rx_total;
	uint64_t abort_at;
	uint32_t read_max;    /* bytes a read takes; 0: all */
	uint64_t read_gap_ns; /* between reads */
	bool copies;

	/* the run */
	struct tcp_host *host;
	struct tcp_conn *conn;
	bool is_planned, is_open, is_closed, is_ended;
	bool saw_eof;
	enum tcp_end end;
	uint64_t tx_done, rx_done;
	uint64_t referred, released; /* references given and come back */
	uint64_t released_bytes;
	uint32_t ref_len[TCP_APP_REFS];
	uint64_t read_ns; /* the next read; 0: when bytes come */
	uint8_t *memory;  /* what references point at; scrambled when released */
	uint16_t port;	  /* the client's */
};

struct tcp_host {
	const char *name;
	struct tcp tcp;
	struct wheel wheel;
	struct tcp_host *peer;
	struct sim_link link; /* out of this host */
	struct sim_rand *rand;
	uint64_t now_ns;
	bool is_traced;
	bool tells_mtu; /* routers send packet-too-big */
	unsigned admitted;
	unsigned recut;	   /* permille of segments that arrive as two */
	uint32_t headers;  /* of IP */
	uint64_t pkts_out; /* packets handed to the engine and not released */
	const char *wrong; /* the first thing that went wrong */
	struct tcp_app apps[TCP_HOST_APPS];
};

void tcp_host_init(struct tcp_host *h, const struct tcp_conf *conf);
void tcp_host_fini(struct tcp_host *h);
/* Packets, timers, programs; then the engine's output. */
void tcp_host_turn(struct tcp_host *h, uint64_t now_ns);
/* When there is something to do again. */
uint64_t tcp_host_next_ns(const struct tcp_host *h);
void tcp_host_app_start(struct tcp_app *app, struct tcp_conn *c);
bool tcp_host_is_idle(const struct tcp_host *h);

#endif
