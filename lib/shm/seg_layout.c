#include "lib/shm/seg_layout.h"

#include <rte_ring_core.h>

#include "lib/shm/seg.h"

/* FNV-1a: not against attackers, only against two builds meeting. */
static uint64_t mix_number(uint64_t hash, uint64_t value)
{
	for (unsigned i = 0; i < sizeof(value); i++)
		hash = (hash ^ (value >> (8 * i) & 0xff)) * 0x100000001b3ull;
	return hash;
}

static uint64_t mix_text(uint64_t hash, const char *text)
{
	for (; *text != '\0'; text++)
		hash = (hash ^ (uint8_t)*text) * 0x100000001b3ull;
	return mix_number(hash, 0);
}

static uint64_t mix_part(uint64_t hash, const char *name, uint64_t offset, uint64_t size)
{
	return mix_number(mix_number(mix_text(hash, name), offset), size);
}

#define PART(type, member) \
	hash = mix_part( \
		hash, #type "." #member, offsetof(type, member), sizeof(((type *)NULL)->member))

static uint64_t mix_parts(uint64_t hash)
{
	PART(struct seg, header);
	PART(struct seg, hearts);
	PART(struct seg, shutdown);
	PART(struct seg, conf);
	PART(struct seg, ready);
	PART(struct seg, tally);
	PART(struct seg, events);
	PART(struct seg, rings);
	PART(struct seg, ask);
	PART(struct seg, lcore_count);
	PART(struct seg, lcore_cpu);
	PART(struct seg, capture);
	PART(struct capture, conf);
	PART(struct capture, rings);
	PART(struct capture_conf, filter);
	PART(struct capture_ring, slots);
	PART(struct capture_record, data);
	PART(struct seg_rings, storage_work);
	PART(struct seg_rings, done);
	PART(struct seg_heart, beat_ns);
	PART(struct seg_heart, start_ns);
	PART(struct seg_heart, generation);
	PART(struct seg_heart, pid);
	PART(struct seg_heart, state);
	PART(struct seg_heart, log_depth);
	PART(struct seg_ready, missing);
	PART(struct seg_ready, reasons);
	PART(struct seg_ask, asked);
	PART(struct seg_ask, cursor);
	PART(struct seg_ask, answered);
	PART(struct seg_ask, next_cursor);
	PART(struct seg_ask, row);
	PART(struct ask_conn, peer);
	PART(struct ask_conn, state);
	PART(struct ask_conn, rtt_us);
	PART(struct ask_conn, cwnd_bytes);
	PART(struct ask_conn, retrans);
	PART(struct ask_conn, tcp);
	PART(struct seg_job_ref, lcore);
	PART(struct seg_job_ref, index);
	PART(struct event, text);
	PART(struct event_slot, words);
	PART(struct tally, writer);
	PART(struct rte_ring, prod);
	PART(struct rte_ring, cons);
	return mix_number(hash, EVENT_KIND_COUNT);
}

static uint64_t mix_conf(uint64_t hash)
{
	hash = mix_number(hash, sizeof(struct conf));
#define CONF_NUM(section, key, ...)  PART(struct conf, section##_##key);
#define CONF_BOOL(section, key, ...) PART(struct conf, section##_##key);
#define CONF_ENUM(section, key, def, choices, ...) \
	PART(struct conf, section##_##key); \
	hash = mix_text(hash, choices);
#define CONF_STR(section, key, ...)  PART(struct conf, section##_##key);
#define CONF_LIST(section, key, ...) PART(struct conf, section##_##key);
#include "config/conf.def"
#undef CONF_NUM
#undef CONF_BOOL
#undef CONF_ENUM
#undef CONF_STR
#undef CONF_LIST
	return hash;
}

static uint64_t mix_registries(uint64_t hash)
{
	for (unsigned i = 0; i < limit_count; i++)
		hash = mix_part(hash, limit_infos[i].name, i, limit_infos[i].value);
	for (unsigned i = 0; i < QUEUE_COUNT; i++)
		hash = mix_part(hash, queue_infos[i].name, i, queue_infos[i].capacity);
	for (unsigned i = 0; i < REASON_COUNT; i++)
		hash = mix_text(hash, reason_infos[i].label);
	for (unsigned i = 0; i < METRIC_COUNT; i++) {
		const struct metric_info *m = &metric_infos[i];
		hash = mix_part(hash, m->name, m->first_cell, m->type);
		for (unsigned k = 0; k < ARRAY_LEN(m->sets); k++) {
			for (unsigned j = 0; j < m->sets[k]->count; j++)
				hash = mix_text(hash, m->sets[k]->texts[j]);
		}
	}
	for (unsigned i = 0; i < HIST_BUCKETS; i++)
		hash = mix_number(hash, tally_hist_bounds_ns[i]);
	return hash;
}

uint64_t seg_layout_hash(void)
{
	return mix_registries(mix_conf(mix_parts(0xcbf29ce484222325ull)));
}
