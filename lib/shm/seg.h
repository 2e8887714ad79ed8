/* seg: the shared segment both processes live by: POSIX shared memory /millrace-<node name>.
 *
 *   struct seg:  header | hearts | shutdown | conf | ready | tally | events | rings | ask | capture
 *
 * Whoever comes first creates it. Magic, layout hash and size must match, else seg_attach refuses and
 * says which build is older. Each role is held by a lock of the kernel's on the segment's file, which
 * ends with the process however it dies, so neither a reused pid nor a half-made segment deceives.
 * A segment whose two processes are both dead is taken over: counters, events and generations go on;
 * queues are emptied, and configuration and readiness wait to be published anew, for they belong to
 * the life that ended. With another layout it is replaced.
 * Everything in it is pointer-free; handles are {index, generation}. Owner of each part is named
 * beside it: (w: who). */
#ifndef LIB_SHM_SEG_H
#define LIB_SHM_SEG_H

#include "lib/conf/conf_types.h"
#include "lib/shm/capture.h"
#include "lib/shm/events.h"
#include "lib/shm/ring.h"
#include "lib/shm/snap.h"
#include "lib/shm/tally.h"

#define SEG_MAGIC 0x4d494c4c52414345ull /* "MILLRACE" */

struct seg_header {
	uint64_t magic;
	uint64_t layout_hash;
	uint64_t size;
	uint64_t build_time;   /* of the creating build, seconds since 1970: tells which build is
				  older */
	char build[48];	       /* its version, for the message */
	uint64_t ready_to_use; /* 1 once the creator has filled everything in; release/acquire */
};

/* A process beats every 100 ms; a beat older than LIMIT_HEARTBEAT_STALE_MS, or a dead pid, means it
 * is gone. */
struct seg_heart {
	alignas(CACHE_LINE) uint64_t beat_ns; /* CLOCK_MONOTONIC; (w: the process) */
	uint64_t start_ns;		      /* CLOCK_MONOTONIC at its start */
	uint64_t generation;		      /* grows by one with each start */
	int32_t pid;
	uint32_t state;	    /* enum seg_state */
	uint32_t log_depth; /* lines in its `log` queue when it beat last */
};

enum seg_state { SEG_STOPPED, SEG_STARTING, SEG_RUNNING, SEG_DRAINING };
extern const char *const seg_state_names[]; /* "stopped" "starting" "running" "draining" */

/* The shutdown register: last write wins, never undone in one data-plane generation (w: signal
 * handlers, ops). */
struct seg_shutdown {
	alignas(CACHE_LINE) uint64_t
		requested_generation; /* the data plane generation that is asked to drain */
};

/* What /readyz says (w: the data plane's main thread); published as a snapshot. */
enum { READY_MISSING_MAX = 8, READY_TEXT = 64 };
struct seg_ready {
	uint8_t ready;
	uint8_t degraded;
	uint8_t missing_count;
	uint8_t reason_count;
	uint8_t pad[4];
	char missing[READY_MISSING_MAX][READY_TEXT]; /* "config", "dataplane", "worker" ... */
	char reasons[READY_MISSING_MAX][READY_TEXT]; /* why it is degraded or not ready */
};

/* ask: a question from the control plane to one lcore, answered at the lcore's leisure (`millctl
 * conns`). */
enum { ASK_ROWS = 64 };
struct ask_conn {
	uint64_t id; /* slot and generation */
	uint64_t age_ms;
	uint64_t idle_ms;
	uint64_t requests;
	uint64_t rx_bytes;
	uint64_t tx_bytes;
	char peer[56];
	char state[16]; /* idle, head, body, work, reply, closing */
	uint32_t rtt_us;
	uint32_t cwnd_bytes;
	uint32_t retrans;
	char tcp[12]; /* established, close_wait ...; empty: not known, nor the three above */
};
struct seg_ask {
	alignas(CACHE_LINE) uint64_t asked; /* (w: control plane) number of the question, grows */
	uint32_t cursor;		    /* (w: control plane) slot to start from */
	alignas(CACHE_LINE) uint64_t answered; /* (w: the lcore) number of the question answered */
	uint32_t next_cursor; /* (w: the lcore) where to go on; UINT32_MAX at the end */
	uint32_t rows;
	struct ask_conn row[ASK_ROWS];
};

/* A job on its way: where it lives in the data plane. */
struct seg_job_ref {
	uint32_t lcore;
	uint32_t index;
};

#define SEG_RING(name, capacity, elem) \
	alignas(CACHE_LINE) char name[RING_BYTES(capacity, sizeof(elem))]

/* The rings that exist today; queue registry entries whose service is not built yet have none. */
struct seg_rings {
	SEG_RING(storage_work, QUEUE_CAPACITY_STORAGE_WORK, struct seg_job_ref);
	SEG_RING(done[LIMIT_LCORES], QUEUE_CAPACITY_DONE, struct seg_job_ref);
};

struct seg {
	struct seg_header header;
	struct seg_heart hearts[SHM_PROCESS_COUNT];
	struct seg_shutdown shutdown;
	alignas(CACHE_LINE) char conf[SNAP_BYTES(sizeof(struct conf))]; /* (w: control plane) */
	alignas(CACHE_LINE) char ready[SNAP_BYTES(
		sizeof(struct seg_ready))]; /* (w: data plane main) */
	struct tally tally[TALLY_SLOTS];
	struct events events;
	struct seg_rings rings;
	struct seg_ask ask[LIMIT_LCORES];
	uint32_t lcore_count; /* (w: data plane main) */
	uint32_t lcore_cpu[LIMIT_LCORES];
	struct capture capture; /* large, and not touched before the first capture */
};

/* Attaches to (or creates) the segment of node `name` as `process`. On failure returns -errno and
 * fills `why` with one line for a person; -EEXIST when another live process holds the role, -EPROTO
 * when a living process uses it with another layout. On success the heart of `process` has a new
 * generation, its pid, and state SEG_STARTING; what its dead predecessor left half done in rings and
 * events is cleaned up, its gauges are zero, and a data plane is not ready until it says so. */
CHECKED int seg_attach(
	struct seg **out, const char *name, enum shm_process process, char *why, size_t why_size);

/* Maps an existing segment read-only, for millctl, the launcher and tests. -ENOENT when there is none
 * (or it is still being made), -EPROTO when its layout differs. */
CHECKED int seg_open(const struct seg **out, const char *name, char *why, size_t why_size);

/* Undoes either; the process that was attached counts as stopped. */
void seg_detach(const struct seg *s);

/* Whether a living process, of whatever build, is attached to the segment of node `name`. */
bool seg_is_used(const char *name);

/* Removes the segment's name, unless a living process is attached; the launcher does it when both
 * processes have ended. */
void seg_unlink(const char *name);

void seg_beat(struct seg *s, enum shm_process process, enum seg_state state);
bool seg_is_alive(const struct seg *s, enum shm_process process);

static inline struct snap *seg_conf(struct seg *s)
{
	return (struct snap *)s->conf;
}
static inline struct snap *seg_ready(struct seg *s)
{
	return (struct snap *)s->ready;
}

/* The ring of a queue, or NULL when its service is not built in; lcore matters for DONE only. */
struct rte_ring *seg_ring(struct seg *s, enum queue_id queue, unsigned lcore);

#endif
