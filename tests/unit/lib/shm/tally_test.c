#include "lib/shm/tally.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/unit.h"

static struct tally slots[TALLY_SLOTS];

static unsigned cells_of(const struct metric_info *m)
{
	static const unsigned widths[] = {1, 1, HIST_CELLS, 0};
	return widths[m->type] * m->sets[0]->count * m->sets[1]->count * m->sets[2]->count;
}

/* the names are the contract; cells neither overlap nor leave gaps; label sets are bounded. */
static void metrics_are_whole(void)
{
	static const char *const names[] = {"http_requests_total", "request_latency_seconds",
		"inflight_requests", "rejected_total", "queue_depth", "queue_dropped_total",
		"busy_rejections_total", "io_timeouts_total", "tasks_spawned_total",
		"tasks_aborted_total", "tasks_canceled_total", "bus_lagged_total",
		"backoff_retries_total", "amnesia_mode", "build_info", "lcore_busy_ratio",
		"packets_total", "drops_total", "tcp_events_total", "protocol_packets_total"};
	for (unsigned i = 0; i < ARRAY_LEN(names); i++) {
		unsigned found = 0;
		for (unsigned m = 0; m < METRIC_COUNT; m++)
			found += strcmp(metric_infos[m].name, names[i]) == 0;
		CU_ASSERT_EQUAL(found, 1);
	}
	unsigned next = 0;
	for (unsigned m = 0; m < METRIC_COUNT; m++) {
		CU_ASSERT_EQUAL(metric_infos[m].first_cell, next);
		next += cells_of(&metric_infos[m]);
		for (unsigned k = 0; k < 3; k++) {
			const struct label_set *set = metric_infos[m].sets[k];
			CU_ASSERT(set->count > 0 && (set->name != NULL || set->count == 1));
			for (unsigned j = 0; j < set->count; j++)
				CU_ASSERT_PTR_NOT_NULL(set->texts[j]);
		}
	}
	CU_ASSERT_EQUAL(next, TALLY_CELLS);
}

static void protocol_cell_is_row_major(void)
{
	const struct metric_info *m = &metric_infos[METRIC_PROTOCOL_PACKETS];
	unsigned offset = tally_protocol_cell(LABEL_PROTOCOL_ICMP, LABEL_DIR_TX) - m->first_cell;
	CU_ASSERT_STRING_EQUAL(m->sets[0]->texts[offset / TALLY_SET_DIR], "icmp");
	CU_ASSERT_STRING_EQUAL(m->sets[1]->texts[offset % TALLY_SET_DIR], "tx");
	CU_ASSERT_EQUAL(tally_protocol_cell(TALLY_SET_PROTOCOL - 1, TALLY_SET_DIR - 1),
		TALLY_LAST_PROTOCOL_PACKETS);
}

/* The names of the engine's counts reach the metric from the one place they stand in. */
static void tcp_events_are_the_counts(void)
{
	const struct metric_info *m = &metric_infos[METRIC_TCP_EVENTS];
	CU_ASSERT_TRUE(m->per_slot);
	CU_ASSERT_STRING_EQUAL(m->sets[0]->name, "event");
	CU_ASSERT_STRING_EQUAL(m->sets[0]->texts[LABEL_EVENT_RETRANS], "retrans");
	CU_ASSERT_EQUAL(TALLY_TCP_EVENTS + TALLY_SET_EVENT - 1, TALLY_LAST_TCP_EVENTS);
}

static void http_cell_is_row_major(void)
{
	const struct metric_info *m = &metric_infos[METRIC_HTTP_REQUESTS];
	unsigned cell = tally_http_cell(LABEL_ROUTE_READYZ, LABEL_METHOD_HEAD, LABEL_STATUS_503);
	unsigned offset = cell - m->first_cell;
	CU_ASSERT_STRING_EQUAL(m->sets[2]->texts[offset % TALLY_SET_STATUS], "503");
	offset /= TALLY_SET_STATUS;
	CU_ASSERT_STRING_EQUAL(m->sets[1]->texts[offset % TALLY_SET_METHOD], "HEAD");
	offset /= TALLY_SET_METHOD;
	CU_ASSERT_STRING_EQUAL(m->sets[0]->texts[offset], "/readyz");
	unsigned last =
		tally_http_cell(TALLY_SET_ROUTE - 1, TALLY_SET_METHOD - 1, TALLY_SET_STATUS - 1);
	CU_ASSERT_EQUAL(last, TALLY_LAST_HTTP_REQUESTS);
	CU_ASSERT_STRING_EQUAL(m->sets[0]->name, "route");
	CU_ASSERT_STRING_EQUAL(metric_infos[METRIC_BUSY_REJECTIONS].sets[0]->name, "endpoint");
}

static void counters_add_over_slots(void)
{
	memset(slots, 0, sizeof(slots));
	for (unsigned i = 0; i < TALLY_SLOTS; i++)
		tally_add(&slots[i], TALLY_BUS_LAGGED, i + 1);
	CU_ASSERT_EQUAL(tally_sum(slots, TALLY_BUS_LAGGED), TALLY_SLOTS * (TALLY_SLOTS + 1) / 2);
	tally_inc(&slots[0], TALLY_BUS_LAGGED);
	CU_ASSERT_EQUAL(tally_get(&slots[0], TALLY_BUS_LAGGED), 2);
}

/* A gauge that one slot raises and another lowers is right in the sum. */
static void gauges_shift_both_ways(void)
{
	memset(slots, 0, sizeof(slots));
	tally_shift(&slots[0], TALLY_INFLIGHT_REQUESTS, 5);
	tally_shift(&slots[1], TALLY_INFLIGHT_REQUESTS, -2);
	CU_ASSERT_EQUAL(tally_sum(slots, TALLY_INFLIGHT_REQUESTS), 3);
}

static void only_gauges_are_reset(void)
{
	memset(slots, 0, sizeof(slots));
	for (unsigned cell = 0; cell < TALLY_CELLS; cell++)
		tally_set(&slots[0], cell, 1);
	tally_reset_gauges(&slots[0]);
	for (unsigned m = 0; m < METRIC_COUNT; m++) {
		for (unsigned i = 0; i < cells_of(&metric_infos[m]); i++)
			CU_ASSERT_EQUAL(tally_get(&slots[0], metric_infos[m].first_cell + i),
				metric_infos[m].type != METRIC_GAUGE);
	}
}

/* Bounds are inclusive, as Prometheus' `le` is. */
static void histogram_bounds(void)
{
	memset(slots, 0, sizeof(slots));
	CU_ASSERT_EQUAL(tally_hist_bounds_ns[0], 10000);
	CU_ASSERT_EQUAL(tally_hist_bounds_ns[HIST_BUCKETS - 2], 10000000000ull);
	unsigned first = TALLY_REQUEST_LATENCY + LABEL_ROUTE_OTHER * HIST_CELLS;
	uint64_t sum = 0;
	for (unsigned b = 0; b < HIST_BUCKETS - 1; b++) {
		uint64_t bound = tally_hist_bounds_ns[b];
		CU_ASSERT(bound < tally_hist_bounds_ns[b + 1]);
		tally_observe(&slots[0], first, bound);
		CU_ASSERT_EQUAL(tally_get(&slots[0], first + b), b == 0 ? 1 : 2);
		tally_observe(&slots[0], first, bound + 1);
		CU_ASSERT_EQUAL(tally_get(&slots[0], first + b + 1), 1);
		sum += 2 * bound + 1;
	}
	CU_ASSERT_EQUAL(tally_get(&slots[0], first + HIST_BUCKETS), sum);
	tally_observe(&slots[0], first, 0);
	CU_ASSERT_EQUAL(tally_get(&slots[0], first), 2);
	tally_observe(&slots[0], first, UINT64_MAX);
	CU_ASSERT_EQUAL(tally_get(&slots[0], first + HIST_BUCKETS - 1), 2);
}

static void *count_once(void *slot)
{
	tally_inc(slot, TALLY_BUS_LAGGED);
	return NULL;
}

/* Whether a process ends by abort when a thread of it counts in a slot that its main thread has claimed, or freed. */
static bool second_writer_aborts(bool frees)
{
	pid_t pid = fork();
	if (pid == 0) {
		pthread_t thread;
		MUST(freopen("/dev/null", "w", stderr) != NULL);
		tally_claim(&slots[0]);
		tally_inc(&slots[0], TALLY_BUS_LAGGED);
		if (frees)
			tally_free(&slots[0]);
		MUST(pthread_create(&thread, NULL, count_once, &slots[0]) == 0);
		pthread_join(thread, NULL);
		_exit(0);
	}
	int status = 0;
	MUST(waitpid(pid, &status, 0) == pid);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

/* debug builds assert who writes. */
static void one_writer(void)
{
#ifdef MILLRACE_MUST_HOT
	CU_ASSERT(second_writer_aborts(false));
#endif
	CU_ASSERT(!second_writer_aborts(true));
}

static const struct unit_case cases[] = {
	{"metrics are whole", metrics_are_whole},
	{"http cells are row-major", http_cell_is_row_major},
	{"protocol cells are row-major", protocol_cell_is_row_major},
	{"tcp events are the counts", tcp_events_are_the_counts},
	{"counters add over slots", counters_add_over_slots},
	{"gauges shift both ways", gauges_shift_both_ways},
	{"only gauges are reset", only_gauges_are_reset},
	{"histogram bounds", histogram_bounds},
	{"one writer", one_writer},
};

UNIT_MAIN("shm.tally", cases)
