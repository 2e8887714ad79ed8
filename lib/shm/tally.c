#include "lib/shm/tally.h"

#include <unistd.h>

const uint64_t tally_hist_bounds_ns[HIST_BUCKETS] = {
	10000ull,
	20000ull,
	50000ull,
	100000ull,
	200000ull,
	500000ull,
	1000000ull,
	2000000ull,
	5000000ull,
	10000000ull,
	20000000ull,
	50000000ull,
	100000000ull,
	200000000ull,
	500000000ull,
	1000000000ull,
	2000000000ull,
	5000000000ull,
	10000000000ull,
	UINT64_MAX,
};

static const char *const none_texts[] = {""};
static const char *const route_texts[] = {
#define LABEL_ROUTE(id, text) text,
#include "config/labels.def"
};
static const char *const method_texts[] = {
#define LABEL_METHOD(id, text) text,
#include "config/labels.def"
};
static const char *const status_texts[] = {
#define LABEL_STATUS(id, text) text,
#include "config/labels.def"
};
static const char *const kind_texts[] = {
#define LABEL_KIND(id, text) text,
#include "config/labels.def"
};
static const char *const op_texts[] = {
#define LABEL_OP(id, text) text,
#include "config/labels.def"
};
static const char *const port_texts[] = {
#define LABEL_PORT(id, text) text,
#include "config/labels.def"
};
static const char *const dir_texts[] = {
#define LABEL_DIR(id, text) text,
#include "config/labels.def"
};
static const char *const protocol_texts[] = {
#define LABEL_PROTOCOL(id, text) text,
#include "config/labels.def"
};
static const char *const event_texts[] = {
#define TCP_COUNT(id, name, meaning) name,
#include "config/tcp_count.def"
#undef TCP_COUNT
};
static const char *const queue_texts[] = {
#define QUEUE(id, name, ...) name,
#include "config/queues.def"
#undef QUEUE
};
static const char *const reason_texts[] = {
#define REASON(id, label, meaning) label,
#include "config/reasons.def"
#undef REASON
};

static const struct label_set set_NONE = {NULL, 1, none_texts};
static const struct label_set set_ROUTE = {"route", TALLY_SET_ROUTE, route_texts};
static const struct label_set set_ENDPOINT = {"endpoint", TALLY_SET_ENDPOINT, route_texts};
static const struct label_set set_METHOD = {"method", TALLY_SET_METHOD, method_texts};
static const struct label_set set_STATUS = {"status", TALLY_SET_STATUS, status_texts};
static const struct label_set set_KIND = {"kind", TALLY_SET_KIND, kind_texts};
static const struct label_set set_OP = {"op", TALLY_SET_OP, op_texts};
static const struct label_set set_PORT = {"where", TALLY_SET_PORT, port_texts};
static const struct label_set set_DIR = {"dir", TALLY_SET_DIR, dir_texts};
static const struct label_set set_PROTOCOL = {"protocol", TALLY_SET_PROTOCOL, protocol_texts};
static const struct label_set set_EVENT = {"event", TALLY_SET_EVENT, event_texts};
static const struct label_set set_QUEUE = {"queue", TALLY_SET_QUEUE, queue_texts};
static const struct label_set set_REASON = {"reason", TALLY_SET_REASON, reason_texts};

#define IS_PER_SLOT_SUM	     false
#define IS_PER_SLOT_PER_SLOT true

const struct metric_info metric_infos[METRIC_COUNT] = {
#define METRIC(id, type, name, scope, s1, s2, s3, help) \
	{name, METRIC_##type, IS_PER_SLOT_##scope, {&set_##s1, &set_##s2, &set_##s3}, TALLY_##id, \
		help},
#include "config/metrics.def"
#undef METRIC
};

static uint64_t self(void)
{
	static _Thread_local uint64_t
		tid; /* the system call would be seen, even in a debug build */
	if (tid == 0)
		tid = (uint64_t)gettid();
	return tid;
}

void tally_claim(struct tally *t)
{
	__atomic_store_n(&t->writer, self(), __ATOMIC_RELAXED);
}

void tally_free(struct tally *t)
{
	__atomic_store_n(&t->writer, 0, __ATOMIC_RELAXED);
}

bool tally_is_mine(const struct tally *t)
{
	uint64_t writer = __atomic_load_n(&t->writer, __ATOMIC_RELAXED);
	return writer == 0 || writer == self();
}

void tally_observe(struct tally *t, unsigned first_cell, uint64_t value_ns)
{
	tally_observe_many(t, first_cell, value_ns, 1);
}

void tally_observe_many(struct tally *t, unsigned first_cell, uint64_t value_ns, uint64_t count)
{
	unsigned bucket = 0;
	while (value_ns > tally_hist_bounds_ns[bucket])
		bucket++;
	tally_add(t, first_cell + bucket, count);
	tally_add(t, first_cell + HIST_BUCKETS, value_ns * count);
}

void tally_shift(struct tally *t, unsigned cell, int64_t delta)
{
	tally_add(t, cell, (uint64_t)delta);
}

void tally_reset_gauges(struct tally *t)
{
	tally_free(t);
	for (unsigned m = 0; m < METRIC_COUNT; m++) {
		const struct metric_info *info = &metric_infos[m];
		if (info->type != METRIC_GAUGE)
			continue;
		unsigned cells = info->sets[0]->count * info->sets[1]->count * info->sets[2]->count;
		for (unsigned i = 0; i < cells; i++)
			tally_set(t, info->first_cell + i, 0);
	}
}

uint64_t tally_sum(const struct tally slots[TALLY_SLOTS], unsigned cell)
{
	uint64_t sum = 0;
	for (unsigned slot = 0; slot < TALLY_SLOTS; slot++)
		sum += tally_get(&slots[slot], cell);
	return sum;
}
