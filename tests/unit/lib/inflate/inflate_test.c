#include "lib/inflate/inflate.h"

#include <errno.h>
#include <isa-l/igzip_lib.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "tests/unit/unit.h"

#define PLAIN "millrace takes packets past the kernel to the work"

/* Made by another implementation (zlib): all optional fields of the gzip header, the zlib format,
 * and zlib with a preset dictionary. */
/* clang-format off */
static const uint8_t gzip_all_fields[] = {
	0x1f, 0x8b, 0x08, 0x1e, 0x01, 0x02, 0x03, 0x04, 0x00, 0x03, 0x05, 0x00, 0x65, 0x78,
	0x74, 0x72, 0x61, 0x6e, 0x61, 0x6d, 0x65, 0x00, 0x63, 0x6f, 0x6d, 0x6d, 0x65, 0x6e,
	0x74, 0x00, 0x72, 0x2d, 0xcb, 0xcd, 0xcc, 0xc9, 0x29, 0x4a, 0x4c, 0x4e, 0x55, 0x28,
	0x49, 0xcc, 0x4e, 0x2d, 0x56, 0x28, 0x48, 0x4c, 0xce, 0x4e, 0x2d, 0x01, 0xd1, 0xc5,
	0x25, 0x0a, 0x25, 0x19, 0xa9, 0x0a, 0xd9, 0xa9, 0x45, 0x79, 0xa9, 0x39, 0x0a, 0x25,
	0xf9, 0x60, 0x5e, 0x79, 0x7e, 0x51, 0x36, 0x00, 0x54, 0xaa, 0xc9, 0x3b, 0x32, 0x00,
	0x00, 0x00,
};
static const uint8_t zlib_plain[] = {
	0x78, 0xda, 0xcb, 0xcd, 0xcc, 0xc9, 0x29, 0x4a, 0x4c, 0x4e, 0x55, 0x28, 0x49, 0xcc,
	0x4e, 0x2d, 0x56, 0x28, 0x48, 0x4c, 0xce, 0x4e, 0x2d, 0x01, 0xd1, 0xc5, 0x25, 0x0a,
	0x25, 0x19, 0xa9, 0x0a, 0xd9, 0xa9, 0x45, 0x79, 0xa9, 0x39, 0x0a, 0x25, 0xf9, 0x60,
	0x5e, 0x79, 0x7e, 0x51, 0x36, 0x00, 0xe1, 0x69, 0x12, 0xae,
};
static const uint8_t zlib_dictionary[] = {
	0x78, 0xf9, 0x29, 0x54, 0x05, 0x8d, 0xcb, 0xcd, 0xcc, 0xc9, 0x29, 0x4a, 0x4c, 0x4e,
	0x55, 0x28, 0x49, 0xcc, 0x4e, 0x2d, 0x86, 0x89, 0x02, 0xe9, 0xe2, 0x12, 0x85, 0x92,
	0x8c, 0x54, 0x85, 0x6c, 0x88, 0xea, 0x92, 0x7c, 0x30, 0xaf, 0x3c, 0xbf, 0x28, 0x1b,
	0x00, 0xe1, 0x69, 0x12, 0xae,
};
/* clang-format on */

struct buffer {
	uint8_t *data;
	size_t len, cap;
};

static struct buffer buffer_of(size_t cap)
{
	struct buffer b = {malloc(cap + 1), 0, cap};
	CU_ASSERT_FATAL(b.data != NULL);
	return b;
}

/* `random` bytes that do not compress, then zeros that do. */
static struct buffer make_data(size_t random, size_t len)
{
	struct buffer b = buffer_of(len);
	uint64_t x = 88172645463325252ull;
	memset(b.data, 0, len);
	b.len = len;
	for (size_t i = 0; i < random && i < len; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		b.data[i] = (uint8_t)(x >> 32);
	}
	return b;
}

static struct buffer deflate_wrapped(const uint8_t *data, size_t len, uint16_t wrapper)
{
	static uint8_t level_buf[ISAL_DEF_LVL1_DEFAULT];
	struct buffer b = buffer_of(len + len / 8 + 1024);
	struct isal_zstream s;
	isal_deflate_init(&s);
	s.next_in = (uint8_t *)(uintptr_t)data;
	s.avail_in = (uint32_t)len;
	s.next_out = b.data;
	s.avail_out = (uint32_t)b.cap;
	s.end_of_stream = 1;
	s.flush = NO_FLUSH;
	s.gzip_flag = wrapper;
	s.level = 1;
	s.level_buf = level_buf;
	s.level_buf_size = sizeof level_buf;
	CU_ASSERT_EQUAL_FATAL(isal_deflate(&s), COMP_OK);
	CU_ASSERT_EQUAL_FATAL(s.avail_in, 0);
	b.len = s.total_out;
	return b;
}

/* With a checksum, so that damage is always seen. window_log 0 is the library's choice. */
static struct buffer zstd_frame(const uint8_t *data, size_t len, int window_log)
{
	struct buffer b = buffer_of(ZSTD_compressBound(len) + 64);
	ZSTD_CCtx *c = ZSTD_createCCtx();
	ZSTD_inBuffer in = {data, len, 0};
	ZSTD_outBuffer out = {b.data, b.cap, 0};
	ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, 1);
	ZSTD_CCtx_setParameter(c, ZSTD_c_windowLog, window_log);
	/* The size is not told in advance, so the frame names the window and not the size. */
	if (window_log != 0)
		CU_ASSERT_FATAL(!ZSTD_isError(ZSTD_compressStream2(c, &out, &in, ZSTD_e_continue)));
	CU_ASSERT_EQUAL_FATAL(ZSTD_compressStream2(c, &out, &in, ZSTD_e_end), 0);
	b.len = out.pos;
	ZSTD_freeCCtx(c);
	return b;
}

static struct buffer encode(enum inflate_coding coding, const uint8_t *data, size_t len)
{
	if (coding == INFLATE_ZSTD)
		return zstd_frame(data, len, 0);
	return deflate_wrapped(data, len, coding == INFLATE_GZIP ? IGZIP_GZIP : IGZIP_ZLIB);
}

static const enum inflate_coding codings[] = {INFLATE_GZIP, INFLATE_DEFLATE, INFLATE_ZSTD};

/* What the sink saw. */
struct sink {
	uint8_t *data;
	size_t len, cap; /* refuses what is over cap */
	size_t piece_max;
};

static bool take(void *ctx, const uint8_t *data, size_t len)
{
	struct sink *s = ctx;
	if (len > s->piece_max)
		s->piece_max = len;
	if (len > s->cap - s->len)
		return false;
	memcpy(s->data + s->len, data, len);
	s->len += len;
	return true;
}

static struct inflate *shared;

static struct inflate *the_inflate(void)
{
	if (shared == NULL)
		CU_ASSERT_EQUAL_FATAL(inflate_init(&shared), 0);
	return shared;
}

/* Decodes `coded` in parts of `step` bytes, and says whether exactly `plain` came out. */
static enum inflate_status run(enum inflate_coding coding, const uint8_t *coded, size_t len,
	size_t step, const uint8_t *plain, size_t plain_len)
{
	struct sink s = {malloc(plain_len + 1), 0, plain_len, 0};
	unsigned count = 0;
	struct span *parts = malloc((len / step + 1) * sizeof *parts);
	for (size_t at = 0; at < len; at += step)
		parts[count++] = (struct span){coded + at, len - at < step ? len - at : step};
	enum inflate_status status = inflate_run(the_inflate(), coding, parts, count, take, &s);
	if (status == INFLATE_DONE) {
		CU_ASSERT_EQUAL(s.len, plain_len);
		CU_ASSERT_EQUAL(memcmp(s.data, plain, plain_len), 0);
	}
	CU_ASSERT(s.piece_max <= 65536 || coding == INFLATE_IDENTITY);
	free(parts);
	free(s.data);
	return status;
}

static void foreign_streams(void)
{
	const uint8_t *plain = (const uint8_t *)PLAIN;
	size_t n = sizeof PLAIN - 1;
	for (size_t step = 1; step <= sizeof gzip_all_fields; step++)
		CU_ASSERT_EQUAL(
			run(INFLATE_GZIP, gzip_all_fields, sizeof gzip_all_fields, step, plain, n),
			INFLATE_DONE);
	for (size_t step = 1; step <= sizeof zlib_plain; step++)
		CU_ASSERT_EQUAL(run(INFLATE_DEFLATE, zlib_plain, sizeof zlib_plain, step, plain, n),
			INFLATE_DONE);
	CU_ASSERT_EQUAL(
		run(INFLATE_DEFLATE, zlib_dictionary, sizeof zlib_dictionary, 4096, plain, n),
		INFLATE_DAMAGED);
	/* Neither format is taken for the other, nor for zstd. */
	CU_ASSERT_EQUAL(
		run(INFLATE_GZIP, zlib_plain, sizeof zlib_plain, 4096, plain, n), INFLATE_DAMAGED);
	CU_ASSERT_EQUAL(
		run(INFLATE_DEFLATE, gzip_all_fields, sizeof gzip_all_fields, 4096, plain, n),
		INFLATE_DAMAGED);
	CU_ASSERT_EQUAL(run(INFLATE_ZSTD, gzip_all_fields, sizeof gzip_all_fields, 4096, plain, n),
		INFLATE_DAMAGED);
}

static void sizes_round_trip(void)
{
	static const size_t sizes[] = {
		0, 1, 65535, 65536, 65537, 131072, 131073, 200000, 1048576, 1048577};
	for (unsigned c = 0; c < ARRAY_LEN(codings); c++) {
		for (unsigned i = 0; i < ARRAY_LEN(sizes); i++) {
			struct buffer d = make_data(sizes[i] / 2, sizes[i]);
			struct buffer z = encode(codings[c], d.data, d.len);
			static const size_t steps[] = {1, 7, 4096, 65536, 10000000};
			for (unsigned s = 0; s < ARRAY_LEN(steps); s++)
				CU_ASSERT_EQUAL(
					run(codings[c], z.data, z.len, steps[s], d.data, d.len),
					INFLATE_DONE);
			free(z.data);
			free(d.data);
		}
	}
}

/* never a partial result: no prefix of a stream is a stream. */
static void truncated_at_every_byte(void)
{
	struct buffer d = make_data(400, 600);
	for (unsigned c = 0; c < ARRAY_LEN(codings); c++) {
		struct buffer z = encode(codings[c], d.data, d.len);
		for (size_t len = 0; len < z.len; len++) {
			CU_ASSERT_EQUAL(
				run(codings[c], z.data, len, 4096, d.data, d.len), INFLATE_DAMAGED);
			CU_ASSERT_EQUAL(
				run(codings[c], z.data, len, 1, d.data, d.len), INFLATE_DAMAGED);
		}
		free(z.data);
	}
	free(d.data);
}

static void split_in_two_at_every_byte(void)
{
	struct buffer d = make_data(400, 600);
	for (unsigned c = 0; c < ARRAY_LEN(codings); c++) {
		struct buffer z = encode(codings[c], d.data, d.len);
		for (size_t at = 0; at <= z.len; at++) {
			struct sink s = {buffer_of(d.len).data, 0, d.len, 0};
			struct span parts[] = {{z.data, at}, {z.data + at, z.len - at}};
			CU_ASSERT_EQUAL(inflate_run(the_inflate(), codings[c], parts, 2, take, &s),
				INFLATE_DONE);
			CU_ASSERT(s.len == d.len && memcmp(s.data, d.data, d.len) == 0);
			free(s.data);
		}
		free(z.data);
	}
	free(d.data);
}

static void garbage_after_the_end(void)
{
	static const uint8_t tails[] = {0, 'x', 0x1f, 0x28};
	struct buffer d = make_data(400, 600);
	for (unsigned c = 0; c < ARRAY_LEN(codings); c++) {
		struct buffer z = encode(codings[c], d.data, d.len);
		for (unsigned i = 0; i < ARRAY_LEN(tails); i++) {
			z.data[z.len] = tails[i];
			for (size_t step = 1; step < 10000; step += 9998)
				CU_ASSERT_EQUAL(
					run(codings[c], z.data, z.len + 1, step, d.data, d.len),
					INFLATE_DAMAGED);
			/* The garbage as a part of its own. */
			CU_ASSERT_EQUAL(run(codings[c], z.data, z.len + 1, z.len, d.data, d.len),
				INFLATE_DAMAGED);
		}
		free(z.data);
	}
	free(d.data);
}

/* A flipped bit is found, or it carried no content (a time stamp, padding): run() compares what came
 * out. Nearly all are found. */
static void damaged_bits(void)
{
	struct buffer d = make_data(200, 300);
	for (unsigned c = 0; c < ARRAY_LEN(codings); c++) {
		struct buffer z = encode(codings[c], d.data, d.len);
		size_t found = 0;
		for (size_t bit = 0; bit < z.len * 8; bit++) {
			z.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
			enum inflate_status st =
				run(codings[c], z.data, z.len, 4096, d.data, d.len);
			found += st != INFLATE_DONE;
			z.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
		}
		CU_ASSERT(found > z.len * 8 - 80);
		CU_ASSERT_EQUAL(run(codings[c], z.data, z.len, 4096, d.data, d.len), INFLATE_DONE);
		free(z.data);
	}
	free(d.data);
}

static void several_members(void)
{
	static const enum inflate_coding both[] = {INFLATE_GZIP, INFLATE_ZSTD};
	struct buffer d = make_data(500, 1000);
	for (unsigned c = 0; c < ARRAY_LEN(both); c++) {
		struct buffer a = encode(both[c], d.data, 300), e = encode(both[c], d.data, 0),
			      b = encode(both[c], d.data + 300, 700);
		struct buffer all = buffer_of(a.len + e.len + b.len);
		memcpy(all.data, a.data, a.len);
		memcpy(all.data + a.len, e.data, e.len);
		memcpy(all.data + a.len + e.len, b.data, b.len);
		all.len = all.cap;
		for (size_t step = 1; step <= all.len; step++)
			CU_ASSERT_EQUAL(
				run(both[c], all.data, all.len, step, d.data, d.len), INFLATE_DONE);
		for (size_t len = a.len + 1; len < a.len + e.len; len++)
			CU_ASSERT_EQUAL(
				run(both[c], all.data, len, 4096, d.data, d.len), INFLATE_DAMAGED);
		free(all.data);
		free(a.data);
		free(b.data);
		free(e.data);
	}
	/* zlib has no members. */
	struct buffer a = encode(INFLATE_DEFLATE, d.data, d.len);
	struct buffer twice = buffer_of(2 * a.len);
	memcpy(twice.data, a.data, a.len);
	memcpy(twice.data + a.len, a.data, a.len);
	CU_ASSERT_EQUAL(
		run(INFLATE_DEFLATE, twice.data, twice.cap, 4096, d.data, d.len), INFLATE_DAMAGED);
	free(twice.data);
	free(a.data);
	free(d.data);
}

static void zstd_skippable_frames(void)
{
	static const uint8_t skip[] = {0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 'a', 'b', 'c'};
	struct buffer d = make_data(500, 1000), z = encode(INFLATE_ZSTD, d.data, d.len);
	struct buffer all = buffer_of(2 * sizeof skip + z.len);
	memcpy(all.data, skip, sizeof skip);
	memcpy(all.data + sizeof skip, z.data, z.len);
	memcpy(all.data + sizeof skip + z.len, skip, sizeof skip);
	for (size_t step = 1; step <= all.cap; step++)
		CU_ASSERT_EQUAL(
			run(INFLATE_ZSTD, all.data, all.cap, step, d.data, d.len), INFLATE_DONE);
	CU_ASSERT_EQUAL(
		run(INFLATE_ZSTD, all.data, all.cap - 1, 4096, d.data, d.len), INFLATE_DAMAGED);
	free(all.data);
	free(z.data);
	free(d.data);
}

static void zstd_window_limit(void)
{
	struct buffer d = make_data(4000, 4000);
	for (int log = 22; log <= 25; log++) {
		struct buffer z = zstd_frame(d.data, d.len, log);
		CU_ASSERT_EQUAL(run(INFLATE_ZSTD, z.data, z.len, 4096, d.data, d.len),
			log <= 23 ? INFLATE_DONE : INFLATE_DAMAGED);
		free(z.data);
	}
	free(d.data);
}

/* Data that inflates to exactly `ratio` times its coded length: grows the data until both meet. */
static struct buffer at_ratio(enum inflate_coding coding, struct buffer *coded)
{
	size_t len = 20000;
	for (unsigned tries = 0; tries < 100; tries++) {
		struct buffer d = make_data(2000, len), z = encode(coding, d.data, d.len);
		if (z.len * LIMIT_INFLATE_RATIO == len) {
			*coded = z;
			return d;
		}
		len = z.len * LIMIT_INFLATE_RATIO;
		free(z.data);
		free(d.data);
	}
	CU_FAIL_FATAL("no data of exactly this ratio");
	return (struct buffer){0};
}

/* 10x the input is allowed, one byte more is not. */
static void ratio_boundary(void)
{
	for (unsigned c = 0; c < ARRAY_LEN(codings); c++) {
		struct buffer z = {0}, d = at_ratio(codings[c], &z);
		CU_ASSERT_EQUAL(run(codings[c], z.data, z.len, 4096, d.data, d.len), INFLATE_DONE);
		struct buffer d2 = make_data(2000, d.len + 1), z2;
		z2 = encode(codings[c], d2.data, d2.len);
		CU_ASSERT_EQUAL_FATAL(z2.len, z.len);
		CU_ASSERT_EQUAL(
			run(codings[c], z2.data, z2.len, 4096, d2.data, d2.len), INFLATE_CAP);
		free(z2.data);
		free(d2.data);
		free(z.data);
		free(d.data);
	}
}

/* 10 MiB is allowed, one byte more is not, whatever the input. */
static void absolute_boundary(void)
{
	for (unsigned c = 0; c < ARRAY_LEN(codings); c++) {
		for (size_t over = 0; over <= 1; over++) {
			struct buffer d = make_data(1100000, LIMIT_INFLATE_BYTES + over);
			struct buffer z = encode(codings[c], d.data, d.len);
			CU_ASSERT_EQUAL(run(codings[c], z.data, z.len, 65536, d.data, d.len),
				over == 0 ? INFLATE_DONE : INFLATE_CAP);
			free(z.data);
			free(d.data);
		}
	}
}

static bool count(void *ctx, const uint8_t *data, size_t len)
{
	(void)data;
	*(size_t *)ctx += len;
	return true;
}

/* a bomb is stopped at the cap; the sink never sees more than the cap allows. */
static void bombs(void)
{
	struct buffer d = make_data(0, 64u << 20);
	for (unsigned c = 0; c < ARRAY_LEN(codings); c++) {
		struct buffer z = encode(codings[c], d.data, d.len);
		struct span part = {z.data, z.len};
		size_t seen = 0;
		CU_ASSERT(z.len < d.len / 100);
		CU_ASSERT_EQUAL(inflate_run(the_inflate(), codings[c], &part, 1, count, &seen),
			INFLATE_CAP);
		CU_ASSERT(seen <= z.len * LIMIT_INFLATE_RATIO);
		free(z.data);
	}
	free(d.data);
}

/* A run that ended badly leaves nothing behind for the next. */
static void runs_are_independent(void)
{
	struct buffer d = make_data(300, 500);
	for (unsigned c = 0; c < ARRAY_LEN(codings); c++) {
		struct buffer z = encode(codings[c], d.data, d.len);
		for (size_t cut = 1; cut < z.len; cut++) {
			(void)run(codings[c], z.data, cut, 4096, d.data, d.len);
			CU_ASSERT_EQUAL(
				run(codings[c], z.data, z.len, 4096, d.data, d.len), INFLATE_DONE);
		}
		free(z.data);
	}
	free(d.data);
}

static void sink_refuses(void)
{
	struct buffer d = make_data(300, 500);
	for (unsigned c = 0; c < ARRAY_LEN(codings); c++) {
		struct buffer z = encode(codings[c], d.data, d.len);
		struct sink s = {d.data, 0, d.len - 1, 0};
		struct span part = {z.data, z.len};
		CU_ASSERT_EQUAL(inflate_run(the_inflate(), codings[c], &part, 1, take, &s),
			INFLATE_NO_ROOM);
		free(z.data);
	}
	free(d.data);
}

static void identity(void)
{
	struct buffer d = make_data(300, 500);
	CU_ASSERT_EQUAL(run(INFLATE_IDENTITY, d.data, d.len, 100, d.data, d.len), INFLATE_DONE);
	CU_ASSERT_EQUAL(run(INFLATE_IDENTITY, d.data, 0, 100, d.data, 0), INFLATE_DONE);
	free(d.data);
}

/* unknown and stacked codings are 415. */
static void coding_names(void)
{
	static const struct {
		struct span text;
		int coding; /* or -ENOTSUP */
	} cases[] = {
		{SPAN_LITERAL(""), INFLATE_IDENTITY},
		{SPAN_LITERAL("identity"), INFLATE_IDENTITY},
		{SPAN_LITERAL("gzip"), INFLATE_GZIP},
		{SPAN_LITERAL("GZip"), INFLATE_GZIP},
		{SPAN_LITERAL("x-gzip"), INFLATE_GZIP},
		{SPAN_LITERAL(" gzip\t"), INFLATE_GZIP},
		{SPAN_LITERAL("deflate"), INFLATE_DEFLATE},
		{SPAN_LITERAL("zstd"), INFLATE_ZSTD},
		{SPAN_LITERAL("br"), -ENOTSUP},
		{SPAN_LITERAL("compress"), -ENOTSUP},
		{SPAN_LITERAL("gzip, gzip"), -ENOTSUP},
		{SPAN_LITERAL("identity, gzip"), -ENOTSUP},
		{SPAN_LITERAL("gzip,zstd"), -ENOTSUP},
		{SPAN_LITERAL("gzi"), -ENOTSUP},
		{SPAN_LITERAL("gzipp"), -ENOTSUP},
		{SPAN_LITERAL("gzip;q=1"), -ENOTSUP},
	};
	for (unsigned i = 0; i < ARRAY_LEN(cases); i++) {
		enum inflate_coding c = INFLATE_IDENTITY;
		int rc = inflate_coding_parse(&c, cases[i].text);
		CU_ASSERT_EQUAL(rc != 0 ? rc : (int)c, cases[i].coding);
	}
}

static void end(void)
{
	inflate_fini(shared);
	inflate_fini(NULL);
	shared = NULL;
	CU_PASS("freed");
}

static const struct unit_case cases[] = {
	{"foreign streams", foreign_streams},
	{"sizes round trip", sizes_round_trip},
	{"truncated at every byte", truncated_at_every_byte},
	{"split in two at every byte", split_in_two_at_every_byte},
	{"garbage after the end", garbage_after_the_end},
	{"damaged bits", damaged_bits},
	{"several members", several_members},
	{"zstd skippable frames", zstd_skippable_frames},
	{"zstd window limit", zstd_window_limit},
	{"ratio boundary", ratio_boundary},
	{"absolute boundary", absolute_boundary},
	{"bombs", bombs},
	{"runs are independent", runs_are_independent},
	{"sink refuses", sink_refuses},
	{"identity", identity},
	{"coding names", coding_names},
	{"end", end},
};

UNIT_MAIN("lib/inflate/inflate", cases)
