#include "lib/ops/ops_request.h"

#include <stdio.h>
#include <string.h>

#include "tests/unit/unit.h"

static bool parse(struct ops_request *r, struct ops_refusal *why, const char *line)
{
	return ops_request_parse(r, line, strlen(line), why);
}

static void every_command_round_trips(void)
{
	for (int i = 0; i < OPS_COMMAND_COUNT; i++) {
		struct ops_request in = {.command = (enum ops_command)i,
			.lcore = 3,
			.cursor = 77,
			.count = 9,
			.follow = true,
			.seconds = LIMIT_CAPTURE_S,
			.packets = LIMIT_CAPTURE_PACKETS,
			.port = "net_tap0,iface=\"x\"",
			.filter = "port 80"};
		struct ops_request out;
		struct ops_refusal why;
		char line[LIMIT_OPS_REQUEST_BYTES];
		size_t len = ops_request_print(&in, line, sizeof(line));
		CU_ASSERT_EQUAL(line[len - 1], '\n');
		CU_ASSERT_FATAL(ops_request_parse(&out, line, len - 1, &why));
		CU_ASSERT_EQUAL(out.command, in.command);
		if (in.command == OPS_CONNS)
			CU_ASSERT(out.lcore == 3 && out.cursor == 77);
		if (in.command == OPS_EVENTS)
			CU_ASSERT(out.count == 9 && out.follow);
		if (in.command != OPS_CAPTURE)
			continue;
		CU_ASSERT(out.seconds == in.seconds && out.packets == in.packets);
		CU_ASSERT_STRING_EQUAL(out.port, in.port);
		CU_ASSERT_STRING_EQUAL(out.filter, in.filter);
	}
}

static void refuses(void) /* N-4: strict, and says what by name */
{
	static const struct {
		const char *line, *error, *names;
	} table[] = {
		{"", "bad_request", "JSON"},
		{"{", "bad_request", "JSON"},
		{"nonsense", "bad_request", "JSON"},
		{"[]", "bad_request", "object"},
		{"\"status\"", "bad_request", "JSON"},
		{"{}", "bad_request", "cmd"},
		{"{\"cmd\":5}", "bad_request", "cmd"},
		{"{\"cmd\":null}", "bad_request", "cmd"},
		{"{\"cmd\":\"nonsense\"}", "unknown_command", "nonsense"},
		{"{\"cmd\":\"Status\"}", "unknown_command", "Status"},
		{"{\"cmd\":\"\"}", "unknown_command", ""},
		{"{\"cmd\":\"status\",\"x\":1}", "bad_request", "\"x\""},
		{"{\"cmd\":\"status\",\"cmd\":\"drain\"}", "bad_request", "JSON"},
		{"{\"cmd\":\"status\"} x", "bad_request", "JSON"},
		{"{\"cmd\":\"status\",\"args\":5}", "bad_request", "args"},
		{"{\"cmd\":\"status\",\"args\":{\"count\":1}}", "bad_request", "count"},
		{"{\"cmd\":\"conns\",\"args\":{\"lcore\":\"0\"}}", "bad_request", "lcore"},
		{"{\"cmd\":\"conns\",\"args\":{\"lcore\":-1}}", "bad_request", "lcore"},
		{"{\"cmd\":\"conns\",\"args\":{\"lcore\":16}}", "bad_request", "lcore"},
		{"{\"cmd\":\"conns\",\"args\":{\"lcore\":1.5}}", "bad_request", "lcore"},
		{"{\"cmd\":\"conns\",\"args\":{\"cursor\":4294967295}}", "bad_request", "cursor"},
		{"{\"cmd\":\"events\",\"args\":{\"count\":1025}}", "bad_request", "count"},
		{"{\"cmd\":\"events\",\"args\":{\"follow\":1}}", "bad_request", "follow"},
		{"{\"cmd\":\"events\",\"args\":{\"lcore\":0}}", "bad_request", "lcore"},
		{"{\"cmd\":\"capture\",\"args\":{\"port\":0}}", "bad_request", "port"},
		{"{\"cmd\":\"capture\",\"args\":{\"seconds\":0}}", "bad_request", "seconds"},
		{"{\"cmd\":\"capture\",\"args\":{\"seconds\":3601}}", "bad_request", "seconds"},
		{"{\"cmd\":\"capture\",\"args\":{\"packets\":1000001}}", "bad_request", "packets"},
		{"{\"cmd\":\"capture\",\"args\":{\"filter\":[]}}", "bad_request", "filter"},
		{"{\"cmd\":\"capture\",\"args\":{\"count\":1}}", "bad_request", "count"},
	};
	for (unsigned i = 0; i < ARRAY_LEN(table); i++) {
		struct ops_request r;
		struct ops_refusal why = {0};
		CU_ASSERT_FALSE(parse(&r, &why, table[i].line));
		CU_ASSERT_STRING_EQUAL(why.error, table[i].error);
		CU_ASSERT_PTR_NOT_NULL(strstr(why.message, table[i].names));
	}
}

static void accepts_the_limits(void)
{
	struct ops_request r;
	struct ops_refusal why;
	CU_ASSERT(parse(
		&r, &why, "{\"cmd\":\"conns\",\"args\":{\"lcore\":15,\"cursor\":4294967294}}"));
	CU_ASSERT(r.lcore == LIMIT_LCORES - 1 && r.cursor == UINT32_MAX - 1);
	CU_ASSERT(parse(&r, &why, "{\"cmd\":\"events\",\"args\":{\"count\":1024}}"));
	CU_ASSERT(r.count == QUEUE_CAPACITY_EVENTS && !r.follow);
	CU_ASSERT(parse(&r, &why, " {\"args\":{}, \"cmd\":\"events\"} "));
	CU_ASSERT_EQUAL(r.count, OPS_EVENTS_DEFAULT);
	CU_ASSERT(parse(&r, &why, "{\"cmd\":\"capture\"}"));
	CU_ASSERT(r.seconds == OPS_CAPTURE_SECONDS && r.packets == OPS_CAPTURE_PACKETS);
	CU_ASSERT_STRING_EQUAL(r.port, "all");
}

static void messages_stay_plain(void)
{
	/* Whatever the client sent, the refusal is one line of ASCII. */
	static const char *const lines[] = {"\xff\xfe", "{\"cmd\":\"a\\nb\\u0001\xc3\xa9\"}",
		"{\"cmd\":\"status\",\"\xe2\x82\xac\":1}"};
	for (unsigned i = 0; i < ARRAY_LEN(lines); i++) {
		struct ops_request r;
		struct ops_refusal why;
		CU_ASSERT_FALSE(parse(&r, &why, lines[i]));
		for (const char *c = why.message; *c != '\0'; c++)
			CU_ASSERT(*c >= 0x20 && *c <= 0x7e);
	}
}

static void only_these_are_audited(void) /* */
{
	for (int i = 0; i < OPS_COMMAND_COUNT; i++)
		CU_ASSERT_EQUAL(ops_command_infos[i].is_mutation,
			i == OPS_RELOAD || i == OPS_DRAIN || i == OPS_CAPTURE);
}

static const struct unit_case cases[] = {
	{"every_command_round_trips", every_command_round_trips},
	{"refuses", refuses},
	{"accepts_the_limits", accepts_the_limits},
	{"messages_stay_plain", messages_stay_plain},
	{"only_these_are_audited", only_these_are_audited},
};
UNIT_MAIN("lib/ops/ops_request", cases)
