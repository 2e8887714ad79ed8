#include "controlplane/ops/ops_view.h"

#include <stdio.h>
#include <time.h>

#include "controlplane/metrics/readiness.h"
#include "lib/base/version.h"
#include "lib/clock/clock.h"

enum { VALUE_TEXT = 1280 }; /* the longest list a key can hold, written out */

static json_t *number(uint64_t n)
{
	return json_integer((json_int_t)n);
}

/* Text that may have been cut inside a character, or quotes somebody's bytes. */
static json_t *text_view(const char *text)
{
	json_t *json = json_string(text);
	if (json != NULL)
		return json;
	char plain[VALUE_TEXT];
	snprintf(plain, sizeof(plain), "%s", text);
	for (char *c = plain; *c != '\0'; c++) {
		if (*c < 0x20 || *c > 0x7e)
			*c = '?';
	}
	return json_string(plain);
}

static json_t *process_view(const struct seg *seg, enum shm_process process)
{
	const struct seg_heart *heart = &seg->hearts[process];
	bool is_up = seg_is_alive(seg, process);
	uint64_t now_ns = clock_now_ns();
	uint64_t beat_ns = __atomic_load_n(&heart->beat_ns, __ATOMIC_ACQUIRE);
	uint32_t state = is_up ? __atomic_load_n(&heart->state, __ATOMIC_RELAXED) : SEG_STOPPED;
	uint64_t uptime_ms =
		is_up && now_ns > heart->start_ns ? (now_ns - heart->start_ns) / NS_PER_MS : 0;
	uint64_t beat_age_ms = is_up && now_ns > beat_ns ? (now_ns - beat_ns) / NS_PER_MS : 0;
	return json_pack("{s:s, s:b, s:i, s:s, s:o, s:o, s:o}", "process",
		shm_process_names[process], "up", is_up, "pid", is_up ? (int)heart->pid : 0,
		"state", seg_state_names[state <= SEG_DRAINING ? state : SEG_STOPPED], "generation",
		number(heart->generation), "uptime_ms", number(uptime_ms), "beat_age_ms",
		number(beat_age_ms));
}

static uint64_t sum_cells(const struct seg *seg, unsigned first, unsigned count)
{
	uint64_t sum = 0;
	for (unsigned i = 0; i < count; i++)
		sum += tally_sum(seg->tally, first + i);
	return sum;
}

static uint64_t sum_lcores(const struct seg *seg, unsigned cell)
{
	uint64_t sum = 0;
	for (unsigned i = 0; i < sample_lcores(seg); i++)
		sum += tally_get(&seg->tally[i], cell);
	return sum;
}

/* Latencies of all routes: how many answers took up to each bound; the last bound is infinite. */
static json_t *latency_view(const struct seg *seg)
{
	json_t *rows = json_array();
	for (unsigned b = 0; b < HIST_BUCKETS; b++) {
		uint64_t n = 0;
		for (unsigned route = 0; route < TALLY_SET_ROUTE; route++)
			n += tally_sum(seg->tally, TALLY_REQUEST_LATENCY + route * HIST_CELLS + b);
		json_t *bound =
			b == HIST_BUCKETS - 1 ? json_null() : number(tally_hist_bounds_ns[b]);
		json_array_append_new(
			rows, json_pack("{s:o, s:o}", "up_to_ns", bound, "count", number(n)));
	}
	return rows;
}

static json_t *traffic_view(const struct seg *seg)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "requests_total",
		number(sum_cells(seg, TALLY_HTTP_REQUESTS,
			TALLY_SET_ROUTE * TALLY_SET_METHOD * TALLY_SET_STATUS)),
		"inflight", number(sum_cells(seg, TALLY_INFLIGHT_REQUESTS, TALLY_SET_ROUTE)),
		"connections", number(sum_lcores(seg, TALLY_CONNS_OPEN)), "rejected_total",
		number(sum_cells(seg, TALLY_REJECTED, TALLY_SET_REASON)), "rx_bytes_total",
		number(sum_lcores(seg, TALLY_BYTES + LABEL_DIR_RX)), "tx_bytes_total",
		number(sum_lcores(seg, TALLY_BYTES + LABEL_DIR_TX)), "latency", latency_view(seg));
}

static json_t *storage_view(const struct seg *seg)
{
	return json_pack("{s:o, s:o, s:o, s:o}", "objects",
		number(tally_sum(seg->tally, TALLY_STORAGE_OBJECTS)), "chunks_used",
		number(tally_sum(seg->tally, TALLY_STORAGE_CHUNKS_USED)), "chunks_capacity",
		number(tally_sum(seg->tally, TALLY_STORAGE_CHUNKS_TOTAL)), "chunk_bytes",
		number(LIMIT_CHUNK_BYTES));
}

static const struct conf_key *key_of(const void *conf, const void *member)
{
	for (unsigned i = 0; i < conf_key_count; i++) {
		if (conf_keys[i].offset == (size_t)((const char *)member - (const char *)conf))
			return &conf_keys[i];
	}
	return NULL;
}

static json_t *value_view(const struct conf *c, const struct conf_key *key)
{
	char text[VALUE_TEXT];
	conf_print(c, key, text, sizeof(text));
	return text_view(text);
}

static json_t *node_view(const struct ops_env *env)
{
	const struct conf *c = &env->running->conf;
	json_t *listen = json_array();
	for (uint64_t i = 0; i < c->net_listen.count; i++)
		json_array_append_new(listen, json_string(c->net_listen.items[i]));
	return json_pack("{s:s, s:s, s:b, s:o, s:o}", "name", c->node_name, "version",
		version_string(), "amnesia", c->node_amnesia != 0, "backend",
		value_view(c, key_of(c, &c->net_backend)), "listen", listen);
}

static json_t *exporter_view(const struct ops_env *env)
{
	return json_pack("{s:s, s:b, s:s}", "listen", env->running->conf.exporter_listen, "up",
		exporter_is_up(env->exporter), "why", env->exporter->why);
}

json_t *ops_view_status(const struct ops_env *env)
{
	struct seg_ready ready;
	readiness_read(&ready, env->seg);
	json_t *processes = json_array();
	for (int p = 0; p < SHM_PROCESS_COUNT; p++)
		json_array_append_new(processes, process_view(env->seg, (enum shm_process)p));
	const char *path = env->running->input.path;
	json_t *status = json_pack("{s:o, s:o, s:o, s:o, s:o, s:{s:o, s:o}}", "node",
		node_view(env), "processes", processes, "traffic", traffic_view(env->seg),
		"storage", storage_view(env->seg), "exporter", exporter_view(env), "config", "path",
		path != NULL ? text_view(path) : json_null(), "version",
		number(env->running->version));
	json_t *word = readiness_json(&ready);
	json_object_update(status, word);
	json_decref(word);
	return status;
}

static bool is_built(struct seg *seg, enum queue_id q)
{
	return seg_ring(seg, q, 0) != NULL || q == QUEUE_EVENTS || q == QUEUE_CONFIG ||
	       q == QUEUE_SHUTDOWN || q == QUEUE_CAPTURE || q == QUEUE_LOG;
}

json_t *ops_view_queues(const struct ops_env *env)
{
	json_t *rows = json_array();
	for (int q = 0; q < QUEUE_COUNT; q++) {
		const struct queue_info *i = &queue_infos[q];
		json_array_append_new(rows,
			json_pack("{s:s, s:s, s:s, s:s, s:i, s:o, s:o, s:s, s:s, s:b}", "queue",
				i->name, "owner", i->owner, "producers", i->producers, "consumers",
				i->consumers, "capacity", (int)i->capacity, "depth",
				number(env->sample->depth[q]), "dropped",
				number(tally_sum(env->seg->tally, TALLY_QUEUE_DROPPED + q)),
				"policy", i->policy_name, "metric", i->metric, "in_use",
				is_built(env->seg, (enum queue_id)q)));
	}
	return rows;
}

static uint64_t slot_sum(const struct tally *t, unsigned first, unsigned count)
{
	uint64_t sum = 0;
	for (unsigned i = 0; i < count; i++)
		sum += tally_get(t, first + i);
	return sum;
}

json_t *ops_view_lcores(const struct ops_env *env)
{
	json_t *rows = json_array();
	for (unsigned i = 0; i < sample_lcores(env->seg); i++) {
		const struct tally *t = &env->seg->tally[i];
		json_array_append_new(rows,
			json_pack("{s:i, s:i, s:f, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
				"lcore", (int)i, "cpu", (int)env->seg->lcore_cpu[i], "busy_ratio",
				env->sample->busy_ratio[i], "connections",
				number(tally_get(t, TALLY_CONNS_OPEN)), "accepted_total",
				number(tally_get(t, TALLY_CONNS_ACCEPTED)), "requests_total",
				number(slot_sum(t, TALLY_HTTP_REQUESTS,
					TALLY_SET_ROUTE * TALLY_SET_METHOD * TALLY_SET_STATUS)),
				"rx_packets_total",
				number(tally_get(t, TALLY_PACKETS + LABEL_DIR_RX)),
				"tx_packets_total",
				number(tally_get(t, TALLY_PACKETS + LABEL_DIR_TX)),
				"rx_bytes_total", number(tally_get(t, TALLY_BYTES + LABEL_DIR_RX)),
				"tx_bytes_total", number(tally_get(t, TALLY_BYTES + LABEL_DIR_TX)),
				"drops_total", number(slot_sum(t, TALLY_DROPS, TALLY_SET_REASON))));
	}
	return rows;
}

/* The transport's part of a connection; null where the back end does not tell. */
static void add_tcp(json_t *row, const struct ask_conn *c)
{
	bool is_known = c->tcp[0] != '\0';
	json_object_set_new(row, "tcp", is_known ? text_view(c->tcp) : json_null());
	json_object_set_new(row, "rtt_us", is_known ? number(c->rtt_us) : json_null());
	json_object_set_new(row, "cwnd_bytes", is_known ? number(c->cwnd_bytes) : json_null());
	json_object_set_new(row, "retrans", is_known ? number(c->retrans) : json_null());
}

json_t *ops_view_conns(unsigned lcore, unsigned lcores, const struct ask_page *page)
{
	json_t *rows = json_array();
	for (uint32_t i = 0; i < page->rows; i++) {
		const struct ask_conn *c = &page->row[i];
		json_t *row = json_pack("{s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "lcore",
			(int)lcore, "id", number(c->id), "peer", text_view(c->peer), "state",
			text_view(c->state), "age_ms", number(c->age_ms), "idle_ms",
			number(c->idle_ms), "requests", number(c->requests), "rx_bytes",
			number(c->rx_bytes), "tx_bytes", number(c->tx_bytes));
		add_tcp(row, c);
		json_array_append_new(rows, row);
	}
	json_t *next = page->next_cursor == UINT32_MAX ? json_null() : number(page->next_cursor);
	return json_pack("{s:i, s:i, s:o, s:o}", "lcore", (int)lcore, "lcores", (int)lcores,
		"conns", rows, "next_cursor", next);
}

json_t *ops_view_event(const struct event *event)
{
	char when[40];
	time_t seconds = (time_t)(event->time_ns / NS_PER_S);
	struct tm tm;
	size_t len = strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%S", gmtime_r(&seconds, &tm));
	snprintf(when + len, sizeof(when) - len, ".%03lluZ",
		(unsigned long long)(event->time_ns / NS_PER_MS % 1000));
	return json_pack("{s:s, s:s, s:s, s:o}", "time", when, "kind",
		event->kind < EVENT_KIND_COUNT ? event_kind_names[event->kind] : "unknown",
		"process",
		event->process < SHM_PROCESS_COUNT ? shm_process_names[event->process] : "unknown",
		"text", text_view(event->text));
}

static json_t *key_view(const struct ops_env *env, unsigned i)
{
	static const char *const sources[] = {"default", "file", "environment", "flag"};
	const struct running *r = env->running;
	const struct conf_key *k = &conf_keys[i];
	char name[64], origin[48];
	enum conf_source source = (enum conf_source)r->origin.source[i];
	snprintf(name, sizeof(name), "%s.%s", k->section, k->key);
	if (source == CONF_FROM_FILE)
		snprintf(origin, sizeof(origin), "file line %u", r->origin.line[i]);
	else
		snprintf(origin, sizeof(origin), "%s", sources[source]);
	return json_pack("{s:s, s:o, s:s, s:s, s:s}", "key", name, "value", value_view(&r->conf, k),
		"origin", origin, "change", k->is_hot ? "hot" : "restart", "default", k->def);
}

json_t *ops_view_config(const struct ops_env *env)
{
	json_t *rows = json_array();
	for (unsigned i = 0; i < conf_key_count; i++)
		json_array_append_new(rows, key_view(env, i));
	return rows;
}

json_t *ops_view_diff(
	const struct conf *running, const struct conf *next, const struct running_change *change)
{
	json_t *rows = json_array();
	for (unsigned i = 0; i < change->count; i++) {
		const struct conf_key *k = &conf_keys[change->keys[i]];
		char name[64];
		snprintf(name, sizeof(name), "%s.%s", k->section, k->key);
		json_array_append_new(
			rows, json_pack("{s:s, s:o, s:o, s:s}", "key", name, "running",
				      value_view(running, k), "file", value_view(next, k), "change",
				      k->is_hot ? "hot" : "restart"));
	}
	return rows;
}

json_t *ops_view_errors(const struct conf_errors *errors)
{
	json_t *rows = json_array();
	for (unsigned i = 0; i < errors->count; i++)
		json_array_append_new(rows, text_view(errors->text[i]));
	return rows;
}
