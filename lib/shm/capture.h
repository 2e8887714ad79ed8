/* capture: copies of packets on their way from the lcores to whoever looks at them (`millctl capture`): one ring of
 * records per lcore, and one switch for all.
 *
 *   control plane: capture_start ............... capture_next, capture_drop ... capture_stop
 *   lcore:         each turn capture_tap_look ... capture_tap_begin, fill, capture_tap_end
 *
 * Producer: each lcore its own ring. Consumer: the control plane's main thread.
 * Full:     the packet is not captured, and counted by port; the packet itself is untouched.
 * Off:      one relaxed load a turn on a line that nobody writes.
 * Death:    a control plane that dies cannot stop its capture: it ends by itself at until_ns, and the next control plane
 *           switches it off. Records bear the number of their capture; those of another are passed over. */
#ifndef LIB_SHM_CAPTURE_H
#define LIB_SHM_CAPTURE_H

#include "lib/base/registry.h"
#include "lib/shm/capture_filter.h"

struct capture_record {
	uint64_t number;  /* of the capture */
	uint64_t time_ns; /* wall clock, since 1970 */
	uint32_t len;	  /* on the wire */
	uint32_t kept;	  /* of data */
	uint8_t port;
	uint8_t dir; /* enum capture_dir */
	uint8_t pad[6];
	uint8_t data[LIMIT_CAPTURE_BYTES];
};
static_assert(sizeof(struct capture_record) == 2048, "records lie on lines");

struct capture_ring {
	alignas(CACHE_LINE) uint64_t pushed; /* (w: the lcore) */
	uint64_t dropped[LIMIT_NET_PORTS];   /* (w: the lcore) */
	alignas(CACHE_LINE) uint64_t popped; /* (w: control plane) */
	alignas(CACHE_LINE) struct capture_record slots[QUEUE_CAPACITY_CAPTURE];
};

struct capture_conf {
	uint64_t until_ns; /* CLOCK_MONOTONIC */
	uint32_t ports;	   /* bit n: port n */
	struct capture_filter filter;
};
static_assert(sizeof(struct capture_conf) % 8 == 0, "copied by words");
static_assert((int)LIMIT_NET_PORTS <= 32, "a bit a port");

struct capture {
	alignas(CACHE_LINE)
		uint64_t running; /* (w: control plane) number of the capture that is on; 0: none */
	uint64_t last;		  /* (w: control plane) number of the newest capture */
	struct capture_conf conf; /* (w: control plane, while none is on) */
	struct capture_ring rings[LIMIT_LCORES];
};

/* --- control plane */

/* None is on. Returns the number of this one. What older ones left in the rings is dropped. */
uint64_t capture_start(struct capture *c, const struct capture_conf *conf);
/* Switches off; what the rings hold can still be read. */
void capture_stop(struct capture *c);

/* The oldest record of capture `number` that waits, valid until capture_drop; NULL: none now. `lcore` is whose it is. */
const struct capture_record *capture_next(struct capture *c, uint64_t number, unsigned *lcore);
void capture_drop(struct capture *c, unsigned lcore);

/* Packets of a port that found no room, ever. */
uint64_t capture_dropped(const struct capture *c, unsigned port);
/* Records in the fullest ring. */
uint32_t capture_depth(const struct capture *c);

/* --- lcore */

struct capture_tap {
	struct capture *capture; /* NULL: there is nothing to look at */
	unsigned lcore;
	bool is_on;
	uint64_t number;
	struct capture_conf conf; /* of `number` */
};

/* Takes notice of captures that begin and end. */
void capture_tap_turn(struct capture_tap *t, uint64_t running, uint64_t now_ns);

static inline void capture_tap_look(struct capture_tap *t, uint64_t now_ns)
{
	if (t->capture == NULL)
		return;
	uint64_t running = __atomic_load_n(&t->capture->running, __ATOMIC_RELAXED);
	if (UNLIKELY(running != 0 || t->is_on))
		capture_tap_turn(t, running, now_ns);
}

/* While is_on. A record to fill in (number, port and dir are), or NULL: not wanted, or no room. `head` is the first
 * bytes of the frame, headers at least. */
struct capture_record *capture_tap_begin(struct capture_tap *t, unsigned port, enum capture_dir dir,
	struct span head, bool *is_full);
/* Publishes it. */
void capture_tap_end(struct capture_tap *t);

#endif
