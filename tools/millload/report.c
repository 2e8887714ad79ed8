#include "tools/millload/report.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/clock/clock.h"

static const struct {
	const char *name;
	uint32_t ppm;
} quantiles[] = {
	{"p50", 500000},
	{"p90", 900000},
	{"p99", 990000},
	{"p99_9", 999000},
	{"p99_99", 999900},
};

static double seconds_between(const struct run_mark *from, const struct run_mark *to)
{
	return (double)(to->at_ns - from->at_ns) / (double)NS_PER_S;
}

/* Datagrams that nobody answers count when they leave. */
static double rate_between(
	const struct run *r, const struct run_mark *from, const struct run_mark *to)
{
	double seconds = seconds_between(from, to);
	uint64_t count =
		r->env.options->is_one_way ? to->sent - from->sent : to->answered - from->answered;
	return seconds > 0 ? (double)count / seconds : 0;
}

static double us(uint64_t ns)
{
	return (double)ns / (double)NS_PER_US;
}

void report_line(const struct run *r, const struct run_mark *now)
{
	const struct histogram *h = &r->env.interval;
	fprintf(stderr, "%4u s%s  %9.0f/s  p50 %8.1f us  p99 %8.1f us  max %8.1f us", r->lines,
		r->phase == RUN_WARMUP ? " warm-up" : "", rate_between(r, &r->line, now),
		us(histogram_at(h, 500000)), us(histogram_at(h, 990000)), us(h->max));
	fprintf(stderr, "  %" PRIu64 " failed  %" PRIu64 " open", now->failed - r->line.failed,
		r->load->ops->open(r->load));
	if (r->env.pace.rate != 0)
		fprintf(stderr, "  %" PRIu64 " behind", pace_behind(&r->env.pace));
	fprintf(stderr, "\n");
}

bool report_is_good(const struct run *r)
{
	const struct account *a = &r->env.account;
	return account_failed(a) == 0 && r->in_flight == 0 && r->behind == 0 &&
	       a->idle_open == r->env.options->idle;
}

void report_why_nothing(const struct run *r, char *why, size_t why_size)
{
	const struct account *a = &r->env.account;
	const char *reason = "no connection was opened in time";
	uint64_t most = 0;
	for (unsigned i = 0; i < FAILURE_COUNT; i++) {
		if (a->conn_failed[i] <= most)
			continue;
		most = a->conn_failed[i];
		reason = account_failure_name((enum failure)i);
	}
	char at[ADDR_TEXT];
	addr_print(&r->env.options->targets[0].at, at);
	snprintf(why, why_size, "%s: %s%s", at, reason,
		backend_has_link(&r->backend) ? "" : "; the port has no link");
}

static const char *mode_of(const struct options *o)
{
	return o->rate != 0 ? "open loop" : "closed loop";
}

static void print_failures(const char *title, const uint64_t counts[FAILURE_COUNT])
{
	bool is_first = true;
	for (unsigned i = 0; i < FAILURE_COUNT; i++) {
		if (counts[i] == 0)
			continue;
		printf("%s%" PRIu64 " %s", is_first ? title : ", ", counts[i],
			account_failure_name((enum failure)i));
		is_first = false;
	}
	if (!is_first)
		printf("\n");
}

static void print_statuses(const struct account *a)
{
	printf("statuses    ");
	for (unsigned i = 0; i < ACCOUNT_STATUSES; i++) {
		if (a->status[i] != 0)
			printf(" %u: %" PRIu64, i, a->status[i]);
	}
	printf("\n");
}

static void print_latency(const struct histogram *h)
{
	if (h->count == 0)
		return;
	printf("latency      min %.1f us", us(h->min));
	for (unsigned i = 0; i < ARRAY_LEN(quantiles); i++)
		printf("  %s %.1f", quantiles[i].name, us(histogram_at(h, quantiles[i].ppm)));
	printf("  max %.1f  mean %.1f\n", us(h->max), us(histogram_mean(h)));
}

static void print_text(const struct run *r)
{
	const struct options *o = r->env.options;
	const struct account *a = &r->env.account;
	double seconds = seconds_between(&r->begin, &r->end);
	printf("%s, %" PRIu64 " connections, %.1f s\n", mode_of(o), o->connections, seconds);
	printf("requests     %" PRIu64 " sent = %" PRIu64 " answered + %" PRIu64
	       " failed + %" PRIu64 " in flight",
		a->sent, a->answered + a->one_way, account_failed(a), r->in_flight);
	if (o->rate != 0)
		printf("; %" PRIu64 " of the schedule not begun", r->behind);
	printf("\nrate         %.1f/s, %.3f Gbit/s of payload\n",
		rate_between(r, &r->begin, &r->end),
		seconds > 0 ? 8e-9 * (double)(r->end.body_bytes - r->begin.body_bytes) / seconds
			    : 0);
	print_latency(&r->env.latency);
	print_failures("failed       ", a->failed);
	if (a->failed[FAILURE_STATUS] != 0)
		print_statuses(a);
	print_failures("connections  ", a->conn_failed);
	if (o->idle != 0)
		printf("idle         %" PRIu64 " open, %" PRIu64 " failed, %" PRIu64 " lost\n",
			a->idle_open, a->idle_failed, a->idle_lost);
	if (a->stray != 0)
		printf("stray        %" PRIu64 " datagrams\n", a->stray);
}

static json_t *number(uint64_t n)
{
	return json_integer((json_int_t)n);
}

static json_t *failures_json(const uint64_t counts[FAILURE_COUNT])
{
	json_t *out = json_object();
	for (unsigned i = 0; i < FAILURE_COUNT; i++) {
		if (counts[i] != 0)
			json_object_set_new(
				out, account_failure_name((enum failure)i), number(counts[i]));
	}
	return out;
}

static json_t *latency_json(const struct histogram *h)
{
	json_t *out = json_object();
	json_object_set_new(out, "count", number(h->count));
	json_object_set_new(out, "min", json_real(us(h->count == 0 ? 0 : h->min)));
	for (unsigned i = 0; i < ARRAY_LEN(quantiles); i++)
		json_object_set_new(
			out, quantiles[i].name, json_real(us(histogram_at(h, quantiles[i].ppm))));
	json_object_set_new(out, "max", json_real(us(h->max)));
	json_object_set_new(out, "mean", json_real(us(histogram_mean(h))));
	return out;
}

static json_t *statuses_json(const struct account *a)
{
	json_t *out = json_object();
	for (unsigned i = 0; i < ACCOUNT_STATUSES; i++) {
		char name[8];
		if (a->status[i] == 0)
			continue;
		snprintf(name, sizeof(name), "%u", i % 1000);
		json_object_set_new(out, name, number(a->status[i]));
	}
	return out;
}

static json_t *requests_json(const struct run *r)
{
	const struct account *a = &r->env.account;
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "sent", (json_int_t)a->sent,
		"answered", (json_int_t)a->answered, "one_way", (json_int_t)a->one_way, "failed",
		(json_int_t)account_failed(a), "in_flight", (json_int_t)r->in_flight, "not_begun",
		(json_int_t)r->behind, "stray", (json_int_t)a->stray);
}

static json_t *measured_json(const struct run *r)
{
	double seconds = seconds_between(&r->begin, &r->end);
	uint64_t bytes = r->end.body_bytes - r->begin.body_bytes;
	return json_pack("{s:f, s:f, s:I, s:f}", "seconds", seconds, "rate",
		rate_between(r, &r->begin, &r->end), "body_bytes", (json_int_t)bytes, "bits_per_s",
		seconds > 0 ? 8.0 * (double)bytes / seconds : 0.0);
}

static void print_json(const struct run *r)
{
	const struct options *o = r->env.options;
	const struct account *a = &r->env.account;
	json_t *root = json_pack("{s:s, s:s, s:I, s:I, s:b, s:I}", "mode",
		o->rate != 0 ? "open" : "closed", "backend",
		o->backend == OPTIONS_DPDK ? "dpdk" : "host", "connections",
		(json_int_t)o->connections, "pipeline", (json_int_t)o->pipeline, "per_request",
		o->is_per_request, "rate_wanted", (json_int_t)o->rate);
	json_object_set_new(root, "requests", requests_json(r));
	json_object_set_new(root, "measured", measured_json(r));
	json_object_set_new(root, "latency_us", latency_json(&r->env.latency));
	json_object_set_new(root, "failures", failures_json(a->failed));
	json_object_set_new(root, "connection_failures", failures_json(a->conn_failed));
	json_object_set_new(root, "statuses", statuses_json(a));
	json_object_set_new(root, "opened", number(a->opened));
	json_object_set_new(root, "open", number(r->open));
	json_object_set_new(root, "idle",
		json_pack("{s:I, s:I, s:I, s:I}", "wanted", (json_int_t)o->idle, "open",
			(json_int_t)a->idle_open, "failed", (json_int_t)a->idle_failed, "lost",
			(json_int_t)a->idle_lost));
	char *text = json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(10));
	json_decref(root);
	if (text == NULL)
		return;
	puts(text);
	free(text);
}

void report_result(const struct run *r)
{
	if (r->env.options->is_json)
		print_json(r);
	else
		print_text(r);
}
