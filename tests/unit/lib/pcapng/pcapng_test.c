#include "lib/pcapng/pcapng.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/unit.h"

static uint32_t get32(const uint8_t *p)
{
	uint32_t v;
	memcpy(&v, p, sizeof(v));
	return v;
}

static uint16_t get16(const uint8_t *p)
{
	uint16_t v;
	memcpy(&v, p, sizeof(v));
	return v;
}

/* The value of an option in the options from `at` on, or NULL. */
static const uint8_t *option(
	const uint8_t *block, size_t at, size_t len, uint16_t code, uint16_t *value_len)
{
	while (at + 4 <= len - 4 && get16(block + at) != 0) {
		*value_len = get16(block + at + 2);
		if (get16(block + at) == code)
			return block + at + 4;
		at += 4 + (*value_len + 3u) / 4 * 4;
	}
	return NULL;
}

static void is_block(const uint8_t *block, size_t len, uint32_t type)
{
	CU_ASSERT_FATAL(len >= 12 && len % 4 == 0);
	CU_ASSERT_EQUAL(get32(block), type);
	CU_ASSERT_EQUAL(get32(block + 4), len);
	CU_ASSERT_EQUAL(get32(block + len - 4), len);
}

static void section(void)
{
	uint8_t out[PCAPNG_HEAD_BYTES];
	uint16_t n;
	size_t len = pcapng_section(out, sizeof(out), "millrace");
	is_block(out, len, 0x0a0d0d0a);
	CU_ASSERT_EQUAL(get32(out + 8), 0x1a2b3c4d);
	CU_ASSERT(get16(out + 12) == 1 && get16(out + 14) == 0);
	CU_ASSERT(get32(out + 16) == UINT32_MAX && get32(out + 20) == UINT32_MAX);
	const uint8_t *name = option(out, 24, len, 4, &n);
	CU_ASSERT(name != NULL && n == 8 && memcmp(name, "millrace", 8) == 0);
}

static void iface(void)
{
	uint8_t out[PCAPNG_HEAD_BYTES];
	uint16_t n;
	size_t len = pcapng_iface(out, sizeof(out), "net_ring0", 2016);
	is_block(out, len, 1);
	CU_ASSERT(get16(out + 8) == 1 && get32(out + 12) == 2016);
	const uint8_t *name = option(out, 16, len, 2, &n);
	CU_ASSERT(name != NULL && n == 9 && memcmp(name, "net_ring0", 9) == 0);
	const uint8_t *resolution = option(out, 16, len, 9, &n);
	CU_ASSERT(resolution != NULL && n == 1 && *resolution == 9);
	/* The longest name fits, a longer one is cut. */
	char longest[PCAPNG_TEXT + 2];
	memset(longest, 'x', sizeof(longest));
	longest[PCAPNG_TEXT] = '\0';
	CU_ASSERT_NOT_EQUAL(len = pcapng_iface(out, sizeof(out), longest, 1), 0);
	longest[PCAPNG_TEXT] = 'x';
	longest[PCAPNG_TEXT + 1] = '\0';
	CU_ASSERT_EQUAL(pcapng_iface(out, sizeof(out), longest, 1), len);
}

static void packet(void)
{
	static const uint8_t bytes[] = "abcdefgh";
	uint8_t out[128];
	uint16_t n;
	for (uint32_t kept = 0; kept <= 8; kept++) {
		struct pcapng_packet p = {.iface = 3,
			.queue = 5,
			.time_ns = 0x1122334455667788ull,
			.len = 1500,
			.data = {bytes, kept},
			.dir = PCAPNG_DIR_OUT};
		size_t padded = (kept + 3u) / 4 * 4;
		size_t len = pcapng_packet(out, sizeof(out), &p);
		is_block(out, len, 6);
		CU_ASSERT_EQUAL(len, padded + PCAPNG_PACKET_EXTRA);
		CU_ASSERT_EQUAL(get32(out + 8), 3);
		CU_ASSERT(get32(out + 12) == 0x11223344 && get32(out + 16) == 0x55667788);
		CU_ASSERT(get32(out + 20) == kept && get32(out + 24) == 1500);
		CU_ASSERT_EQUAL(memcmp(out + 28, bytes, kept), 0);
		const uint8_t *flags = option(out, 28 + padded, len, 2, &n);
		CU_ASSERT(flags != NULL && n == 4 && get32(flags) == 2);
		const uint8_t *queue = option(out, 28 + padded, len, 6, &n);
		CU_ASSERT(queue != NULL && n == 4 && get32(queue) == 5);
		/* At its room, and one short of it. */
		CU_ASSERT_EQUAL(pcapng_packet(out, len, &p), len);
		CU_ASSERT_EQUAL(pcapng_packet(out, len - 1, &p), 0);
	}
}

static void no_room_at_all(void)
{
	uint8_t out[1] = {7};
	struct pcapng_packet p = {.len = 1};
	struct pcapng_stats s = {.iface = 0};
	CU_ASSERT_EQUAL(pcapng_section(out, 0, "x"), 0);
	CU_ASSERT_EQUAL(pcapng_iface(out, 0, "x", 1), 0);
	CU_ASSERT_EQUAL(pcapng_packet(out, 0, &p), 0);
	CU_ASSERT_EQUAL(pcapng_stats(out, 0, &s), 0);
	CU_ASSERT_EQUAL(out[0], 7);
}

/* Somebody else's reader takes the file, where there is one. */
static void others_can_read_it(void)
{
	if (system("command -v capinfos >/dev/null 2>&1") != 0)
		return;
	static const uint8_t frame[60] = {[12] = 0x08, [13] = 0x06};
	uint8_t out[2048];
	size_t len = pcapng_section(out, sizeof(out), "millrace");
	len += pcapng_iface(out + len, sizeof(out) - len, "net_ring0", 2016);
	len += pcapng_iface(out + len, sizeof(out) - len, "net_ring1", 2016);
	for (uint32_t i = 0; i < 3; i++) {
		struct pcapng_packet p = {.iface = i % 2,
			.time_ns = 1700000000123456789ull + i,
			.len = 1514,
			.data = {frame, sizeof(frame)},
			.dir = i % 2 != 0 ? PCAPNG_DIR_OUT : PCAPNG_DIR_IN};
		len += pcapng_packet(out + len, sizeof(out) - len, &p);
	}
	struct pcapng_stats s = {.iface = 1, .time_ns = 1700000001000000000ull, .dropped = 4};
	len += pcapng_stats(out + len, sizeof(out) - len, &s);
	char path[] = "/tmp/pcapng-XXXXXX", command[128], text[64] = "";
	int fd = mkstemp(path);
	CU_ASSERT_FATAL(fd >= 0);
	CU_ASSERT_EQUAL(write(fd, out, len), (ssize_t)len);
	close(fd);
	snprintf(command, sizeof(command), "capinfos -M -c -T -r -Q %s 2>&1 | cut -f2 | tail -n 1",
		path);
	FILE *f = popen(command, "r");
	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	CU_ASSERT_PTR_NOT_NULL(fgets(text, sizeof(text), f));
	pclose(f);
	CU_ASSERT_PTR_NOT_NULL(strchr(text, '3'));
	unlink(path);
}

static const struct unit_case cases[] = {
	{"section", section},
	{"iface", iface},
	{"packet", packet},
	{"no_room_at_all", no_room_at_all},
	{"others_can_read_it", others_can_read_it},
};
UNIT_MAIN("lib/pcapng/pcapng", cases)
