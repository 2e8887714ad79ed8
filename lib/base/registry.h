/* registry: the tables of config/<name>.def as enums, constants and read-only arrays.
 * A number or a name with a meaning stands in one .def file and reaches the code through here. */
#ifndef LIB_BASE_REGISTRY_H
#define LIB_BASE_REGISTRY_H

#include "lib/base/base.h"

/* LIMIT_<ID>: the fixed limits. */
#define LIMIT(id, value, unit, when_hit, why) LIMIT_##id = (value),
enum limit_value {
#include "config/limits.def"
};
#undef LIMIT

struct limit_info {
	const char *name;
	uint64_t value;
	const char *unit;
	const char *when_hit;
	const char *why;
};
extern const struct limit_info limit_infos[];
extern const unsigned limit_count;

/* QUEUE_<ID>: the queues. */
enum queue_id {
#define QUEUE(id, ...) QUEUE_##id,
#include "config/queues.def"
#undef QUEUE
	QUEUE_COUNT
};

/* QUEUE_CAPACITY_<ID>: usable slots. */
enum queue_capacity {
#define QUEUE(id, name, owner, producers, consumers, capacity, policy, metric) \
	QUEUE_CAPACITY_##id = (capacity),
#include "config/queues.def"
#undef QUEUE
};

enum queue_policy {
	QUEUE_POLICY_REJECT,
	QUEUE_POLICY_SKIP,
	QUEUE_POLICY_BUDGET,
	QUEUE_POLICY_OVERWRITE,
	QUEUE_POLICY_LAST_WRITE,
	QUEUE_POLICY_RESERVED,
};

struct queue_info {
	const char *name;
	const char *owner;
	const char *producers;
	const char *consumers;
	uint32_t capacity;
	enum queue_policy policy;
	const char *policy_name; /* as in the .def, lower case */
	const char *metric;
};
extern const struct queue_info queue_infos[QUEUE_COUNT];

/* ERR_<ID>: the error answers. ERR_NONE is "no error". */
enum err_id {
	ERR_NONE,
#define ERROR(id, status, code, message) ERR_##id,
#include "config/errors.def"
#undef ERROR
	ERR_COUNT
};

struct err_info {
	uint16_t status;
	const char *code;
	const char *message;
};
extern const struct err_info err_infos[ERR_COUNT];

/* REASON_<ID>: why something was turned away. */
enum reason_id {
#define REASON(id, label, meaning) REASON_##id,
#include "config/reasons.def"
#undef REASON
	REASON_COUNT
};

struct reason_info {
	const char *label;
	const char *meaning;
};
extern const struct reason_info reason_infos[REASON_COUNT];

static_assert((int)LIMIT_OBJECT_CHUNKS * (int)LIMIT_CHUNK_BYTES == (int)LIMIT_BODY_BYTES,
	"a body is a whole number of chunks");
static_assert((int)LIMIT_JOBS_PER_LCORE <= (int)QUEUE_CAPACITY_DONE,
	"every job has a place to return to");
static_assert((int)LIMIT_NET_RX_BLOCK_BYTES > (int)LIMIT_HTTP_HEAD_BYTES,
	"a receive block holds a whole head");
static_assert((int)LIMIT_NET_TX_SPANS > (int)LIMIT_OBJECT_CHUNKS, "a whole object can be queued");

#endif
