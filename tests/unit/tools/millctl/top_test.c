#include "tools/millctl/top.h"

#include "tests/unit/unit.h"

static json_t *traffic(int requests, int fast, int slow, int endless)
{
	return json_pack("{s:i, s:i, s:i, s:[{s:i, s:i}, {s:i, s:i}, {s:n, s:i}]}",
		"requests_total", requests, "rx_bytes_total", requests * 10, "tx_bytes_total",
		requests * 100, "latency", "up_to_ns", 1000, "count", fast, "up_to_ns", 2000,
		"count", slow, "up_to_ns", "count", endless);
}

static void rates(const struct top_rates *want, json_t *take_before, json_t *take_after, double s)
{
	struct top_rates have;
	top_rates(&have, take_before, take_after, s);
	CU_ASSERT_DOUBLE_EQUAL(have.requests_s, want->requests_s, 0.001);
	CU_ASSERT_DOUBLE_EQUAL(have.rx_bytes_s, want->rx_bytes_s, 0.001);
	CU_ASSERT_DOUBLE_EQUAL(have.tx_bytes_s, want->tx_bytes_s, 0.001);
	CU_ASSERT_EQUAL(have.p50_ns, want->p50_ns);
	CU_ASSERT_EQUAL(have.p99_ns, want->p99_ns);
	json_decref(take_before);
	json_decref(take_after);
}

static void between_two_looks(void)
{
	rates(&(struct top_rates){50, 500, 5000, 1000, 2000}, traffic(100, 90, 10, 0),
		traffic(200, 188, 12, 0), 2);
	rates(&(struct top_rates){100, 1000, 10000, 2000, UINT64_MAX}, traffic(0, 0, 0, 0),
		traffic(100, 40, 50, 10), 1);
}

static void idle_and_restarted(void)
{
	rates(&(struct top_rates){0}, traffic(100, 90, 10, 0), traffic(100, 90, 10, 0), 1);
	/* Counters that went back are those of a new segment. */
	rates(&(struct top_rates){0}, traffic(100, 90, 10, 0), traffic(0, 0, 0, 0), 1);
	rates(&(struct top_rates){0}, NULL, NULL, 0);
}

static const struct unit_case cases[] = {
	{"between_two_looks", between_two_looks},
	{"idle_and_restarted", idle_and_restarted},
};
UNIT_MAIN("tools/millctl/top", cases)
