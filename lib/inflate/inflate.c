#include "lib/inflate/inflate.h"

#include <errno.h>
#include <isa-l/igzip_lib.h>
#include <stdlib.h>
#include <string.h>
#define ZSTD_STATIC_LINKING_ONLY /* for a context in memory of our own, which never allocates */
#include <zstd.h>

enum {
	WINDOW_BYTES = 65536,
	ZSTD_WINDOW_LOG_MAX = 23, /* 8 MiB: what RFC 9659 lets the coding use */
};

struct inflate {
	struct inflate_state isal;
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

static bool isal_is_finished(const struct inflate *in)
{
	return in->isal.block_state == ISAL_BLOCK_FINISH;
}

static void isal_begin(struct inflate *in, uint32_t wrapper)
{
	isal_inflate_reset(&in->isal);
	in->isal.crc_flag = wrapper;
}

static enum inflate_status isal_part(struct inflate *in, struct span part, uint32_t wrapper)
{
	struct inflate_state *s = &in->isal;
	s->next_in = (uint8_t *)(uintptr_t)part.data;
	s->avail_in = (uint32_t)part.len;
	for (;;) {
		if (isal_is_finished(in)) {
			if (s->avail_in == 0)
				return INFLATE_DONE;
			/* RFC 1952 2.2: a gzip file is a series of members. zlib has no such thing. */
			if (wrapper != ISAL_GZIP)
				return INFLATE_DAMAGED;
			isal_begin(in, wrapper);
		}
		uint32_t before = s->avail_in;
		s->next_out = in->window;
		s->avail_out = WINDOW_BYTES;
		int rc = isal_inflate(s);
		if (rc != ISAL_DECOMP_OK && rc != ISAL_END_INPUT && rc != ISAL_OUT_OVERFLOW)
			return INFLATE_DAMAGED;
		enum inflate_status status = give(in, in->window, WINDOW_BYTES - s->avail_out);
		if (status != INFLATE_DONE)
			return status;
		if (s->avail_in == 0 && s->avail_out != 0)
			return INFLATE_DONE;
		if (s->avail_in == before && s->avail_out == WINDOW_BYTES && !isal_is_finished(in))
			return INFLATE_DAMAGED;
	}
}

static enum inflate_status isal_run(
	struct inflate *in, const struct span *parts, unsigned part_count, uint32_t wrapper)
{
	isal_begin(in, wrapper);
	for (unsigned i = 0; i < part_count; i++) {
		MUST(parts[i].len <= UINT32_MAX);
		enum inflate_status status = isal_part(in, parts[i], wrapper);
		if (status != INFLATE_DONE)
			return status;
	}
	return isal_is_finished(in) ? INFLATE_DONE : INFLATE_DAMAGED;
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
		return isal_run(in, parts, part_count, ISAL_GZIP);
	case INFLATE_DEFLATE:
		return isal_run(in, parts, part_count, ISAL_ZLIB);
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
