#include "tools/gendocs/gendocs_table.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "lib/base/registry.h"
#include "lib/conf/conf.h"

/* A cell: what would end it is escaped. */
static void cell(FILE *out, const char *text)
{
	fputs("| ", out);
	for (; *text; text++) {
		if (*text == '|')
			fputc('\\', out);
		fputc(*text, out);
	}
	fputc(' ', out);
}

static void code_cell(FILE *out, const char *text)
{
	fprintf(out, "| `%s` ", text);
}

static void number_cell(FILE *out, uint64_t n)
{
	fprintf(out, "| %" PRIu64 " ", n);
}

static void end_row(FILE *out)
{
	fputs("|\n", out);
}

static void print_queues(FILE *out)
{
	fputs("| queue | owner | producers | consumers | capacity | when full | what rises |\n"
	      "| --- | --- | --- | --- | ---: | --- | --- |\n",
		out);
	for (unsigned i = 0; i < QUEUE_COUNT; i++) {
		const struct queue_info *q = &queue_infos[i];
		code_cell(out, q->name);
		cell(out, q->owner);
		cell(out, q->producers);
		cell(out, q->consumers);
		number_cell(out, q->capacity);
		cell(out, q->policy_name);
		cell(out, q->metric);
		end_row(out);
	}
}

static void print_limits(FILE *out)
{
	fputs("| limit | value | of | when it is hit | why this value |\n"
	      "| --- | ---: | --- | --- | --- |\n",
		out);
	for (unsigned i = 0; i < limit_count; i++) {
		const struct limit_info *l = &limit_infos[i];
		code_cell(out, l->name);
		number_cell(out, l->value);
		cell(out, l->unit);
		cell(out, l->when_hit);
		cell(out, l->why);
		end_row(out);
	}
}

static void print_errors(FILE *out)
{
	fputs("| status | `error` | usual `message` |\n| ---: | --- | --- |\n", out);
	for (unsigned i = ERR_NONE + 1; i < ERR_COUNT; i++) {
		number_cell(out, err_infos[i].status);
		code_cell(out, err_infos[i].code);
		cell(out, err_infos[i].message);
		end_row(out);
	}
}

static void print_reasons(FILE *out)
{
	fputs("| `reason` | meaning |\n| --- | --- |\n", out);
	for (unsigned i = 0; i < REASON_COUNT; i++) {
		code_cell(out, reason_infos[i].label);
		cell(out, reason_infos[i].meaning);
		end_row(out);
	}
}

/* " `name`" in lower case; nothing for NONE. */
static void label(FILE *out, const char *set)
{
	if (strcmp(set, "NONE") == 0)
		return;
	fputs(" `", out);
	for (; *set; set++)
		fputc(tolower((unsigned char)*set), out);
	fputc('`', out);
}

static void print_metrics(FILE *out)
{
	static const struct {
		const char *type, *name, *scope, *sets[3], *help;
	} metrics[] = {
#define METRIC(id, type, name, scope, s1, s2, s3, help) \
	{#type, name, #scope, {#s1, #s2, #s3}, help},
#include "config/metrics.def"
#undef METRIC
	};
	fputs("| metric | type | labels | meaning |\n| --- | --- | --- | --- |\n", out);
	for (unsigned i = 0; i < ARRAY_LEN(metrics); i++) {
		/* What the exporter computes is a value of now: a gauge. */
		bool is_counter = strcmp(metrics[i].type, "COUNTER") == 0;
		bool is_histogram = strcmp(metrics[i].type, "HISTOGRAM") == 0;
		code_cell(out, metrics[i].name);
		cell(out, is_counter ? "counter" : is_histogram ? "histogram" : "gauge");
		fputc('|', out);
		if (strcmp(metrics[i].scope, "PER_SLOT") == 0)
			label(out, "LCORE");
		for (unsigned s = 0; s < ARRAY_LEN(metrics[i].sets); s++)
			label(out, metrics[i].sets[s]);
		fputc(' ', out);
		cell(out, metrics[i].help);
		end_row(out);
	}
}

static void print_label_row(FILE *out, const char *name, const char *const *texts, unsigned count)
{
	fprintf(out, "| `%s` |", name);
	for (unsigned i = 0; i < count; i++)
		fprintf(out, " `%s`", texts[i]);
	fputs(" |\n", out);
}

#define LABEL_TEXT(id, text) text,
static void print_labels(FILE *out)
{
	static const char *const routes[] = {
#define LABEL_ROUTE LABEL_TEXT
#include "config/labels.def"
	};
	static const char *const methods[] = {
#define LABEL_METHOD LABEL_TEXT
#include "config/labels.def"
	};
	static const char *const statuses[] = {
#define LABEL_STATUS LABEL_TEXT
#include "config/labels.def"
	};
	static const char *const kinds[] = {
#define LABEL_KIND LABEL_TEXT
#include "config/labels.def"
	};
	static const char *const ops[] = {
#define LABEL_OP LABEL_TEXT
#include "config/labels.def"
	};
	static const char *const dirs[] = {
#define LABEL_DIR LABEL_TEXT
#include "config/labels.def"
	};
	static const char *const protocols[] = {
#define LABEL_PROTOCOL LABEL_TEXT
#include "config/labels.def"
	};
	static const char *const ports[] = {
#define LABEL_PORT LABEL_TEXT
#include "config/labels.def"
	};
	fputs("| label | values |\n| --- | --- |\n", out);
	print_label_row(out, "route", routes, ARRAY_LEN(routes));
	print_label_row(out, "endpoint", routes, ARRAY_LEN(routes));
	print_label_row(out, "method", methods, ARRAY_LEN(methods));
	print_label_row(out, "status", statuses, ARRAY_LEN(statuses));
	print_label_row(out, "kind", kinds, ARRAY_LEN(kinds));
	print_label_row(out, "op", ops, ARRAY_LEN(ops));
	print_label_row(out, "dir", dirs, ARRAY_LEN(dirs));
	print_label_row(out, "where", ports, ARRAY_LEN(ports));
	print_label_row(out, "protocol", protocols, ARRAY_LEN(protocols));
}

static void print_tcp_events(FILE *out)
{
	static const struct {
		const char *name, *meaning;
	} counts[] = {
#define TCP_COUNT(id, name, meaning) {name, meaning},
#include "config/tcp_count.def"
#undef TCP_COUNT
	};
	fputs("| `event` | counts |\n| --- | --- |\n", out);
	for (unsigned i = 0; i < ARRAY_LEN(counts); i++) {
		code_cell(out, counts[i].name);
		cell(out, counts[i].meaning);
		end_row(out);
	}
}

/* The default as a person would write it in the file. */
static void default_cell(FILE *out, const struct conf_key *key)
{
	if (key->type != CONF_TYPE_LIST) {
		code_cell(out, key->def[0] ? key->def : "\"\"");
		return;
	}
	fputs("| `[\"", out);
	for (const char *p = key->def; *p; p++)
		fputs(*p == ' ' ? "\", \"" : (char[]){*p, '\0'}, out);
	fputs("\"]` ", out);
}

static void print_configuration(FILE *out)
{
	fputs("| key | default | allowed | reload | meaning |\n| --- | --- | --- | --- | --- |\n",
		out);
	for (unsigned i = 0; i < conf_key_count; i++) {
		const struct conf_key *key = &conf_keys[i];
		char allowed[CONF_ALLOWED];
		conf_key_allowed(key, allowed, sizeof(allowed));
		fprintf(out, "| `%s.%s` ", key->section, key->key);
		default_cell(out, key);
		cell(out, allowed);
		cell(out, key->is_hot ? "hot" : "restart");
		cell(out, key->help);
		end_row(out);
	}
}

const struct gendocs_table gendocs_tables[] = {
	{"queues", print_queues},
	{"limits", print_limits},
	{"errors", print_errors},
	{"reasons", print_reasons},
	{"metrics", print_metrics},
	{"labels", print_labels},
	{"tcp_events", print_tcp_events},
	{"configuration", print_configuration},
};
const unsigned gendocs_table_count = ARRAY_LEN(gendocs_tables);
