/* sim_link: one direction of a bad link. What goes in comes out later, again, in another order, damaged, or not. */
#ifndef TESTS_SIM_SIM_LINK_H
#define TESTS_SIM_SIM_LINK_H

#include "tests/sim/sim_rand.h"

enum { SIM_LINK_PACKET = 9100 };

struct sim_packet {
	uint64_t due_ns;
	uint64_t order; /* of arrival at the link: equal times keep it */
	uint8_t from[16], to[16];
	uint32_t len;
	uint8_t bytes[];
};

struct sim_link {
	/* set by the scenario */
	unsigned loss, dup, corrupt, reorder; /* permille */
	uint64_t delay_ns, jitter_ns;
	uint64_t byte_ns;  /* time a byte takes; 0: none */
	uint64_t queue_ns; /* what waits longer than this is dropped at the tail; 0: all wait */
	uint32_t mtu;	   /* of IP packets */
	uint64_t dead_from_ns, dead_to_ns;

	uint64_t free_ns; /* when the wire is free again */
	uint64_t order;
	struct sim_packet **heap;
	size_t count, room;
	uint64_t lost, passed;
};

enum sim_fate { SIM_PASSED, SIM_LOST, SIM_TOO_BIG, SIM_QUEUE };

/* Copies the packet onto the link. `headers` is what IP adds to len. */
enum sim_fate sim_link_send(struct sim_link *l, struct sim_rand *r, uint64_t now_ns,
	const uint8_t from[16], const uint8_t to[16], const uint8_t *bytes, uint32_t len,
	uint32_t headers);
/* When the next packet comes out; UINT64_MAX: none is on the way. */
uint64_t sim_link_next_ns(const struct sim_link *l);
/* The packet that is due, to be freed by the caller; NULL: none. */
struct sim_packet *sim_link_receive(struct sim_link *l, uint64_t now_ns);
void sim_link_fini(struct sim_link *l);

#endif
