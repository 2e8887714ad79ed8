#include "lib/inflate/inflate.h"

#include <endian.h>
#include <errno.h>
#include <isa-l/igzip_lib.h>
#include <stdlib.h>
#include <string.h>
#define ZSTD_STATIC_LINKING_ONLY /* for a context in memory of our own, which never allocates */
#include <zstd.h>

#include "lib/inflate/inflate_head.h"

enum {
	WINDOW_BYTES = 65536,
	ZSTD_WINDOW_LOG_MAX = 23, /* 8 MiB: what RFC 9659 lets the coding use */
};

enum isal_at { ISAL_AT_HEAD, ISAL_AT_BODY, ISAL_AT_TRAILER, ISAL_AT_END };

struct inflate {
	struct inflate_state isal;
	struct inflate_head head;
	enum isal_at at;
	uint8_t trailer[8];
	uint8_t trailer_len;
	ZSTD_DStream *zstd;
	void *zstd_memory;
	/* of the run under way */
	inflate_sink *sink;
	void *ctx;
	uint64_t given, cap;
	alignas(CACHE_LINE) uint8_t window[WINDOW_BYTES];
};

int inflate_init(struct inflate **out)
{
	size_t size = ZSTD_estimateDStreamSize((size_t)1 << ZSTD_WINDOW_LOG_MAX);
	struct inflate *in = aligned_alloc(CACHE_LINE, sizeof *in);
	if (in == NULL)
		return -ENOMEM;
	in->zstd_memory = malloc(size);
	in->zstd = in->zstd_memory != NULL ? ZSTD_initStaticDStream(in->zstd_memory, size) : NULL;
	if (in->zstd == NULL || ZSTD_isError(ZSTD_DCtx_setParameter(
					in->zstd, ZSTD_d_windowLogMax, ZSTD_WINDOW_LOG_MAX))) {
		inflate_fini(in);
		return -ENOMEM;
	}
	isal_inflate_init(&in->isal);
	*out = in;
	return 0;
}

void inflate_fini(struct inflate *in)
{
	if (in == NULL)
		return;
	free(in->zstd_memory);
	free(in);
}

/* Hands a piece on, unless it breaks the cap. */
static enum inflate_status give(struct inflate *in, const uint8_t *data, size_t len)
{
	if (len > in->cap - in->given)
		return INFLATE_CAP;
	in->given += len;
	if (len != 0 && !in->sink(in->ctx, data, len))
		return INFLATE_NO_ROOM;
	return INFLATE_DONE;
}

/* A gzip member or a zlib stream starts. */
static void isal_begin(struct inflate *in, enum inflate_head_format format)
{
	inflate_head_init(&in->head, format);
	isal_inflate_reset(&in->isal);
	in->isal.crc_flag = format == INFLATE_HEAD_GZIP ? ISAL_GZIP_NO_HDR : ISAL_ZLIB_NO_HDR;
	in->trailer_len = 0;
	in->at = ISAL_AT_HEAD;
}

/* When deflate ends, ISA-L has bytes behind it in its bit buffer: they are the trailer's. Its own
 * check of a zlib trailer would swallow those that come after it. */
static void isal_end_body(struct inflate *in)
{
	uint64_t bits = in->isal.read_in >> in->isal.read_in_length % 8;
	for (int i = 0; i < in->isal.read_in_length / 8; i++, bits >>= 8)
		in->trailer[in->trailer_len++] = (uint8_t)bits;
	in->at = ISAL_AT_TRAILER;
}

/* Decodes from *part until it is empty or deflate ends. */
static enum inflate_status isal_body(struct inflate *in, struct span *part)
{
	struct inflate_state *s = &in->isal;
	s->next_in = (uint8_t *)(uintptr_t)part->data;
	s->avail_in = (uint32_t)part->len;
	do {
		s->next_out = in->window;
		s->avail_out = WINDOW_BYTES;
		int rc = isal_inflate(s);
		if (rc != ISAL_DECOMP_OK && rc != ISAL_END_INPUT && rc != ISAL_OUT_OVERFLOW)
			return INFLATE_DAMAGED;
		enum inflate_status status = give(in, in->window, WINDOW_BYTES - s->avail_out);
		if (status != INFLATE_DONE)
			return status;
	} while (s->block_state != ISAL_BLOCK_FINISH && s->avail_out == 0);
	*part = (struct span){s->next_in, s->avail_in};
	if (s->block_state == ISAL_BLOCK_FINISH)
		isal_end_body(in);
	else if (part->len != 0)
		return INFLATE_DAMAGED;
	return INFLATE_DONE;
}

/* gzip: CRC-32 and length, little-endian; zlib: Adler-32, big-endian. */
static bool isal_trailer_is_right(const struct inflate *in, enum inflate_head_format format)
{
	uint32_t words[2];
	memcpy(words, in->trailer, sizeof words);
	if (format == INFLATE_HEAD_ZLIB)
		return be32toh(words[0]) == in->isal.crc;
	return le32toh(words[0]) == in->isal.crc && le32toh(words[1]) == in->isal.total_out;
}

static enum inflate_status isal_trailer(
	struct inflate *in, struct span *part, enum inflate_head_format format)
{
	unsigned len = format == INFLATE_HEAD_GZIP ? 8 : 4;
	while (in->trailer_len < len && part->len != 0) {
		in->trailer[in->trailer_len++] = *part->data++;
		part->len--;
	}
	if (in->trailer_len < len)
		return INFLATE_DONE;
	in->at = ISAL_AT_END;
	return in->trailer_len == len && isal_trailer_is_right(in, format) ? INFLATE_DONE
									   : INFLATE_DAMAGED;
}

/* Reads all of a part, or as much as is needed to know that it is bad. */
static enum inflate_status isal_part(
	struct inflate *in, struct span part, enum inflate_head_format format)
{
	enum inflate_status status = INFLATE_DONE;
	while (part.len != 0 && status == INFLATE_DONE) {
		if (in->at == ISAL_AT_END) {
			/* RFC 1952 2.2: a gzip file is a series of members. zlib has no such thing. */
			if (format != INFLATE_HEAD_GZIP)
				return INFLATE_DAMAGED;
			isal_begin(in, format);
		}
		if (in->at == ISAL_AT_HEAD) {
			enum inflate_head_status head = inflate_head_feed(&in->head, &part);
			if (head == INFLATE_HEAD_BAD)
				return INFLATE_DAMAGED;
			if (head == INFLATE_HEAD_MORE)
				return INFLATE_DONE;
			in->at = ISAL_AT_BODY;
		}
		if (in->at == ISAL_AT_BODY)
			status = isal_body(in, &part);
		if (in->at == ISAL_AT_TRAILER && status == INFLATE_DONE)
			status = isal_trailer(in, &part, format);
	}
	return status;
}

static enum inflate_status isal_run(struct inflate *in, const struct span *parts,
	unsigned part_count, enum inflate_head_format format)
{
	isal_begin(in, format);
	for (unsigned i = 0; i < part_count; i++) {
		MUST(parts[i].len <= UINT32_MAX);
		enum inflate_status status = isal_part(in, parts[i], format);
		if (status != INFLATE_DONE)
			return status;
	}
	return in->at == ISAL_AT_END ? INFLATE_DONE : INFLATE_DAMAGED;
}

/* *hint is 0 when the part ended together with a frame. */
static enum inflate_status zstd_part(struct inflate *in, struct span part, size_t *hint)
{
	ZSTD_inBuffer src = {part.data, part.len, 0};
	bool is_full = false;
	while (src.pos < src.size || (is_full && *hint != 0)) {
		ZSTD_outBuffer dst = {in->window, WINDOW_BYTES, 0};
		*hint = ZSTD_decompressStream(in->zstd, &dst, &src);
		if (ZSTD_isError(*hint))
			return INFLATE_DAMAGED;
		enum inflate_status status = give(in, in->window, dst.pos);
		if (status != INFLATE_DONE)
			return status;
		is_full = dst.pos == dst.size;
	}
	return INFLATE_DONE;
}

static enum inflate_status zstd_run(
	struct inflate *in, const struct span *parts, unsigned part_count)
{
	size_t hint = 1;
	if (ZSTD_isError(ZSTD_DCtx_reset(in->zstd, ZSTD_reset_session_only)))
		return INFLATE_DAMAGED;
	for (unsigned i = 0; i < part_count; i++) {
		enum inflate_status status = zstd_part(in, parts[i], &hint);
		if (status != INFLATE_DONE)
			return status;
	}
	return hint == 0 ? INFLATE_DONE : INFLATE_DAMAGED;
}

static enum inflate_status identity_run(
	struct inflate *in, const struct span *parts, unsigned part_count)
{
	for (unsigned i = 0; i < part_count; i++) {
		enum inflate_status status = give(in, parts[i].data, parts[i].len);
		if (status != INFLATE_DONE)
			return status;
	}
	return INFLATE_DONE;
}

enum inflate_status inflate_run(struct inflate *in, enum inflate_coding coding,
	const struct span *parts, unsigned part_count, inflate_sink *sink, void *ctx)
{
	uint64_t input = 0;
	for (unsigned i = 0; i < part_count; i++)
		input += parts[i].len;
	in->sink = sink;
	in->ctx = ctx;
	in->given = 0;
	in->cap = LIMIT_INFLATE_BYTES;
	if (input < LIMIT_INFLATE_BYTES / LIMIT_INFLATE_RATIO)
		in->cap = input * LIMIT_INFLATE_RATIO;
	switch (coding) {
	case INFLATE_IDENTITY:
		return identity_run(in, parts, part_count);
	case INFLATE_GZIP:
		return isal_run(in, parts, part_count, INFLATE_HEAD_GZIP);
	case INFLATE_DEFLATE:
		return isal_run(in, parts, part_count, INFLATE_HEAD_ZLIB);
	case INFLATE_ZSTD:
		return zstd_run(in, parts, part_count);
	}
	return INFLATE_DAMAGED;
}

int inflate_coding_parse(enum inflate_coding *out, struct span v)
{
	static const struct {
		struct span name;
		enum inflate_coding coding;
	} codings[] = {
		{SPAN_LITERAL(""), INFLATE_IDENTITY},
		{SPAN_LITERAL("identity"), INFLATE_IDENTITY},
		{SPAN_LITERAL("gzip"), INFLATE_GZIP},
		{SPAN_LITERAL("x-gzip"), INFLATE_GZIP},
		{SPAN_LITERAL("deflate"), INFLATE_DEFLATE},
		{SPAN_LITERAL("zstd"), INFLATE_ZSTD},
	};
	while (v.len != 0 && (v.data[v.len - 1] == ' ' || v.data[v.len - 1] == '\t'))
		v.len--;
	while (v.len != 0 && (v.data[0] == ' ' || v.data[0] == '\t'))
		v = (struct span){v.data + 1, v.len - 1};
	for (unsigned i = 0; i < ARRAY_LEN(codings); i++) {
		if (span_equals_nocase(v, codings[i].name)) {
			*out = codings[i].coding;
			return 0;
		}
	}
	return -ENOTSUP;
}
