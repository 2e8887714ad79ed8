#include "controlplane/metrics/exposition.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/controlplane/rig.h"
#include "tests/unit/unit.h"

static char memory[LIMIT_EXPORTER_PAGE_BYTES];

static const char *render(const struct rig *r, const struct sample *sample)
{
	struct page page;
	struct exposition e = {
		.seg = r->seg, .sample = sample, .is_amnesia = true, .version = "1.2.3 (abc\"def)"};
	page_init(&page, memory, sizeof(memory));
	exposition_print(&page, &e);
	CU_ASSERT_FALSE(page.is_cut);
	return memory;
}

static bool has(const char *text, const char *block)
{
	return strstr(text, block) != NULL;
}

static void counters_and_gauges(void) /* X-20 */
{
	struct rig r;
	struct sample sample = {0};
	rig_init(&r);
	unsigned get200 = tally_http_cell(LABEL_ROUTE_OBJECT, LABEL_METHOD_GET, LABEL_STATUS_200);
	unsigned put404 = tally_http_cell(LABEL_ROUTE_OTHER, LABEL_METHOD_PUT, LABEL_STATUS_404);
	tally_add(&r.seg->tally[0], get200, 3);
	tally_add(&r.seg->tally[1], get200, 4);
	tally_add(&r.seg->tally[0], put404, 1);
	tally_add(&r.seg->tally[TALLY_SLOT_CONTROL], TALLY_BUS_LAGGED, 9);
	tally_shift(&r.seg->tally[0], TALLY_INFLIGHT_REQUESTS + LABEL_ROUTE_OBJECT, 2);
	tally_shift(&r.seg->tally[1], TALLY_INFLIGHT_REQUESTS + LABEL_ROUTE_OBJECT, -3);
	const char *text = render(&r, &sample);
	/* Three label sets: only what is not zero; summed over the slots. */
	CU_ASSERT(has(text, "# HELP http_requests_total Requests answered.\n"
			    "# TYPE http_requests_total counter\n"
			    "http_requests_total{route=\"/o\",method=\"GET\",status=\"200\"} 7\n"
			    "http_requests_total{route=\"other\",method=\"PUT\",status=\"404\"} 1\n"
			    "# HELP request_latency_seconds "));
	/* One label set: all of it, also what is zero; gauges may be below zero for a moment. */
	CU_ASSERT(has(text, "# TYPE inflight_requests gauge\n"
			    "inflight_requests{route=\"/o\"} -1\n"
			    "inflight_requests{route=\"/healthz\"} 0\n"));
	CU_ASSERT(has(text, "\nbus_lagged_total 9\n"));
	CU_ASSERT(has(text, "\nio_timeouts_total{op=\"read\"} 0\n"));
	CU_ASSERT(has(text, "\nbusy_rejections_total{endpoint=\"/o\"} 0\n"));
	CU_ASSERT(has(text, "\nrejected_total{reason=\"conn_cap\"} 0\n"));
	rig_fini(&r);
}

static void histogram(void) /* X-20 */
{
	struct rig r;
	struct sample sample = {0};
	rig_init(&r);
	unsigned first = TALLY_REQUEST_LATENCY + LABEL_ROUTE_HEALTHZ * HIST_CELLS;
	tally_observe(&r.seg->tally[0], first, tally_hist_bounds_ns[0]);
	tally_observe(&r.seg->tally[1], first, tally_hist_bounds_ns[0] + 1);
	tally_observe(&r.seg->tally[2], first, 3000000000000ull);
	const char *text = render(&r, &sample);
	char want[256];
	snprintf(want, sizeof(want),
		"request_latency_seconds_bucket{route=\"/healthz\",le=\"%.9g\"} 1\n"
		"request_latency_seconds_bucket{route=\"/healthz\",le=\"%.9g\"} 2\n",
		(double)tally_hist_bounds_ns[0] / 1e9, (double)tally_hist_bounds_ns[1] / 1e9);
	CU_ASSERT(has(text, want));
	uint64_t sum = 2 * tally_hist_bounds_ns[0] + 1 + 3000000000000ull;
	snprintf(want, sizeof(want),
		"request_latency_seconds_bucket{route=\"/healthz\",le=\"+Inf\"} 3\n"
		"request_latency_seconds_sum{route=\"/healthz\"} %llu.%09llu\n"
		"request_latency_seconds_count{route=\"/healthz\"} 3\n",
		(unsigned long long)(sum / 1000000000), (unsigned long long)(sum % 1000000000));
	CU_ASSERT(has(text, want));
	CU_ASSERT(has(text, "request_latency_seconds_count{route=\"/o\"} 0\n"));
	rig_fini(&r);
}

static void lcores(void) /* X-20 */
{
	struct rig r;
	struct sample sample = {.busy_ratio = {0.25, 1}};
	rig_init(&r);
	CU_ASSERT_FALSE(has(render(&r, &sample), "lcore=\""));
	rig_start_dataplane(&r);
	tally_add(&r.seg->tally[0], TALLY_LCORE_BUSY, 1500000007);
	tally_add(&r.seg->tally[1], TALLY_PACKETS + LABEL_DIR_TX, 8);
	const char *text = render(&r, &sample);
	CU_ASSERT(has(text, "\nlcore_busy_seconds_total{lcore=\"0\"} 1.500000007\n"
			    "lcore_busy_seconds_total{lcore=\"1\"} 0.000000000\n#"));
	CU_ASSERT(has(text, "\nlcore_busy_ratio{lcore=\"0\"} 0.2500\n"
			    "lcore_busy_ratio{lcore=\"1\"} 1.0000\n#"));
	CU_ASSERT(has(text, "packets_total{lcore=\"1\",dir=\"rx\"} 0\n"
			    "packets_total{lcore=\"1\",dir=\"tx\"} 8\n#"));
	rig_fini(&r);
}

static void derived(void) /* X-1, X-20 */
{
	struct rig r;
	struct sample sample = {0};
	rig_init(&r);
	sample.depth[QUEUE_STORAGE_WORK] = 512;
	const char *text = render(&r, &sample);
	CU_ASSERT(has(text, "\nqueue_depth{queue=\"storage.work\"} 512\n"));
	CU_ASSERT(has(text, "\nqueue_capacity{queue=\"storage.work\"} 512\n"));
	CU_ASSERT(has(text, "\nqueue_capacity{queue=\"dht.route[bucket]\"} 1024\n"));
	CU_ASSERT(has(text, "\namnesia_mode 1\n"));
	CU_ASSERT(has(text, "\nbuild_info{version=\"1.2.3\",commit=\"abc\\\"def\"} 1\n"));
	CU_ASSERT(has(text, "\nready 0\n") && has(text, "\ndegraded 1\n"));
	CU_ASSERT(has(text, "\nprocess_up{process=\"dataplane\"} 0\n"
			    "process_up{process=\"controlplane\"} 1\n"));
	rig_start_dataplane(&r);
	text = render(&r, &sample);
	CU_ASSERT(has(text, "\nready 1\n") && has(text, "\ndegraded 0\n"));
	CU_ASSERT(has(text, "\nprocess_up{process=\"dataplane\"} 1\n"));
	rig_fini(&r);
}

static void every_metric_is_there(void) /* X-20 */
{
	struct rig r;
	struct sample sample = {0};
	rig_init(&r);
	rig_start_dataplane(&r);
	const char *text = render(&r, &sample);
	for (int i = 0; i < METRIC_COUNT; i++) {
		char want[128];
		snprintf(want, sizeof(want), "\n%s", metric_infos[i].name);
		CU_ASSERT(has(text, want));
	}
	rig_fini(&r);
}

static const struct unit_case cases[] = {
	{"counters_and_gauges", counters_and_gauges},
	{"histogram", histogram},
	{"lcores", lcores},
	{"derived", derived},
	{"every_metric_is_there", every_metric_is_there},
};
UNIT_MAIN("controlplane/metrics/exposition", cases)
