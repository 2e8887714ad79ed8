#include "lib/inflate/inflate_head.h"

#include <isa-l/crc.h>

enum head_state {
	HEAD_FIXED, /* the ten bytes every gzip header has */
	HEAD_EXTRA_LEN,
	HEAD_EXTRA,
	HEAD_NAME,
	HEAD_COMMENT,
	HEAD_CRC,
	HEAD_END,
	HEAD_ZLIB_METHOD,
	HEAD_ZLIB_FLAGS,
};

enum gzip_flag {
	FLAG_HCRC = 2,
	FLAG_EXTRA = 4,
	FLAG_NAME = 8,
	FLAG_COMMENT = 16,
	FLAGS_RESERVED = 0xe0,
};

void inflate_head_init(struct inflate_head *h, enum inflate_head_format format)
{
	*h = (struct inflate_head){
		.state = format == INFLATE_HEAD_GZIP ? HEAD_FIXED : HEAD_ZLIB_METHOD};
}

/* Goes to the next part that the flags say is there. */
static void go(struct inflate_head *h, enum head_state state)
{
	static const uint8_t flag_of[HEAD_END] = {
		[HEAD_EXTRA_LEN] = FLAG_EXTRA,
		[HEAD_EXTRA] = FLAG_EXTRA,
		[HEAD_NAME] = FLAG_NAME,
		[HEAD_COMMENT] = FLAG_COMMENT,
		[HEAD_CRC] = FLAG_HCRC,
	};
	while (state < HEAD_END && (h->flags & flag_of[state]) == 0)
		state++;
	h->state = (uint8_t)state;
	h->at = 0;
}

static bool on_fixed(struct inflate_head *h, uint8_t b)
{
	static const uint8_t magic[] = {0x1f, 0x8b, 8};
	unsigned at = h->at++;
	if (at < sizeof magic)
		return b == magic[at];
	if (at == 3) {
		h->flags = b;
		return (b & FLAGS_RESERVED) == 0;
	}
	if (at == 9)
		go(h, HEAD_EXTRA_LEN);
	return true;
}

/* True when both bytes of a number have come. */
static bool on_number(struct inflate_head *h, uint8_t b)
{
	h->number = h->at == 0 ? b : (uint16_t)(h->number | b << 8);
	return h->at++ == 1;
}

static bool on_byte(struct inflate_head *h, uint8_t b)
{
	switch ((enum head_state)h->state) {
	case HEAD_FIXED:
		return on_fixed(h, b);
	case HEAD_EXTRA_LEN:
		if (on_number(h, b))
			go(h, h->number != 0 ? HEAD_EXTRA : HEAD_NAME);
		return true;
	case HEAD_EXTRA:
		if (--h->number == 0)
			go(h, HEAD_NAME);
		return true;
	case HEAD_NAME:
	case HEAD_COMMENT:
		if (b == 0)
			go(h, h->state + 1u);
		return true;
	case HEAD_CRC:
		if (!on_number(h, b))
			return true;
		go(h, HEAD_END);
		return h->number == (h->crc & 0xffff);
	case HEAD_ZLIB_METHOD:
		/* deflate with a window of at most 32 KiB */
		h->number = b;
		h->state = HEAD_ZLIB_FLAGS;
		return (b & 15) == 8 && b >> 4 <= 7;
	case HEAD_ZLIB_FLAGS:
		/* no preset dictionary: nobody could tell us which */
		h->state = HEAD_END;
		return (h->number << 8 | b) % 31 == 0 && (b & 0x20) == 0;
	case HEAD_END:
		break;
	}
	return false;
}

enum inflate_head_status inflate_head_feed(struct inflate_head *h, struct span *in)
{
	while (h->state != HEAD_END) {
		if (in->len == 0)
			return INFLATE_HEAD_MORE;
		uint8_t b = *in->data++;
		in->len--;
		bool is_summed = h->state != HEAD_CRC;
		if (!on_byte(h, b))
			return INFLATE_HEAD_BAD;
		if (is_summed)
			h->crc = crc32_gzip_refl(h->crc, &b, 1);
	}
	return INFLATE_HEAD_DONE;
}
