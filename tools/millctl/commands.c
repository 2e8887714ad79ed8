#include "tools/millctl/commands.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/clock/clock.h"
#include "tools/millctl/capture.h"
#include "tools/millctl/doctor.h"
#include "tools/millctl/locate.h"
#include "tools/millctl/show.h"
#include "tools/millctl/top.h"

enum {
	CONNS_DEFAULT = 1000,
	DRAIN_WAIT_MS = 15000, /* three times the longest drain deadline */
	DRAIN_LOOK_MS = 100,
};

/* --- asking */

static void print_lines(FILE *out, const json_t *lines)
{
	size_t i;
	json_t *line;
	json_array_foreach(lines, i, line) fprintf(out, "  %s\n", json_string_value(line));
}

void commands_print_json(const json_t *json)
{
	json_dumpf(json, stdout, JSON_COMPACT);
	printf("\n");
}

enum exit_code commands_fail(const struct options *o, struct client_failure *f)
{
	if (o->is_json) {
		json_t *json = json_pack(
			"{s:b, s:s, s:s}", "ok", false, "error", f->error, "message", f->message);
		if (f->errors != NULL)
			json_object_set(json, "errors", f->errors);
		commands_print_json(json);
		json_decref(json);
	}
	fprintf(stderr, "millctl: %s\n", f->message);
	print_lines(stderr, f->errors);
	json_decref(f->errors);
	f->errors = NULL;
	return f->code;
}

static enum exit_code fail_conf(const struct options *o, const struct conf_errors *errors)
{
	struct client_failure f = {.code = EXIT_CODE_USAGE, .errors = json_array()};
	snprintf(f.error, sizeof(f.error), "bad_config");
	snprintf(f.message, sizeof(f.message), "the configuration is wrong:");
	for (unsigned i = 0; i < errors->count; i++)
		json_array_append_new(f.errors, json_string(errors->text[i]));
	return commands_fail(o, &f);
}

bool commands_open(const struct options *o, struct client *c, enum exit_code *code)
{
	char path[OPS_PATH];
	static struct conf_errors errors;
	struct client_failure f;
	if (locate_socket(path, o, &errors) != 0) {
		*code = fail_conf(o, &errors);
		return false;
	}
	if (!client_open(c, path, &f)) {
		*code = commands_fail(o, &f);
		return false;
	}
	return true;
}

json_t *commands_ask(
	const struct options *o, const struct ops_request *request, enum exit_code *code)
{
	struct client c;
	struct client_failure f;
	if (!commands_open(o, &c, code))
		return NULL;
	json_t *data = NULL;
	if (client_send(&c, request, &f))
		data = client_reply(&c, &f);
	client_close(&c);
	*code = data != NULL ? EXIT_CODE_OK : commands_fail(o, &f);
	return data;
}

/* Asks and prints: JSON as it is, or by `show`. */
static json_t *ask_and_show(const struct options *o, enum ops_command command,
	void (*show)(FILE *, const json_t *, unsigned), enum exit_code *code)
{
	struct ops_request request = {.command = command};
	json_t *data = commands_ask(o, &request, code);
	if (data == NULL)
		return NULL;
	if (o->is_json)
		commands_print_json(data);
	else
		show(stdout, data, show_width(stdout));
	return data;
}

/* --- views */

static enum exit_code run_status(const struct options *o)
{
	enum exit_code code;
	json_t *data = ask_and_show(o, OPS_STATUS, show_status, &code);
	if (data != NULL && (!show_flag(data, "ready") || show_flag(data, "degraded")))
		code = EXIT_CODE_NO;
	json_decref(data);
	return code;
}

static enum exit_code run_queues(const struct options *o)
{
	enum exit_code code;
	json_decref(ask_and_show(o, OPS_QUEUES, show_queues, &code));
	return code;
}

static enum exit_code run_lcores(const struct options *o)
{
	enum exit_code code;
	json_decref(ask_and_show(o, OPS_LCORES, show_lcores, &code));
	return code;
}

static enum exit_code run_config_show(const struct options *o)
{
	enum exit_code code;
	json_decref(ask_and_show(o, OPS_CONFIG_SHOW, show_config, &code));
	return code;
}

static void show_diff_or_none(FILE *out, const json_t *keys, unsigned width)
{
	if (json_array_size(keys) > 0)
		show_diff(out, keys, width);
	else
		fprintf(out, "no difference: a reload would change nothing\n");
}

static enum exit_code run_config_diff(const struct options *o)
{
	enum exit_code code;
	json_t *data = ask_and_show(o, OPS_CONFIG_DIFF, show_diff_or_none, &code);
	if (data != NULL && json_array_size(data) > 0)
		code = EXIT_CODE_NO;
	json_decref(data);
	return code;
}

static enum exit_code run_config_check(const struct options *o)
{
	static struct conf conf;
	static struct conf_errors errors;
	const char *file = o->words[2];
	struct conf_input input = {.path = file, .env = environ};
	if (conf_load(&conf, NULL, &input, &errors) != 0)
		return fail_conf(o, &errors);
	if (o->is_json)
		printf("{\"ok\":true,\"errors\":[]}\n");
	else
		printf("%s: good\n", file);
	return EXIT_CODE_OK;
}

/* --- conns */

/* Fetches page after page of all lcores until `max` rows are there. */
static bool fetch_conns(
	struct client *c, json_t *rows, uint32_t max, bool *is_cut, struct client_failure *f)
{
	struct ops_request request = {.command = OPS_CONNS};
	uint64_t lcores = 1;
	while (request.lcore < lcores) {
		json_t *page = client_send(c, &request, f) ? client_reply(c, f) : NULL;
		if (page == NULL)
			return false;
		lcores = show_number(page, "lcores");
		json_array_extend(rows, json_object_get(page, "conns"));
		json_t *next = json_object_get(page, "next_cursor");
		uint64_t cursor = json_is_integer(next) ? (uint64_t)json_integer_value(next) : 0;
		bool has_more =
			json_is_integer(next) && cursor > request.cursor && cursor < UINT32_MAX;
		json_decref(page);
		request.cursor = has_more ? (uint32_t)cursor : 0;
		request.lcore += !has_more;
		if (json_array_size(rows) >= max) {
			*is_cut = json_array_size(rows) > max || request.lcore < lcores;
			break;
		}
	}
	while (json_array_size(rows) > max)
		json_array_remove(rows, json_array_size(rows) - 1);
	return true;
}

static enum exit_code run_conns(const struct options *o)
{
	struct client c;
	struct client_failure f;
	enum exit_code code = EXIT_CODE_OK;
	uint32_t max = (o->given & OPTION_COUNT) != 0 ? o->count : CONNS_DEFAULT;
	bool is_cut = false;
	if (!commands_open(o, &c, &code))
		return code;
	json_t *rows = json_array();
	bool is_good = fetch_conns(&c, rows, max, &is_cut, &f);
	client_close(&c);
	if (!is_good) {
		json_decref(rows);
		return commands_fail(o, &f);
	}
	if (o->is_json)
		commands_print_json(rows);
	else
		show_conns(stdout, rows, show_width(stdout));
	if (is_cut)
		fprintf(stderr, "millctl: there may be more; -n COUNT shows more than %u\n", max);
	json_decref(rows);
	return EXIT_CODE_OK;
}

/* --- events */

static void print_event(const struct options *o, const json_t *event)
{
	if (o->is_json)
		commands_print_json(event);
	else
		show_event(stdout, event);
}

static void print_events(const struct options *o, const json_t *data)
{
	if (o->is_json && (o->given & OPTION_FOLLOW) == 0) {
		commands_print_json(data);
		return;
	}
	if (!o->is_json)
		printf("%-24s  %-16s  %-12s  %s\n", "TIME", "KIND", "PROCESS", "TEXT");
	size_t i;
	json_t *event;
	json_array_foreach(json_object_get(data, "events"), i, event) print_event(o, event);
	fflush(stdout);
}

/* Prints what comes until the node goes away; its absence is how this ends. */
static enum exit_code follow(const struct options *o, struct client *c)
{
	struct client_failure f;
	json_t *line;
	while ((line = client_line(c, -1, &f)) != NULL) {
		const json_t *event = json_object_get(line, "event");
		if (event != NULL)
			print_event(o, event);
		else if (o->is_json)
			commands_print_json(line);
		else
			printf("(%llu events were lost)\n",
				(unsigned long long)show_number(line, "lost"));
		json_decref(line);
		if (fflush(stdout) != 0)
			return EXIT_CODE_OK;
	}
	return commands_fail(o, &f);
}

static enum exit_code run_events(const struct options *o)
{
	struct client c;
	struct client_failure f;
	enum exit_code code = EXIT_CODE_OK;
	bool has_count = (o->given & OPTION_COUNT) != 0;
	struct ops_request request = {.command = OPS_EVENTS,
		.count = has_count ? o->count : OPS_EVENTS_DEFAULT,
		.follow = (o->given & OPTION_FOLLOW) != 0};
	if (request.count > QUEUE_CAPACITY_EVENTS)
		request.count = QUEUE_CAPACITY_EVENTS;
	if (!commands_open(o, &c, &code))
		return code;
	json_t *data = client_send(&c, &request, &f) ? client_reply(&c, &f) : NULL;
	if (data == NULL) {
		code = commands_fail(o, &f);
	} else {
		print_events(o, data);
		if (request.follow)
			code = follow(o, &c);
	}
	json_decref(data);
	client_close(&c);
	return code;
}

/* --- mutations */

static enum exit_code run_reload(const struct options *o)
{
	struct ops_request request = {.command = OPS_RELOAD};
	enum exit_code code;
	json_t *data = commands_ask(o, &request, &code);
	if (data == NULL)
		return code;
	const json_t *changed = json_object_get(data, "changed");
	if (o->is_json) {
		commands_print_json(data);
	} else if (json_array_size(changed) == 0) {
		printf("nothing changed\n");
	} else {
		printf("configuration version %llu is in use; changed:\n",
			(unsigned long long)show_number(data, "version"));
		print_lines(stdout, changed);
	}
	json_decref(data);
	return EXIT_CODE_OK;
}

/* Is the data plane of this generation still there? */
static bool is_draining(const char *path, uint64_t generation)
{
	struct ops_request request = {.command = OPS_STATUS};
	struct client_failure f = {0};
	json_t *status = client_ask(path, &request, &f);
	json_decref(f.errors);
	bool is_there = false;
	size_t i;
	json_t *p;
	json_array_foreach(json_object_get(status, "processes"), i, p)
	{
		if (strcmp(show_text(p, "process"), "dataplane") == 0)
			is_there = show_flag(p, "up") && show_number(p, "generation") == generation;
	}
	json_decref(status);
	return is_there;
}

static enum exit_code await_drain(const struct options *o, uint64_t generation)
{
	char path[OPS_PATH];
	static struct conf_errors errors;
	if (locate_socket(path, o, &errors) != 0)
		return fail_conf(o, &errors);
	uint64_t deadline_ns = clock_now_ns() + DRAIN_WAIT_MS * NS_PER_MS;
	while (is_draining(path, generation)) {
		if (clock_now_ns() >= deadline_ns) {
			fprintf(stderr, "millctl: the data plane is still draining after %d s\n",
				DRAIN_WAIT_MS / 1000);
			return EXIT_CODE_NO;
		}
		poll(NULL, 0, DRAIN_LOOK_MS);
	}
	return EXIT_CODE_OK;
}

static enum exit_code run_drain(const struct options *o)
{
	struct ops_request request = {.command = OPS_DRAIN};
	enum exit_code code;
	json_t *data = commands_ask(o, &request, &code);
	if (data == NULL)
		return code;
	uint64_t generation = show_number(data, "generation");
	if ((o->given & OPTION_WAIT) != 0)
		code = await_drain(o, generation);
	if (o->is_json)
		commands_print_json(data);
	else
		printf("the data plane (pid %llu, generation %llu) %s\n",
			(unsigned long long)show_number(data, "pid"),
			(unsigned long long)generation,
			(o->given & OPTION_WAIT) != 0 && code == EXIT_CODE_OK ? "has drained"
									      : "is draining");
	json_decref(data);
	return code;
}

/* --- the table */

const struct command commands[] = {
	{"status", NULL, NULL, 0, "is the node ready, and what does it do",
		"exit code 1 when it is not ready or is degraded", run_status},
	{"queues", NULL, NULL, 0, "every queue: depth, capacity, what was dropped", NULL,
		run_queues},
	{"lcores", NULL, NULL, 0, "every ingress lcore: CPU, busy share, traffic", NULL,
		run_lcores},
	{"conns", NULL, NULL, OPTION_COUNT, "the open connections",
		"  -n, --count N    at most so many, 1000 if not given", run_conns},
	{"events", NULL, NULL, OPTION_COUNT | OPTION_FOLLOW, "what has happened",
		"  -n, --count N    the last N, 20 if not given\n"
		"  -f, --follow     go on as they happen",
		run_events},
	{"config", "check", "FILE", 0, "check a file; needs no node",
		"exit code 2 when it is wrong", run_config_check},
	{"config", "show", NULL, 0, "the running configuration, and where each value came from",
		NULL, run_config_show},
	{"config", "diff", NULL, 0, "what a reload would change",
		"exit code 1 when there is a difference", run_config_diff},
	{"reload", NULL, NULL, 0, "apply the configuration file; all or nothing",
		"exit code 4 when the file is wrong or changes a key that needs a restart",
		run_reload},
	{"drain", NULL, NULL, OPTION_WAIT, "finish what is in flight, then end the node",
		"  --wait           until it has ended", run_drain},
	{"capture", NULL, "PORT FILE", OPTION_SECONDS | OPTION_PACKETS | OPTION_FILTER,
		"the packets of a port of the dpdk back end, as pcapng",
		"  PORT             a number or device of dpdk.ports, or all\n"
		"  FILE             written anew, readable by you alone; - is standard output\n"
		"  --seconds N      at most so long, 10 if not given\n"
		"  --packets N      at most so many, 100000 if not given\n"
		"  --filter TEXT    all of: tcp udp icmp arp ip ip6 in out, host ADDRESS, net "
		"CIDR, port N",
		capture_run},
	{"top", NULL, NULL, OPTION_COUNT, "a live view; Ctrl-C ends it",
		"  -n, --count N    so many rounds of a second, for scripts", top_run},
	{"doctor", NULL, NULL, 0, "check this machine; prints the command that mends each finding",
		"exit code 1 when a check fails; warnings alone are 0", doctor_run},
};
const unsigned command_count = ARRAY_LEN(commands);

/* "PORT FILE" is two. */
static unsigned count_words(const char *text)
{
	unsigned words = text != NULL;
	for (; text != NULL && *text != '\0'; text++)
		words += *text == ' ';
	return words;
}

const struct command *commands_find(const struct options *o, char *why, size_t why_size)
{
	if (o->word_count == 0) {
		snprintf(why, why_size, "a command is needed");
		return NULL;
	}
	bool is_known = false;
	for (unsigned i = 0; i < command_count; i++) {
		const struct command *c = &commands[i];
		if (strcmp(o->words[0], c->name) != 0)
			continue;
		is_known = true;
		if (c->sub != NULL && (o->word_count < 2 || strcmp(o->words[1], c->sub) != 0))
			continue;
		unsigned words = 1 + (c->sub != NULL) + count_words(c->arg);
		if (!o->is_help && o->word_count < words) {
			snprintf(why, why_size, "%s is missing", c->arg);
			return NULL;
		}
		if (o->word_count > words) {
			snprintf(why, why_size, "unexpected argument %s", o->words[words]);
			return NULL;
		}
		if ((o->given & ~c->takes) != 0) {
			snprintf(why, why_size, "%s does not take that option", c->name);
			return NULL;
		}
		return c;
	}
	if (is_known)
		snprintf(why, why_size, "%s needs one of check, show, diff", o->words[0]);
	else
		snprintf(why, why_size, "there is no command %s", o->words[0]);
	return NULL;
}
