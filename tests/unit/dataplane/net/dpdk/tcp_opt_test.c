#include <string.h>

#include "dataplane/net/dpdk/tcp_opt.h"
#include "tests/unit/unit.h"

struct row {
	const char *what;
	bool is_ok;
	uint8_t flags;
	unsigned len;
	uint8_t bytes[16];
};

/* clang-format off */
#define BYTES(...) sizeof((const uint8_t[]){__VA_ARGS__}), {__VA_ARGS__}
/* clang-format on */

static void test_parse(void)
{
	static const struct row rows[] = {
		{"nothing", true, 0, 0, {0}},
		{"MSS", true, TCP_OPT_MSS, BYTES(2, 4, 5, 180)},
		{"MSS too short", false, 0, BYTES(2, 3, 5)},
		{"MSS too long", false, 0, BYTES(2, 5, 5, 180, 0)},
		{"MSS cut", false, 0, BYTES(2, 4, 5)},
		{"MSS twice", false, 0, BYTES(2, 4, 5, 180, 2, 4, 5, 180)},
		{"scale", true, TCP_OPT_SCALE, BYTES(3, 3, 14)},
		{"scale too long", false, 0, BYTES(3, 4, 7, 0)},
		{"SACK permitted", true, TCP_OPT_SACK_OK, BYTES(4, 2)},
		{"SACK permitted with a body", false, 0, BYTES(4, 3, 0)},
		{"timestamps", true, TCP_OPT_TS, BYTES(1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2)},
		{"timestamps cut", false, 0, BYTES(8, 10, 0, 0, 0, 1, 0, 0, 0)},
		{"one SACK block", true, TCP_OPT_SACK, BYTES(5, 10, 0, 0, 0, 1, 0, 0, 0, 2)},
		{"half a SACK block", false, 0, BYTES(5, 6, 0, 0, 0, 1)},
		{"no SACK block", false, 0, BYTES(5, 2)},
		{"unknown is skipped", true, TCP_OPT_SACK_OK, BYTES(253, 4, 9, 9, 4, 2)},
		{"unknown, longer than the rest", false, 0, BYTES(253, 5, 9, 9)},
		{"a length below two", false, 0, BYTES(253, 1)},
		{"a length of zero", false, 0, BYTES(253, 0, 0, 0)},
		{"a kind and no length", false, 0, BYTES(1, 1, 1, 2)},
		{"the end hides what follows", true, 0, BYTES(0, 2, 99, 1)},
	};
	for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
		struct tcp_opt opt;
		bool is_ok = tcp_opt_parse(&opt, (struct span){rows[i].bytes, rows[i].len});
		if (is_ok != rows[i].is_ok || (is_ok && opt.flags != rows[i].flags))
			CU_FAIL(rows[i].what);
	}
}

static void test_limits(void)
{
	uint8_t nops[TCP_OPT_BYTES + 1];
	struct tcp_opt opt;
	memset(nops, 1, sizeof(nops));
	CU_ASSERT_TRUE(tcp_opt_parse(&opt, (struct span){nops, TCP_OPT_BYTES}));
	CU_ASSERT_FALSE(tcp_opt_parse(&opt, (struct span){nops, TCP_OPT_BYTES + 1}));
	/* RFC 7323 2.3: a shift above 14 is 14 */
	const uint8_t scale[] = {3, 3, 15};
	CU_ASSERT_TRUE(tcp_opt_parse(&opt, (struct span){scale, sizeof(scale)}));
	CU_ASSERT_EQUAL(opt.scale, TCP_OPT_SCALE_MAX);
	/* four blocks fit without timestamps, five never */
	uint8_t blocks[42] = {5, 34};
	CU_ASSERT_TRUE(tcp_opt_parse(&opt, (struct span){blocks, 34}));
	CU_ASSERT_EQUAL(opt.sack_count, 4);
	blocks[1] = 42;
	CU_ASSERT_FALSE(tcp_opt_parse(&opt, (struct span){blocks, 40}));
}

static void test_round_trip(void)
{
	for (unsigned flags = 0; flags < 32; flags++) {
		struct tcp_opt in = {.flags = (uint8_t)flags,
			.mss = 1460,
			.scale = 7,
			.ts_val = 0x01020304,
			.ts_ecr = 0xfffefdfc,
			.sack_count = 4};
		for (unsigned i = 0; i < 4; i++)
			in.sack[i] = (struct tcp_range){100 * i, 100 * i + 50};
		uint8_t bytes[TCP_OPT_BYTES];
		unsigned len = tcp_opt_write(&in, bytes);
		CU_ASSERT_EQUAL(len, tcp_opt_size(&in));
		CU_ASSERT_EQUAL(len % 4, 0);
		CU_ASSERT_TRUE(len <= TCP_OPT_BYTES);
		struct tcp_opt out;
		CU_ASSERT_TRUE(tcp_opt_parse(&out, (struct span){bytes, len}));
		CU_ASSERT_EQUAL(out.flags, in.flags);
		if (flags & TCP_OPT_TS)
			CU_ASSERT_TRUE(out.ts_val == in.ts_val && out.ts_ecr == in.ts_ecr);
		if (flags & TCP_OPT_SACK)
			CU_ASSERT_TRUE(out.sack_count >= 1 &&
				       memcmp(out.sack, in.sack, out.sack_count * 8u) == 0);
	}
	/* with timestamps three blocks are left (RFC 2018 3) */
	struct tcp_opt ack = {.flags = TCP_OPT_TS | TCP_OPT_SACK, .sack_count = 4};
	CU_ASSERT_EQUAL(tcp_opt_size(&ack), 12 + 4 + 24);
}

static const struct unit_case cases[] = {
	{"parse", test_parse},
	{"limits", test_limits},
	{"round_trip", test_round_trip},
};

UNIT_MAIN("net.dpdk.tcp_opt", cases)
