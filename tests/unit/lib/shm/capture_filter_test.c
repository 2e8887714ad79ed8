#include "lib/shm/capture_filter.h"

#include <string.h>

#include "tests/unit/unit.h"

/* Frames, from the Ethernet header on. */
#define ETHER		 "\x02\0\0\0\0\1\x02\0\0\0\0\2"
#define IP4(proto, frag) "\x08\0\x45\0\0\x28\0\0" frag "\x40" proto "\0\0\x0a\0\0\1\x0a\0\0\2"
#define IP6_ADDRS	 "\x20\1\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\1\x20\1\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\2"
#define IP6(next)	 "\x86\xdd\x60\0\0\0\0\x20" next "\x40" IP6_ADDRS
#define PORTS		 "\x1f\x90\x9c\x40" /* 8080, 40000 */
#define FRAME(text) \
	{ \
		(const uint8_t *)(text), sizeof(text) - 1 \
	}

static const struct span tcp4 = FRAME(ETHER IP4("\6", "\0\0") PORTS);
static const struct span udp4 = FRAME(ETHER IP4("\x11", "\0\0") PORTS);
static const struct span icmp4 = FRAME(ETHER IP4("\1", "\0\0") PORTS);
static const struct span late4 = FRAME(ETHER IP4("\6", "\0\1") PORTS);
static const struct span tag4 = FRAME(ETHER "\x81\0\0\x64" IP4("\6", "\0\0") PORTS);
static const struct span tcp6 = FRAME(ETHER IP6("\6") PORTS);
static const struct span icmp6 = FRAME(ETHER IP6("\x3a") PORTS);
static const struct span opts6 = FRAME(ETHER IP6("\0") "\6\0\0\0\0\0\0\0" PORTS);
static const struct span late6 = FRAME(ETHER IP6("\x2c") "\6\0\0\x08\0\0\0\0" PORTS);
static const struct span arp =
	FRAME(ETHER "\x08\6\0\1\x08\0\6\4\0\1\2\0\0\0\0\2\x0a\0\0\1\0\0\0\0\0\0\x0a\0\0\2");

static bool matches(const char *text, struct span frame, enum capture_dir dir)
{
	struct capture_filter f;
	char why[160];
	CU_ASSERT_EQUAL_FATAL(capture_filter_parse(&f, text, why, sizeof(why)), 0);
	return capture_filter_matches(&f, frame, dir);
}

static void what_matches(void)
{
	static const struct {
		const char *text;
		const struct span *frame;
		bool is_match;
	} table[] = {
		{"", &tcp4, true},
		{"", &arp, true},
		{"tcp", &tcp4, true},
		{"tcp", &tcp6, true},
		{"tcp", &tag4, true},
		{"tcp", &udp4, false},
		{"tcp", &arp, false},
		{"udp", &udp4, true},
		{"icmp", &icmp4, true},
		{"icmp", &icmp6, true},
		{"icmp", &tcp6, false},
		{"arp", &arp, true},
		{"arp", &tcp4, false},
		{"ip", &tcp4, true},
		{"ip", &tcp6, false},
		{"ip", &arp, false},
		{"ip6", &tcp6, true},
		{"port 8080", &tcp4, true},
		{"port 40000", &tcp4, true},
		{"port 40001", &tcp4, false},
		{"port 8080", &icmp4, false},
		{"port 8080", &late4, false},
		{"port 8080", &late6, false},
		{"port 8080", &opts6, true},
		{"tcp and port 8080", &opts6, true},
		{"tcp", &late6, true},
		{"udp and port 8080", &tcp4, false},
		{"host 10.0.0.1", &tcp4, true},
		{"host 10.0.0.2", &tcp4, true},
		{"host 10.0.0.3", &tcp4, false},
		{"host 10.0.0.2", &arp, true},
		{"host 10.0.0.3", &arp, false},
		{"host 2001:db8::2", &tcp6, true},
		{"host 2001:db8::3", &tcp6, false},
		{"host 10.0.0.1", &tcp6, false},
		{"net 10.0.0.0/24", &tcp4, true},
		{"net 10.1.0.0/16", &tcp4, false},
		{"tcp  host 10.0.0.1   port 8080", &tcp4, true},
	};
	for (unsigned i = 0; i < ARRAY_LEN(table); i++)
		CU_ASSERT_EQUAL(
			matches(table[i].text, *table[i].frame, CAPTURE_IN), table[i].is_match);
	CU_ASSERT_TRUE(matches("in", tcp4, CAPTURE_IN));
	CU_ASSERT_FALSE(matches("in", tcp4, CAPTURE_OUT));
	CU_ASSERT_TRUE(matches("tcp and out", tcp4, CAPTURE_OUT));
	CU_ASSERT_FALSE(matches("tcp and out", tcp4, CAPTURE_IN));
}

static void refuses(void)
{
	static const char *const bad[] = {"tpc", "port", "port 0", "port 65536", "port x",
		"port -1", "port 80 port 81", "host", "host 10.0.0.0/24", "host 10.0.0",
		"net 10.0.0.1", "net 10.0.0.1/24", "host 10.0.0.1 net 10.0.0.0/8", "tcp udp",
		"ip ip6", "in out", "tcp or udp"};
	for (unsigned i = 0; i < ARRAY_LEN(bad); i++) {
		struct capture_filter f;
		char why[160] = "";
		CU_ASSERT_NOT_EQUAL(capture_filter_parse(&f, bad[i], why, sizeof(why)), 0);
		CU_ASSERT_EQUAL(strncmp(why, "filter: ", 8), 0);
	}
	char text[CAPTURE_FILTER_TEXT + 1], why[160];
	struct capture_filter f;
	memset(text, ' ', sizeof(text));
	text[CAPTURE_FILTER_TEXT - 1] = '\0';
	CU_ASSERT_EQUAL(capture_filter_parse(&f, text, why, sizeof(why)), 0);
	text[CAPTURE_FILTER_TEXT - 1] = ' ';
	text[CAPTURE_FILTER_TEXT] = '\0';
	CU_ASSERT_NOT_EQUAL(capture_filter_parse(&f, text, why, sizeof(why)), 0);
	CU_ASSERT_EQUAL(capture_filter_parse(&f, "port 65535", why, sizeof(why)), 0);
	CU_ASSERT_EQUAL(f.port, 65535);
}

/* Frames come from the wire: cut anywhere, nothing behind the end is read (under ASan). */
static void cut_frames(void)
{
	const struct span frames[] = {
		tcp4, udp4, icmp4, late4, tag4, tcp6, icmp6, opts6, late6, arp};
	for (unsigned i = 0; i < ARRAY_LEN(frames); i++) {
		for (size_t len = 0; len < frames[i].len; len++) {
			uint8_t copy[128];
			MUST(len < sizeof(copy));
			memcpy(copy + sizeof(copy) - len, frames[i].data, len);
			struct span cut = {copy + sizeof(copy) - len, len};
			CU_ASSERT_FALSE(matches("port 1 host 9.9.9.9", cut, CAPTURE_IN));
		}
	}
}

static const struct unit_case cases[] = {
	{"what_matches", what_matches},
	{"refuses", refuses},
	{"cut_frames", cut_frames},
};
UNIT_MAIN("lib/shm/capture_filter", cases)
