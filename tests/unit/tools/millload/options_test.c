#include "tools/millload/options.h"

#include <string.h>

#include "tests/unit/unit.h"

static struct options o;
static char why[256];

/* Splits `line` at blanks and parses it. */
static bool parse(const char *line)
{
	static char text[512];
	char *argv[32] = {"millload"};
	int argc = 1;
	strcpy(text, line);
	for (char *word = strtok(text, " "); word != NULL; word = strtok(NULL, " "))
		argv[argc++] = word;
	return options_parse(&o, argc, argv, why, sizeof(why));
}

#define URL "http://127.0.0.1:8080/o/x "

static void defaults(void)
{
	CU_ASSERT_FATAL(parse(URL));
	CU_ASSERT(o.connections == 64 && o.pipeline == 1 && o.rate == 0 && o.duration_ms == 10000);
	CU_ASSERT(o.expect_status == 200 && o.expect_length == OPTIONS_ANY);
	CU_ASSERT(o.backend == OPTIONS_HOST && o.sources.count == 0 && o.lcore == OPTIONS_ANY);
	CU_ASSERT_STRING_EQUAL(o.method, "GET");
	/* A run is always bounded. */
	CU_ASSERT_FATAL(parse(URL "-n 5"));
	CU_ASSERT(o.requests == 5 && o.duration_ms == 3600000);
	CU_ASSERT(parse("--help") && o.is_help);
	CU_ASSERT(parse("--version") && o.is_version);
}

static void takes(void)
{
	CU_ASSERT_FATAL(parse("-c 3 -p 64 --rate=500 -d 1.5 -w 0.25 --timeout 7 --idle 9 " URL
			      "-H A:b --method PUT --body f --expect-status 201 --json -q"));
	CU_ASSERT(o.connections == 3 && o.pipeline == 64 && o.rate == 500 && o.idle == 9);
	CU_ASSERT(o.duration_ms == 1500 && o.warmup_ms == 250 && o.timeout_ms == 7);
	CU_ASSERT(o.header_count == 1 && o.expect_status == 201 && o.is_json && o.is_quiet);
	CU_ASSERT_FATAL(parse("udp://[::1]:9 --one-way --payload 1400 --source ::1"));
	CU_ASSERT(o.is_one_way && o.payload == 1400 && o.sources.count == 1);
}

static void dpdk(void)
{
	CU_ASSERT_FATAL(parse("--backend dpdk --vdev net_memif0,role=client --lcore 1 --gateway "
			      "10.0.0.1 --address 10.0.0.2-10.0.0.17/24 http://10.0.0.1/"));
	CU_ASSERT(o.backend == OPTIONS_DPDK && o.address_count == 16 && o.lcore == 1);
	CU_ASSERT_STRING_EQUAL(o.addresses[15], "10.0.0.17/24");
	CU_ASSERT_EQUAL(o.sources.count, 16);
	/* Only addresses that can reach the target are sources. */
	CU_ASSERT_FATAL(parse("--backend dpdk --vdev x --address 10.0.0.2/24 --address fd00::2/64 "
			      "http://[fd00::1]:80/"));
	CU_ASSERT(o.address_count == 2 && o.sources.count == 1 && !addr_is_v4(&o.sources.at[0]));
}

/* At each limit, and one past it. */
static void limits(void)
{
	static const struct {
		const char *line;
		bool is_good;
	} table[] = {
		{URL "-c 1", true},
		{URL "-c 0", false},
		{URL "-c 1000000", true},
		{URL "-c 1000001", false},
		{URL "-p 64", true},
		{URL "-p 65", false},
		{URL "-d 0.001", true},
		{URL "-d 0", false},
		{URL "-d 0.0001", false},
		{URL "-d 86400", true},
		{URL "-d 86400.001", false},
		{URL "-w 0", true},
		{URL "--idle 4000000", true},
		{URL "--idle 4000001", false},
		{URL "--expect-status 200", true},
		{URL "--expect-status 199", false},
		{URL "--expect-status 599", true},
		{URL "--expect-status 600", false},
		{"udp://1.2.3.4:5 --payload 16", true},
		{"udp://1.2.3.4:5 --payload 15", false},
		{"udp://1.2.3.4:5 --payload 1401", false},
		{URL URL URL URL URL URL URL URL, true},
		{URL URL URL URL URL URL URL URL URL, false},
		{"--backend dpdk --vdev x --address 10.0.0.1-10.0.0.17/24 " URL, false},
	};
	for (unsigned i = 0; i < ARRAY_LEN(table); i++)
		CU_ASSERT_EQUAL(parse(table[i].line), table[i].is_good);
}

static void refuses(void)
{
	static const char *const table[] = {
		"",
		"--nonsense " URL,
		URL "-c",
		URL "-c x",
		URL "-c -1",
		URL "-c 1x",
		URL "-d .5",
		URL "-d 5.",
		URL "-d 1.2.3",
		URL "-r 0",
		URL "--method TRACE",
		URL "-H nocolon",
		URL "-H :x",
		URL "--backend fstack",
		URL "--source 10.0.0.1-",
		URL "--source ::1",
		URL "--one-way",
		URL "--per-request -p 2",
		URL "--vdev x",
		URL "--backend dpdk",
		URL "--backend dpdk --vdev x",
		URL "--backend dpdk --vdev x --address 10.0.0.1",
		URL "--backend dpdk --vdev x --address 10.0.0.1/33",
		URL "--backend dpdk --vdev x --address 10.0.0.1/24 --gateway no",
		URL "udp://127.0.0.1:5",
		URL "http://[::1]/",
		"udp://127.0.0.1:5 --per-request",
		"udp://127.0.0.1:5 --idle 1",
		"https://127.0.0.1/",
	};
	for (unsigned i = 0; i < ARRAY_LEN(table); i++) {
		why[0] = '\0';
		CU_ASSERT_FALSE(parse(table[i]));
		CU_ASSERT_NOT_EQUAL(why[0], '\0');
	}
	CU_ASSERT_FALSE(parse(URL "--rate=no"));
	CU_ASSERT_STRING_EQUAL(why, "no is not a good value for --rate");
}

static void field_must_not_end_the_head(void)
{
	char *argv[] = {"millload", "-H", "A: b\r\nC: d", "http://127.0.0.1/", NULL};
	CU_ASSERT_FALSE(options_parse(&o, 4, argv, why, sizeof(why)));
	argv[2] = "A: b";
	CU_ASSERT(options_parse(&o, 4, argv, why, sizeof(why)));
}

static const struct unit_case cases[] = {
	{"defaults", defaults},
	{"takes", takes},
	{"dpdk", dpdk},
	{"limits", limits},
	{"refuses", refuses},
	{"field_must_not_end_the_head", field_must_not_end_the_head},
};
UNIT_MAIN("tools/millload/options", cases)
