/* rig: a host back end with one listener on loopback, a recorder of its events, and plain sockets as peers. */
#ifndef TESTS_UNIT_DATAPLANE_NET_HOST_RIG_H
#define TESTS_UNIT_DATAPLANE_NET_HOST_RIG_H

#include "dataplane/net/host/host.h"
#include "dataplane/net/ip_table.h"

enum { RIG_CONNS = 64 };

/* What happened to one connection, in the order of acceptance (or connect). */
struct rig;
struct rig_conn {
	struct rig *rig;
	struct net_conn *conn; /* NULL once closed */
	unsigned opened;
	unsigned readable;
	unsigned writable;
	unsigned closed;
	enum net_end end;
	uint8_t got[1 << 16]; /* what was consumed */
	size_t got_len;
	bool saw_eof;
};

struct rig {
	struct net *net;
	struct wheel wheel;
	struct tally tally;
	struct ip_table *ips;
	uint64_t now_ns;
	struct addr at; /* where it listens */
	struct rig_conn conns[RIG_CONNS];
	unsigned count;
	unsigned released; /* references */
	bool refuses;	   /* on_open says no */
	bool leaves;	   /* on_readable consumes nothing */
	void (*on_bytes)(struct rig *r, struct rig_conn *rc);
};

struct rig_size {
	uint32_t conns_max;
	uint32_t rx_blocks;
	uint32_t conns_per_ip;
};

struct rig *rig_open(struct rig_size size, const char *listen);
void rig_close(struct rig *r);
extern const struct net_events rig_events;
/* For net_connect: the connection's record; give it as `user`. */
struct rig_conn *rig_record(struct rig *r);

/* One turn without waiting. */
void rig_turn(struct rig *r);

/* Turns until `cond` holds, five seconds at the most; false then. */
#define RIG_UNTIL(r, cond) \
	({ \
		uint64_t rig_end_ns = clock_now_ns() + 5 * NS_PER_S; \
		while (!(cond) && clock_now_ns() < rig_end_ns) \
			rig_turn(r); \
		(cond); \
	})

/* A peer's socket, connected to the rig, non-blocking. */
int rig_peer(const struct rig *r);
/* All bytes that have come: appended to `out`; -1 at a reset, 0 when the stream ended, 1 else. */
int rig_peer_read(int fd, uint8_t *out, size_t size, size_t *len);

/* A reference to `len` bytes of `data` that counts its release in the rig. */
struct net_ref rig_ref(struct rig *r, const uint8_t *data, uint32_t len);

#endif
