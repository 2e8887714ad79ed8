#include "lib/ops/ops_request.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const struct ops_command_info ops_command_infos[OPS_COMMAND_COUNT] = {
#define OPS(id, name, args, is_mutation) [OPS_##id] = {name, args, is_mutation},
	OPS_COMMANDS(OPS)
#undef OPS
};

void ops_refuse(struct ops_refusal *why, const char *error, const char *fmt, ...)
{
	why->error = error;
	va_list args;
	va_start(args, fmt);
	vsnprintf(why->message, sizeof(why->message), fmt, args);
	va_end(args);
	/* The message may quote the client, cut anywhere: it must stay valid JSON and one line. */
	for (char *c = why->message; *c != '\0'; c++) {
		if (*c < 0x20 || *c > 0x7e)
			*c = '?';
	}
}

/* Reads an integer of [min, max]. */
static bool read_range(uint32_t *out, const char *key, const json_t *value, uint32_t min,
	uint32_t max, struct ops_refusal *why)
{
	if (!json_is_integer(value) || json_integer_value(value) < (json_int_t)min ||
		json_integer_value(value) > (json_int_t)max) {
		ops_refuse(why, "bad_request", "args.%s must be a number from %u to %u", key, min,
			max);
		return false;
	}
	*out = (uint32_t)json_integer_value(value);
	return true;
}

static bool read_number(
	uint32_t *out, const char *key, const json_t *value, uint32_t max, struct ops_refusal *why)
{
	return read_range(out, key, value, 0, max, why);
}

static bool read_text(
	char *out, size_t size, const char *key, const json_t *value, struct ops_refusal *why)
{
	if (!json_is_string(value) || json_string_length(value) >= size) {
		ops_refuse(why, "bad_request", "args.%s must be a text of at most %u bytes", key,
			(unsigned)size - 1);
		return false;
	}
	memcpy(out, json_string_value(value), json_string_length(value) + 1);
	return true;
}

static bool read_flag(bool *out, const char *key, const json_t *value, struct ops_refusal *why)
{
	if (!json_is_boolean(value)) {
		ops_refuse(why, "bad_request", "args.%s must be true or false", key);
		return false;
	}
	*out = json_is_true(value);
	return true;
}

static bool read_arg(
	struct ops_request *out, const char *key, const json_t *value, struct ops_refusal *why)
{
	unsigned allowed = ops_command_infos[out->command].args;
	if ((allowed & OPS_ARG_LCORE) != 0 && strcmp(key, "lcore") == 0)
		return read_number(&out->lcore, key, value, LIMIT_LCORES - 1, why);
	if ((allowed & OPS_ARG_CURSOR) != 0 && strcmp(key, "cursor") == 0)
		return read_number(&out->cursor, key, value, UINT32_MAX - 1, why);
	if ((allowed & OPS_ARG_COUNT) != 0 && strcmp(key, "count") == 0)
		return read_number(&out->count, key, value, QUEUE_CAPACITY_EVENTS, why);
	if ((allowed & OPS_ARG_FOLLOW) != 0 && strcmp(key, "follow") == 0)
		return read_flag(&out->follow, key, value, why);
	bool is_capture = (allowed & OPS_ARG_CAPTURE) != 0;
	if (is_capture && strcmp(key, "port") == 0)
		return read_text(out->port, sizeof(out->port), key, value, why);
	if (is_capture && strcmp(key, "filter") == 0)
		return read_text(out->filter, sizeof(out->filter), key, value, why);
	if (is_capture && strcmp(key, "seconds") == 0)
		return read_range(&out->seconds, key, value, 1, LIMIT_CAPTURE_S, why);
	if (is_capture && strcmp(key, "packets") == 0)
		return read_range(&out->packets, key, value, 1, LIMIT_CAPTURE_PACKETS, why);
	ops_refuse(why, "bad_request", "%s takes no argument \"%.40s\"",
		ops_command_infos[out->command].name, key);
	return false;
}

static bool read_command(struct ops_request *out, const json_t *cmd, struct ops_refusal *why)
{
	if (!json_is_string(cmd)) {
		ops_refuse(why, "bad_request", "\"cmd\" must be there and be a string");
		return false;
	}
	for (int i = 0; i < OPS_COMMAND_COUNT; i++) {
		if (strcmp(json_string_value(cmd), ops_command_infos[i].name) == 0) {
			*out = (struct ops_request){.command = (enum ops_command)i,
				.count = OPS_EVENTS_DEFAULT,
				.seconds = OPS_CAPTURE_SECONDS,
				.packets = OPS_CAPTURE_PACKETS,
				.port = "all"};
			return true;
		}
	}
	ops_refuse(why, "unknown_command", "there is no command \"%.40s\"", json_string_value(cmd));
	return false;
}

static bool read_root(struct ops_request *out, json_t *root, struct ops_refusal *why)
{
	if (!json_is_object(root)) {
		ops_refuse(why, "bad_request", "a request is one JSON object");
		return false;
	}
	if (!read_command(out, json_object_get(root, "cmd"), why))
		return false;
	const char *key;
	json_t *value;
	json_object_foreach(root, key, value)
	{
		if (strcmp(key, "cmd") != 0 && strcmp(key, "args") != 0) {
			ops_refuse(why, "bad_request", "unknown key \"%.40s\"", key);
			return false;
		}
	}
	json_t *args = json_object_get(root, "args");
	if (args != NULL && !json_is_object(args)) {
		ops_refuse(why, "bad_request", "\"args\" must be an object");
		return false;
	}
	json_object_foreach(args, key, value)
	{
		if (!read_arg(out, key, value, why))
			return false;
	}
	return true;
}

bool ops_request_parse(
	struct ops_request *out, const char *line, size_t len, struct ops_refusal *why)
{
	json_error_t error;
	json_t *root = json_loadb(line, len, JSON_REJECT_DUPLICATES, &error);
	if (root == NULL) {
		ops_refuse(why, "bad_request", "not JSON: %.120s at byte %d", error.text,
			error.position);
		return false;
	}
	bool is_good = read_root(out, root, why);
	json_decref(root);
	return is_good;
}

/* Texts of a person are in it: jansson knows how to write them. */
static int print_capture(const struct ops_request *r, char *out, size_t size)
{
	json_t *json = json_pack("{s:s, s:{s:s, s:i, s:i, s:s}}", "cmd",
		ops_command_infos[r->command].name, "args", "port", r->port, "seconds",
		(int)r->seconds, "packets", (int)r->packets, "filter", r->filter);
	size_t len = json_dumpb(json, out, size - 1, JSON_COMPACT | JSON_ENSURE_ASCII);
	json_decref(json);
	if (len == 0 || len >= size - 1) /* not UTF-8: nothing the node could read */
		return snprintf(out, size, "{}\n");
	out[len] = '\n';
	return (int)len + 1;
}

size_t ops_request_print(const struct ops_request *r, char *out, size_t size)
{
	const struct ops_command_info *info = &ops_command_infos[r->command];
	int n;
	if (r->command == OPS_CONNS)
		n = snprintf(out, size, "{\"cmd\":\"%s\",\"args\":{\"lcore\":%u,\"cursor\":%u}}\n",
			info->name, r->lcore, r->cursor);
	else if (r->command == OPS_EVENTS)
		n = snprintf(out, size, "{\"cmd\":\"%s\",\"args\":{\"count\":%u,\"follow\":%s}}\n",
			info->name, r->count, r->follow ? "true" : "false");
	else if (r->command == OPS_CAPTURE)
		n = print_capture(r, out, size);
	else
		n = snprintf(out, size, "{\"cmd\":\"%s\"}\n", info->name);
	MUST(n > 0 && (size_t)n < size);
	return (size_t)n;
}
