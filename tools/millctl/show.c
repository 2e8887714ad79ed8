#include "tools/millctl/show.h"

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "tools/millctl/format.h"
#include "tools/millctl/table.h"

unsigned show_width(FILE *out)
{
	struct winsize size;
	if (!isatty(fileno(out)) || ioctl(fileno(out), TIOCGWINSZ, &size) != 0)
		return 0;
	return size.ws_col;
}

const char *show_text(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));
	return text != NULL ? text : "";
}

uint64_t show_number(const json_t *object, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(object, key));
}

bool show_flag(const json_t *object, const char *key)
{
	return json_is_true(json_object_get(object, key));
}

static void print_list(FILE *out, const json_t *list)
{
	size_t i;
	json_t *item;
	json_array_foreach(list, i, item)
		fprintf(out, "%s%s", i > 0 ? ", " : "", json_string_value(item));
}

static void print_state(FILE *out, const json_t *s)
{
	const json_t *missing = json_object_get(s, "missing"),
		     *reasons = json_object_get(s, "reasons");
	fprintf(out, "state      %s%s", show_flag(s, "ready") ? "ready" : "not ready",
		show_flag(s, "degraded") ? ", degraded" : "");
	if (json_array_size(missing) > 0) {
		fprintf(out, "; missing: ");
		print_list(out, missing);
	}
	if (json_array_size(reasons) > 0) {
		fprintf(out, "; ");
		print_list(out, reasons);
	}
	fprintf(out, "\n");
}

static void print_node(FILE *out, const json_t *s)
{
	const json_t *node = json_object_get(s, "node"), *x = json_object_get(s, "exporter");
	const json_t *config = json_object_get(s, "config");
	fprintf(out, "node       %s, version %s, back end %s%s\n", show_text(node, "name"),
		show_text(node, "version"), show_text(node, "backend"),
		show_flag(node, "amnesia") ? ", amnesia" : "");
	print_state(out, s);
	fprintf(out, "http       ");
	print_list(out, json_object_get(node, "listen"));
	fprintf(out, "\nexporter   %s%s%s\n", show_text(x, "listen"),
		show_flag(x, "up")		    ? ""
		: show_text(x, "listen")[0] == '\0' ? "off"
						    : ", DOWN: ",
		show_text(x, "why"));
	fprintf(out, "config     %s, version %llu\n",
		show_text(config, "path")[0] != '\0' ? show_text(config, "path") : "no file",
		(unsigned long long)show_number(config, "version"));
}

static void print_traffic(FILE *out, const json_t *s)
{
	const json_t *t = json_object_get(s, "traffic"), *store = json_object_get(s, "storage");
	char a[FORMAT_TEXT], b[FORMAT_TEXT], c[FORMAT_TEXT], d[FORMAT_TEXT];
	double chunk = (double)show_number(store, "chunk_bytes");
	fprintf(out, "traffic    %s requests, %s in flight, %s connections, %s turned away\n",
		format_count(a, show_number(t, "requests_total")),
		format_count(b, show_number(t, "inflight")),
		format_count(c, show_number(t, "connections")),
		format_count(d, show_number(t, "rejected_total")));
	fprintf(out, "store      %s objects, %s of %s\n\n",
		format_count(a, show_number(store, "objects")),
		format_bytes(b, chunk * (double)show_number(store, "chunks_used")),
		format_bytes(c, chunk * (double)show_number(store, "chunks_capacity")));
}

void show_status(FILE *out, const json_t *status, unsigned width)
{
	static const struct table_column columns[] = {{"PROCESS", false}, {"STATE", false},
		{"PID", true}, {"GENERATION", true}, {"UPTIME", true}, {"LAST BEAT", true}};
	print_node(out, status);
	print_traffic(out, status);
	struct table t;
	table_init(&t, columns, ARRAY_LEN(columns));
	size_t i;
	json_t *p;
	char text[FORMAT_TEXT];
	json_array_foreach(json_object_get(status, "processes"), i, p)
	{
		bool is_up = show_flag(p, "up");
		table_cell(&t, "%s", show_text(p, "process"));
		table_cell(&t, "%s", is_up ? show_text(p, "state") : "DOWN");
		table_cell(&t, "%llu", (unsigned long long)show_number(p, "pid"));
		table_cell(&t, "%llu", (unsigned long long)show_number(p, "generation"));
		table_cell(&t, "%s", format_duration(text, show_number(p, "uptime_ms")));
		table_cell(&t, "%llu ms", (unsigned long long)show_number(p, "beat_age_ms"));
	}
	table_print(&t, out, width);
	table_fini(&t);
}

void show_queues(FILE *out, const json_t *queues, unsigned width)
{
	static const struct table_column columns[] = {{"QUEUE", false}, {"DEPTH", true},
		{"CAPACITY", true}, {"DROPPED", true}, {"WHEN FULL", false}, {"PRODUCERS", false},
		{"CONSUMERS", false}};
	struct table t;
	table_init(&t, columns, ARRAY_LEN(columns));
	size_t i;
	json_t *q;
	char text[FORMAT_TEXT];
	json_array_foreach(queues, i, q)
	{
		table_cell(&t, "%s", show_text(q, "queue"));
		if (show_flag(q, "in_use"))
			table_cell(&t, "%llu", (unsigned long long)show_number(q, "depth"));
		else
			table_cell(&t, "-");
		table_cell(&t, "%llu", (unsigned long long)show_number(q, "capacity"));
		table_cell(&t, "%s", format_count(text, show_number(q, "dropped")));
		table_cell(&t, "%s", show_text(q, "policy"));
		table_cell(&t, "%s", show_text(q, "producers"));
		table_cell(&t, "%s", show_text(q, "consumers"));
	}
	table_print(&t, out, width);
	table_fini(&t);
}

void show_lcores(FILE *out, const json_t *lcores, unsigned width)
{
	static const struct table_column columns[] = {{"LCORE", true}, {"CPU", true},
		{"BUSY", true}, {"CONNS", true}, {"ACCEPTED", true}, {"REQUESTS", true},
		{"RX", true}, {"TX", true}, {"DROPS", true}};
	struct table t;
	table_init(&t, columns, ARRAY_LEN(columns));
	size_t i;
	json_t *l;
	char text[FORMAT_TEXT];
	json_array_foreach(lcores, i, l)
	{
		table_cell(&t, "%llu", (unsigned long long)show_number(l, "lcore"));
		table_cell(&t, "%llu", (unsigned long long)show_number(l, "cpu"));
		table_cell(&t, "%.1f%%", 100 * json_number_value(json_object_get(l, "busy_ratio")));
		table_cell(&t, "%s", format_count(text, show_number(l, "connections")));
		table_cell(&t, "%s", format_count(text, show_number(l, "accepted_total")));
		table_cell(&t, "%s", format_count(text, show_number(l, "requests_total")));
		table_cell(&t, "%s", format_bytes(text, (double)show_number(l, "rx_bytes_total")));
		table_cell(&t, "%s", format_bytes(text, (double)show_number(l, "tx_bytes_total")));
		table_cell(&t, "%s", format_count(text, show_number(l, "drops_total")));
	}
	table_print(&t, out, width);
	table_fini(&t);
}

/* A dash where the node does not tell. */
static void add_tcp(struct table *t, const json_t *c)
{
	char text[FORMAT_TEXT];
	bool is_known = json_is_string(json_object_get(c, "tcp"));
	uint64_t rtt_us = show_number(c, "rtt_us");
	table_cell(t, "%s", is_known ? show_text(c, "tcp") : "-");
	table_cell(t, "%s", rtt_us != 0 ? format_latency(text, rtt_us * 1000) : "-");
	table_cell(
		t, "%s", is_known ? format_bytes(text, (double)show_number(c, "cwnd_bytes")) : "-");
	table_cell(t, "%s", is_known ? format_count(text, show_number(c, "retrans")) : "-");
}

void show_conns(FILE *out, const json_t *conns, unsigned width)
{
	static const struct table_column columns[] = {{"LCORE", true}, {"PEER", false},
		{"STATE", false}, {"AGE", true}, {"IDLE", true}, {"REQUESTS", true}, {"RX", true},
		{"TX", true}, {"TCP", false}, {"RTT", true}, {"CWND", true}, {"RETRANS", true}};
	struct table t;
	table_init(&t, columns, ARRAY_LEN(columns));
	size_t i;
	json_t *c;
	char text[FORMAT_TEXT];
	json_array_foreach(conns, i, c)
	{
		table_cell(&t, "%llu", (unsigned long long)show_number(c, "lcore"));
		table_cell(&t, "%s", show_text(c, "peer"));
		table_cell(&t, "%s", show_text(c, "state"));
		table_cell(&t, "%s", format_duration(text, show_number(c, "age_ms")));
		table_cell(&t, "%s", format_duration(text, show_number(c, "idle_ms")));
		table_cell(&t, "%s", format_count(text, show_number(c, "requests")));
		table_cell(&t, "%s", format_bytes(text, (double)show_number(c, "rx_bytes")));
		table_cell(&t, "%s", format_bytes(text, (double)show_number(c, "tx_bytes")));
		add_tcp(&t, c);
	}
	table_print(&t, out, width);
	table_fini(&t);
}

static void show_rows(FILE *out, const json_t *rows, const struct table_column *columns,
	const char *const *members, unsigned count, unsigned width)
{
	struct table t;
	table_init(&t, columns, count);
	size_t i;
	json_t *row;
	json_array_foreach(rows, i, row)
	{
		for (unsigned c = 0; c < count; c++)
			table_cell(&t, "%s", show_text(row, members[c]));
	}
	table_print(&t, out, width);
	table_fini(&t);
}

void show_config(FILE *out, const json_t *keys, unsigned width)
{
	static const struct table_column columns[] = {
		{"KEY", false}, {"VALUE", false}, {"FROM", false}, {"CHANGE", false}};
	static const char *const members[] = {"key", "value", "origin", "change"};
	show_rows(out, keys, columns, members, ARRAY_LEN(columns), width);
}

void show_diff(FILE *out, const json_t *keys, unsigned width)
{
	static const struct table_column columns[] = {
		{"KEY", false}, {"RUNNING", false}, {"FILE", false}, {"CHANGE", false}};
	static const char *const members[] = {"key", "running", "file", "change"};
	show_rows(out, keys, columns, members, ARRAY_LEN(columns), width);
}

void show_event(FILE *out, const json_t *event)
{
	fprintf(out, "%-24s  %-16s  %-12s  %s\n", show_text(event, "time"),
		show_text(event, "kind"), show_text(event, "process"), show_text(event, "text"));
}
