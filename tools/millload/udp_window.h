/* udp_window: the datagrams whose echo has not come: which they are, since when, and which are given up.
 *
 *   oldest .................. next          numbers; a ring of UDP_WINDOW places
 *   places in between wait, or are answered already
 *
 * Sans-I/O. Owner: one thread. Full: udp_window_has_room is false; nothing is forgotten. Cost: O(1) a datagram. */
#ifndef TOOLS_MILLLOAD_UDP_WINDOW_H
#define TOOLS_MILLLOAD_UDP_WINDOW_H

#include "lib/base/base.h"

enum { UDP_WINDOW = 65536 };

struct udp_place {
	uint64_t from_ns; /* when its latency began */
	uint64_t sent_ns;
	bool is_waiting;
};

struct udp_window {
	uint64_t oldest;
	uint64_t next;
	uint64_t waiting;
	struct udp_place places[UDP_WINDOW];
};

void udp_window_init(struct udp_window *w);

static inline bool udp_window_has_room(const struct udp_window *w)
{
	return w->next - w->oldest < UDP_WINDOW;
}

/* The number of the next datagram is w->next; it was sent. */
void udp_window_sent(struct udp_window *w, uint64_t from_ns, uint64_t now_ns);

/* The echo of `number` came. False: it was not waited for, or came twice. */
CHECKED bool udp_window_answered(struct udp_window *w, uint64_t number, uint64_t *from_ns);

/* Gives up what was sent at or before `before_ns`. Returns how many. */
uint64_t udp_window_expire(struct udp_window *w, uint64_t before_ns);

#endif
