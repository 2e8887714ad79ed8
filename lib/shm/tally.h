/* tally: counters, gauges and histograms in the shared segment, one slot per writing thread.
 *
 *   slot:  0 .. LCORES-1          ingress lcores
 *          LCORES .. +WORKERS-1   worker threads
 *          TALLY_SLOT_DATAPLANE   the data plane's main thread
 *          TALLY_SLOT_CONTROL     the control plane
 *
 * Writer:  the one thread that owns the slot; plain add, no lock prefix.
 * Readers: anyone, any time; each cell is read whole, cells are not read together.
 * Life:    cells outlive a restart of their writer, so counters never go back while the segment
 *          lives; gauges are reset by seg_attach (tally_reset_gauges).
 * Cost:    one add on a line no other thread writes. */
#ifndef LIB_SHM_TALLY_H
#define LIB_SHM_TALLY_H

#include "lib/base/registry.h"

/* The label sets: LABEL_<SET>_<ID>, and TALLY_SET_<SET> for how many there are. */
enum label_route {
#define LABEL_ROUTE(id, text) LABEL_ROUTE_##id,
#include "config/labels.def"
	TALLY_SET_ROUTE
};
enum label_method {
#define LABEL_METHOD(id, text) LABEL_METHOD_##id,
#include "config/labels.def"
	TALLY_SET_METHOD
};
enum label_status {
#define LABEL_STATUS(id, text) LABEL_STATUS_##id,
#include "config/labels.def"
	TALLY_SET_STATUS
};
enum label_kind {
#define LABEL_KIND(id, text) LABEL_KIND_##id,
#include "config/labels.def"
	TALLY_SET_KIND
};
enum label_op {
#define LABEL_OP(id, text) LABEL_OP_##id,
#include "config/labels.def"
	TALLY_SET_OP
};
enum label_port {
#define LABEL_PORT(id, text) LABEL_PORT_##id,
#include "config/labels.def"
	TALLY_SET_PORT
};
enum label_dir {
#define LABEL_DIR(id, text) LABEL_DIR_##id,
#include "config/labels.def"
	TALLY_SET_DIR
};
enum label_protocol {
#define LABEL_PROTOCOL(id, text) LABEL_PROTOCOL_##id,
#include "config/labels.def"
	TALLY_SET_PROTOCOL
};
enum label_event {
#define TCP_COUNT(id, name, meaning) LABEL_EVENT_##id,
#include "config/tcp_count.def"
#undef TCP_COUNT
	TALLY_SET_EVENT
};
enum {
	TALLY_SET_NONE = 1,
	TALLY_SET_ENDPOINT = TALLY_SET_ROUTE,
	TALLY_SET_QUEUE = QUEUE_COUNT,
	TALLY_SET_REASON = REASON_COUNT,
};

/* A histogram is HIST_BUCKETS counts (upper bounds in tally_hist_bounds_ns, the last is +Inf), then
 * the sum in ns. */
enum { HIST_BUCKETS = 20, HIST_CELLS = HIST_BUCKETS + 1 };
extern const uint64_t tally_hist_bounds_ns[HIST_BUCKETS];

enum {
	TALLY_WIDTH_COUNTER = 1,
	TALLY_WIDTH_GAUGE = 1,
	TALLY_WIDTH_HISTOGRAM = HIST_CELLS,
	TALLY_WIDTH_DERIVED = 0,
};

/* TALLY_<ID>: the first cell of each metric. A metric's cells are row-major over its three sets. */
enum tally_cell {
#define METRIC(id, type, name, scope, s1, s2, s3, help) \
	TALLY_##id, \
		TALLY_LAST_##id = \
			TALLY_##id - 1 + \
			TALLY_WIDTH_##type * TALLY_SET_##s1 * TALLY_SET_##s2 * TALLY_SET_##s3,
#include "config/metrics.def"
#undef METRIC
	TALLY_CELLS
};

enum metric_id {
#define METRIC(id, ...) METRIC_##id,
#include "config/metrics.def"
#undef METRIC
	METRIC_COUNT
};

enum metric_type { METRIC_COUNTER, METRIC_GAUGE, METRIC_HISTOGRAM, METRIC_DERIVED };

/* One label set as the exporter needs it. */
struct label_set {
	const char *name;	  /* the label's name; NULL for NONE */
	unsigned count;		  /* 1 for NONE */
	const char *const *texts; /* count of them */
};

struct metric_info {
	const char *name;
	enum metric_type type;
	bool per_slot;
	const struct label_set *sets[3];
	unsigned first_cell;
	const char *help;
};
extern const struct metric_info metric_infos[METRIC_COUNT];

enum {
	TALLY_SLOT_WORKER0 = LIMIT_LCORES,
	TALLY_SLOT_DATAPLANE = LIMIT_LCORES + LIMIT_WORKERS,
	TALLY_SLOT_CONTROL,
	TALLY_SLOTS
};

struct tally {
	alignas(CACHE_LINE) uint64_t cells[TALLY_CELLS]; /* w: the slot's thread */
	uint64_t writer; /* thread that has claimed the slot; 0: nobody */
};

/* The calling thread becomes the writer of the slot, or (free) nobody is it: debug builds then abort when another
 * thread counts there. Before the threads start and after they have ended a slot is free. */
void tally_claim(struct tally *t);
void tally_free(struct tally *t);
/* Whether the calling thread may count in it. */
bool tally_is_mine(const struct tally *t);

static inline void tally_add(struct tally *t, unsigned cell, uint64_t n)
{
	MUST_HOT(cell < TALLY_CELLS && tally_is_mine(t));
	uint64_t now = __atomic_load_n(&t->cells[cell], __ATOMIC_RELAXED);
	__atomic_store_n(&t->cells[cell], now + n, __ATOMIC_RELAXED);
}

static inline void tally_inc(struct tally *t, unsigned cell)
{
	tally_add(t, cell, 1);
}

static inline void tally_set(struct tally *t, unsigned cell, uint64_t value)
{
	MUST_HOT(cell < TALLY_CELLS && tally_is_mine(t));
	__atomic_store_n(&t->cells[cell], value, __ATOMIC_RELAXED);
}

static inline uint64_t tally_get(const struct tally *t, unsigned cell)
{
	return __atomic_load_n(&t->cells[cell], __ATOMIC_RELAXED);
}

/* The cell of http_requests_total{route,method,status}. */
static inline unsigned tally_http_cell(
	enum label_route route, enum label_method method, enum label_status status)
{
	return TALLY_HTTP_REQUESTS +
	       ((unsigned)route * TALLY_SET_METHOD + (unsigned)method) * TALLY_SET_STATUS +
	       (unsigned)status;
}

/* The cell of protocol_packets_total{protocol,dir}. */
static inline unsigned tally_protocol_cell(enum label_protocol protocol, enum label_dir dir)
{
	return TALLY_PROTOCOL_PACKETS + (unsigned)protocol * TALLY_SET_DIR + (unsigned)dir;
}

/* Adds one observation; first_cell is the histogram's, already moved to its label (label *
 * HIST_CELLS). */
void tally_observe(struct tally *t, unsigned first_cell, uint64_t value_ns);

/* The same, `count` times. */
void tally_observe_many(struct tally *t, unsigned first_cell, uint64_t value_ns, uint64_t count);

/* Adds `delta` (may be negative) to a gauge. */
void tally_shift(struct tally *t, unsigned cell, int64_t delta);

/* Frees a slot and zeroes its gauges: what a process that died has left. */
void tally_reset_gauges(struct tally *t);

/* Sum of a cell over all slots. */
uint64_t tally_sum(const struct tally slots[TALLY_SLOTS], unsigned cell);

#endif
