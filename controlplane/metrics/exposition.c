#include "controlplane/metrics/exposition.h"

#include <stdio.h>
#include <string.h>

#include "controlplane/metrics/readiness.h"

enum { SERIES_TEXT = 256 };

/* One label, its value escaped as the format asks; returns the new length. */
static size_t add_label(char out[SERIES_TEXT], size_t len, const char *name, const char *value)
{
	int n = snprintf(out + len, SERIES_TEXT - len, "%s%s=\"", len > 0 ? "," : "", name);
	MUST(n > 0 && len + (size_t)n + 2 * strlen(value) + 2 < SERIES_TEXT);
	len += (size_t)n;
	for (const char *c = value; *c != '\0'; c++) {
		if (*c == '\\' || *c == '"' || *c == '\n')
			out[len++] = '\\';
		out[len++] = *c == '\n' ? 'n' : *c;
	}
	out[len++] = '"';
	out[len] = '\0';
	return len;
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);
	return n >= m && strcmp(text + n - m, end) == 0;
}

/* name{labels} value */
static void add_number(struct page *out, const struct metric_info *m, const char *suffix,
	const char *labels, uint64_t cell)
{
	page_add(out, "%s%s", m->name, suffix);
	if (labels[0] != '\0')
		page_add(out, "{%s}", labels);
	if (ends_with(m->name, "_seconds_total"))
		page_add(out, " %llu.%09llu\n", (unsigned long long)(cell / 1000000000),
			(unsigned long long)(cell % 1000000000));
	else if (m->type == METRIC_GAUGE)
		page_add(out, " %lld\n", (long long)cell);
	else
		page_add(out, " %llu\n", (unsigned long long)cell);
}

/* The cells of one slot, or of all of them together. */
struct cells {
	const struct seg *seg;
	int slot; /* -1: all */
};

static uint64_t cell_of(const struct cells *c, unsigned cell)
{
	if (c->slot >= 0)
		return tally_get(&c->seg->tally[c->slot], cell);
	return tally_sum(c->seg->tally, cell);
}

static void add_histogram(struct page *out, const struct metric_info *m, const char *labels,
	const struct cells *cells, unsigned first)
{
	char with_le[SERIES_TEXT + 64];
	const char *comma = labels[0] != '\0' ? "," : "";
	uint64_t count = 0;
	for (unsigned b = 0; b < HIST_BUCKETS; b++) {
		count += cell_of(cells, first + b);
		if (b == HIST_BUCKETS - 1)
			snprintf(with_le, sizeof(with_le), "%s%sle=\"+Inf\"", labels, comma);
		else
			snprintf(with_le, sizeof(with_le), "%s%sle=\"%.9g\"", labels, comma,
				(double)tally_hist_bounds_ns[b] / 1e9);
		add_number(out, m, "_bucket", with_le, count);
	}
	uint64_t sum_ns = cell_of(cells, first + HIST_BUCKETS);
	page_add(out, "%s_sum%s%s%s %llu.%09llu\n", m->name, labels[0] != '\0' ? "{" : "", labels,
		labels[0] != '\0' ? "}" : "", (unsigned long long)(sum_ns / 1000000000),
		(unsigned long long)(sum_ns % 1000000000));
	add_number(out, m, "_count", labels, count);
}

static bool is_shown(const struct metric_info *m, const struct cells *cells, unsigned combination)
{
	unsigned sets_used = 0;
	for (int i = 0; i < 3; i++)
		sets_used += m->sets[i]->name != NULL;
	return sets_used <= 1 || combination == 0 || m->type == METRIC_HISTOGRAM ||
	       cell_of(cells, m->first_cell + combination) != 0;
}

/* All label combinations over `cells`; `lcore` is the value of the label in front, or NULL. */
static void add_series(
	struct page *out, const struct metric_info *m, const struct cells *cells, const char *lcore)
{
	unsigned n1 = m->sets[0]->count, n2 = m->sets[1]->count, n3 = m->sets[2]->count;
	for (unsigned i = 0; i < n1 * n2 * n3; i++) {
		if (!is_shown(m, cells, i))
			continue;
		unsigned at[3] = {i / (n2 * n3), i / n3 % n2, i % n3};
		char labels[SERIES_TEXT] = "";
		size_t len = lcore != NULL ? add_label(labels, 0, "lcore", lcore) : 0;
		for (int s = 0; s < 3; s++) {
			if (m->sets[s]->name != NULL)
				len = add_label(
					labels, len, m->sets[s]->name, m->sets[s]->texts[at[s]]);
		}
		if (m->type == METRIC_HISTOGRAM)
			add_histogram(out, m, labels, cells, m->first_cell + i * HIST_CELLS);
		else
			add_number(out, m, "", labels, cell_of(cells, m->first_cell + i));
	}
}

static void add_cells(struct page *out, const struct metric_info *m, const struct exposition *e)
{
	struct cells cells = {.seg = e->seg, .slot = -1};
	if (!m->per_slot) {
		add_series(out, m, &cells, NULL);
		return;
	}
	for (unsigned i = 0; i < sample_lcores(e->seg); i++) {
		char lcore[12];
		snprintf(lcore, sizeof(lcore), "%u", i);
		cells.slot = (int)i;
		add_series(out, m, &cells, lcore);
	}
}

static void copy_until(char out[32], const char *from, const char *end)
{
	size_t len = strcspn(from, end);
	len = len < 31 ? len : 31;
	memcpy(out, from, len);
	out[len] = '\0';
}

/* "0.1.0 (90ff1e5)" in two labels. */
static void add_build(struct page *out, const char *name, const char *version)
{
	char labels[SERIES_TEXT] = "", number[32], commit[32];
	const char *open = strchr(version, '(');
	copy_until(number, version, " ");
	copy_until(commit, open != NULL ? open + 1 : "", ")");
	size_t len = add_label(labels, 0, "version", number);
	add_label(labels, len, "commit", commit);
	page_add(out, "%s{%s} 1\n", name, labels);
}

static void add_queues(struct page *out, const char *name, const struct sample *sample)
{
	for (int q = 0; q < QUEUE_COUNT; q++) {
		char labels[SERIES_TEXT] = "";
		add_label(labels, 0, "queue", queue_infos[q].name);
		page_add(out, "%s{%s} %llu\n", name, labels,
			(unsigned long long)(sample != NULL ? sample->depth[q]
							    : queue_infos[q].capacity));
	}
}

static void add_derived(struct page *out, enum metric_id id, const struct exposition *e)
{
	const char *name = metric_infos[id].name;
	struct seg_ready ready;
	readiness_read(&ready, e->seg);
	if (id == METRIC_QUEUE_DEPTH)
		add_queues(out, name, e->sample);
	else if (id == METRIC_QUEUE_CAPACITY)
		add_queues(out, name, NULL);
	else if (id == METRIC_AMNESIA_MODE)
		page_add(out, "%s %d\n", name, e->is_amnesia);
	else if (id == METRIC_BUILD_INFO)
		add_build(out, name, e->version);
	else if (id == METRIC_READY)
		page_add(out, "%s %d\n", name, ready.ready != 0);
	else if (id == METRIC_DEGRADED)
		page_add(out, "%s %d\n", name, ready.degraded != 0);
	else if (id == METRIC_UP)
		for (int p = 0; p < SHM_PROCESS_COUNT; p++)
			page_add(out, "%s{process=\"%s\"} %d\n", name, shm_process_names[p],
				seg_is_alive(e->seg, (enum shm_process)p));
	else if (id == METRIC_LCORE_BUSY_RATIO)
		for (unsigned i = 0; i < sample_lcores(e->seg); i++)
			page_add(out, "%s{lcore=\"%u\"} %.4f\n", name, i, e->sample->busy_ratio[i]);
	else
		MUST(!"a derived metric that nobody derives");
}

static const char *type_name(enum metric_type type)
{
	switch (type) {
	case METRIC_COUNTER:
		return "counter";
	case METRIC_HISTOGRAM:
		return "histogram";
	case METRIC_GAUGE:
	case METRIC_DERIVED:
		return "gauge";
	}
	return "untyped";
}

void exposition_print(struct page *out, const struct exposition *e)
{
	for (int i = 0; i < METRIC_COUNT; i++) {
		const struct metric_info *m = &metric_infos[i];
		page_add(out, "# HELP %s %s\n# TYPE %s %s\n", m->name, m->help, m->name,
			type_name(m->type));
		if (m->type == METRIC_DERIVED)
			add_derived(out, (enum metric_id)i, e);
		else
			add_cells(out, m, e);
	}
}
