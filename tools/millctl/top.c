#include "tools/millctl/top.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/clock/clock.h"
#include "tools/millctl/commands.h"
#include "tools/millctl/format.h"
#include "tools/millctl/show.h"
#include "tools/millctl/table.h"

enum { PERIOD_MS = 1000 };

/* One look at the node. */
struct look {
	json_t *status;
	json_t *lcores;
	json_t *queues;
	uint64_t time_ns;
};

static void look_drop(struct look *l)
{
	json_decref(l->status);
	json_decref(l->lcores);
	json_decref(l->queues);
	*l = (struct look){0};
}

static bool look_take(struct look *l, const struct options *o, enum exit_code *code)
{
	struct ops_request request = {.command = OPS_STATUS};
	*l = (struct look){.time_ns = clock_now_ns()};
	l->status = commands_ask(o, &request, code);
	request.command = OPS_LCORES;
	if (l->status != NULL)
		l->lcores = commands_ask(o, &request, code);
	request.command = OPS_QUEUES;
	if (l->lcores != NULL)
		l->queues = commands_ask(o, &request, code);
	if (l->queues != NULL)
		return true;
	look_drop(l);
	return false;
}

/* A counter that went back belongs to a node that was started anew. */
static double rate(const json_t *before, const json_t *after, const char *key, double seconds)
{
	uint64_t a = show_number(before, key), b = show_number(after, key);
	return b > a && seconds > 0 ? (double)(b - a) / seconds : 0;
}

static uint64_t bucket_step(const json_t *before, const json_t *after, size_t i)
{
	uint64_t a = show_number(json_array_get(before, i), "count");
	uint64_t b = show_number(json_array_get(after, i), "count");
	return b > a ? b - a : 0;
}

/* The bound under which `share` of the answers of the interval lie. */
static uint64_t quantile_ns(const json_t *before, const json_t *after, double share)
{
	uint64_t total = 0, seen = 0;
	size_t count = json_array_size(after);
	for (size_t i = 0; i < count; i++)
		total += bucket_step(before, after, i);
	if (total == 0)
		return 0;
	for (size_t i = 0; i < count; i++) {
		seen += bucket_step(before, after, i);
		const json_t *bound = json_object_get(json_array_get(after, i), "up_to_ns");
		if ((double)seen >= share * (double)total)
			return json_is_integer(bound) ? (uint64_t)json_integer_value(bound)
						      : UINT64_MAX;
	}
	return UINT64_MAX;
}

void top_rates(struct top_rates *out, const json_t *before, const json_t *after, double seconds)
{
	const json_t *old = json_object_get(before, "latency"),
		     *new = json_object_get(after, "latency");
	*out = (struct top_rates){
		.requests_s = rate(before, after, "requests_total", seconds),
		.rx_bytes_s = rate(before, after, "rx_bytes_total", seconds),
		.tx_bytes_s = rate(before, after, "tx_bytes_total", seconds),
		.p50_ns = quantile_ns(old, new, 0.50),
		.p99_ns = quantile_ns(old, new, 0.99),
	};
}

/* A line of the head, cut to the terminal. */
PRINTF_LIKE(2, 3)
static void print_line(unsigned width, const char *fmt, ...)
{
	char line[512];
	va_list args;
	va_start(args, fmt);
	vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	printf("%.*s\n", width > 0 ? (int)width : (int)sizeof(line), line);
}

static const char *latency_text(char out[FORMAT_TEXT], uint64_t ns)
{
	if (ns == UINT64_MAX)
		return "off the scale";
	return ns == 0 ? "-" : format_latency(out, ns);
}

static void print_head(const struct look *l, const struct top_rates *r, unsigned width)
{
	const json_t *node = json_object_get(l->status, "node");
	const json_t *traffic = json_object_get(l->status, "traffic");
	const json_t *dataplane = json_array_get(json_object_get(l->status, "processes"), 0);
	char a[FORMAT_TEXT], b[FORMAT_TEXT], c[FORMAT_TEXT], d[FORMAT_TEXT];
	print_line(width, "%s  %s%s  up %s  %llu connections  %llu in flight",
		show_text(node, "name"), show_flag(l->status, "ready") ? "ready" : "NOT READY",
		show_flag(l->status, "degraded") ? ", degraded" : "",
		format_duration(a, show_number(dataplane, "uptime_ms")),
		(unsigned long long)show_number(traffic, "connections"),
		(unsigned long long)show_number(traffic, "inflight"));
	print_line(width, "%.0f requests/s  rx %s/s  tx %s/s  p50 %s  p99 %s", r->requests_s,
		format_bytes(a, r->rx_bytes_s), format_bytes(b, r->tx_bytes_s),
		latency_text(c, r->p50_ns), latency_text(d, r->p99_ns));
	printf("\n");
}

static void print_lcores(
	const struct look *was, const struct look *l, double seconds, unsigned width)
{
	static const struct table_column columns[] = {{"LCORE", true}, {"CPU", true},
		{"BUSY", true}, {"REQ/S", true}, {"RX/S", true}, {"TX/S", true}, {"CONNS", true},
		{"DROPS/S", true}};
	struct table t;
	table_init(&t, columns, ARRAY_LEN(columns));
	size_t i;
	json_t *now;
	char text[FORMAT_TEXT];
	json_array_foreach(l->lcores, i, now)
	{
		const json_t *old = json_array_get(was->lcores, i);
		table_cell(&t, "%llu", (unsigned long long)show_number(now, "lcore"));
		table_cell(&t, "%llu", (unsigned long long)show_number(now, "cpu"));
		table_cell(
			&t, "%.1f%%", 100 * json_number_value(json_object_get(now, "busy_ratio")));
		table_cell(&t, "%.0f", rate(old, now, "requests_total", seconds));
		table_cell(&t, "%s", format_bytes(text, rate(old, now, "rx_bytes_total", seconds)));
		table_cell(&t, "%s", format_bytes(text, rate(old, now, "tx_bytes_total", seconds)));
		table_cell(&t, "%llu", (unsigned long long)show_number(now, "connections"));
		table_cell(&t, "%.0f", rate(old, now, "drops_total", seconds));
	}
	table_print(&t, stdout, width);
	table_fini(&t);
	printf("\n");
}

static void print_queues(
	const struct look *was, const struct look *l, double seconds, unsigned width)
{
	static const struct table_column columns[] = {
		{"QUEUE", false}, {"DEPTH", true}, {"CAPACITY", true}, {"DROPPED/S", true}};
	struct table t;
	table_init(&t, columns, ARRAY_LEN(columns));
	size_t i;
	json_t *now;
	json_array_foreach(l->queues, i, now)
	{
		if (!show_flag(now, "in_use"))
			continue;
		table_cell(&t, "%s", show_text(now, "queue"));
		table_cell(&t, "%llu", (unsigned long long)show_number(now, "depth"));
		table_cell(&t, "%llu", (unsigned long long)show_number(now, "capacity"));
		table_cell(
			&t, "%.0f", rate(json_array_get(was->queues, i), now, "dropped", seconds));
	}
	table_print(&t, stdout, width);
	table_fini(&t);
}

static void print_look_json(const struct look *l, const struct top_rates *r)
{
	json_t *p50 = r->p50_ns == UINT64_MAX ? json_null() : json_integer((json_int_t)r->p50_ns);
	json_t *p99 = r->p99_ns == UINT64_MAX ? json_null() : json_integer((json_int_t)r->p99_ns);
	json_t *json = json_pack("{s:{s:f, s:f, s:f, s:o, s:o}, s:O, s:O, s:O}", "rates",
		"requests_per_s", r->requests_s, "rx_bytes_per_s", r->rx_bytes_s, "tx_bytes_per_s",
		r->tx_bytes_s, "p50_ns", p50, "p99_ns", p99, "status", l->status, "lcores",
		l->lcores, "queues", l->queues);
	commands_print_json(json);
	json_decref(json);
}

static void print_look(const struct options *o, const struct look *was, const struct look *l)
{
	struct top_rates rates;
	double seconds = (double)(l->time_ns - was->time_ns) / 1e9;
	top_rates(&rates, json_object_get(was->status, "traffic"),
		json_object_get(l->status, "traffic"), seconds);
	if (o->is_json) {
		print_look_json(l, &rates);
	} else {
		unsigned width = show_width(stdout);
		if (width > 0)
			printf("\033[H\033[J");
		print_head(l, &rates, width);
		print_lcores(was, l, seconds, width);
		print_queues(was, l, seconds, width);
		if (width == 0)
			printf("\n");
	}
	fflush(stdout);
}

enum exit_code top_run(const struct options *o)
{
	struct look was, now;
	enum exit_code code;
	bool is_counted = (o->given & OPTION_COUNT) != 0;
	if (!look_take(&was, o, &code))
		return code;
	for (uint32_t round = 0; !is_counted || round < o->count; round++) {
		poll(NULL, 0, PERIOD_MS);
		if (!look_take(&now, o, &code)) {
			/* A person watches a node through its restart; a script wants to know. */
			if (is_counted || !isatty(STDOUT_FILENO))
				break;
			continue;
		}
		print_look(o, &was, &now);
		look_drop(&was);
		was = now;
	}
	look_drop(&was);
	return code;
}
