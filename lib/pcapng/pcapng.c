#include "lib/pcapng/pcapng.h"

#include <string.h>

enum block {
	BLOCK_SECTION = 0x0a0d0d0a,
	BLOCK_IFACE = 1,
	BLOCK_STATS = 5,
	BLOCK_PACKET = 6,
};

enum {
	BYTE_ORDER_MAGIC = 0x1a2b3c4d,
	LINK_ETHERNET = 1,
	NANOSECONDS = 9, /* if_tsresol: a power of ten */

	OPTION_END = 0,
	OPTION_SECTION_APPLICATION = 4,
	OPTION_IFACE_NAME = 2,
	OPTION_IFACE_RESOLUTION = 9,
	OPTION_PACKET_FLAGS = 2,
	OPTION_PACKET_QUEUE = 6,
	OPTION_STATS_DROPPED = 7, /* isb_osdrop: between the wire and whoever asked */
	OPTION_STATS_DELIVERED = 8,
};

/* A block under way. */
struct block_writer {
	uint8_t *out;
	size_t room;
	size_t len;
	bool is_full;
};

static void put(struct block_writer *w, const void *data, size_t len)
{
	static const uint8_t zeros[4];
	size_t pad = (4 - len % 4) % 4;
	if (w->is_full || w->room - w->len < len + pad) {
		w->is_full = true;
		return;
	}
	if (len != 0)
		memcpy(w->out + w->len, data, len);
	memcpy(w->out + w->len + len, zeros, pad);
	w->len += len + pad;
}

static void put32(struct block_writer *w, uint32_t value)
{
	put(w, &value, sizeof(value));
}

/* Times are written as two halves, the upper first. */
static void put_time(struct block_writer *w, uint64_t ns)
{
	put32(w, (uint32_t)(ns >> 32));
	put32(w, (uint32_t)ns);
}

static void put_option(struct block_writer *w, uint16_t code, const void *data, size_t len)
{
	uint16_t head[2] = {code, (uint16_t)len};
	put(w, head, sizeof(head));
	put(w, data, len);
}

static void put_text(struct block_writer *w, uint16_t code, const char *text)
{
	put_option(w, code, text, strnlen(text, PCAPNG_TEXT));
}

static struct block_writer begin(uint8_t *out, size_t room, enum block type)
{
	struct block_writer w = {.out = out, .room = room};
	put32(&w, type);
	put32(&w, 0); /* the length, known at the end */
	return w;
}

/* The options' end, and the length at both ends of the block. */
static size_t finish(struct block_writer *w)
{
	put_option(w, OPTION_END, NULL, 0);
	uint32_t total = (uint32_t)w->len + 4;
	put32(w, total);
	if (w->is_full)
		return 0;
	memcpy(w->out + 4, &total, sizeof(total));
	return total;
}

size_t pcapng_section(uint8_t *out, size_t room, const char *application)
{
	struct block_writer w = begin(out, room, BLOCK_SECTION);
	const uint16_t version[2] = {1, 0};
	const uint64_t unknown_length = UINT64_MAX;
	put32(&w, BYTE_ORDER_MAGIC);
	put(&w, version, sizeof(version));
	put(&w, &unknown_length, sizeof(unknown_length));
	put_text(&w, OPTION_SECTION_APPLICATION, application);
	return finish(&w);
}

size_t pcapng_iface(uint8_t *out, size_t room, const char *name, uint32_t snap_bytes)
{
	struct block_writer w = begin(out, room, BLOCK_IFACE);
	const uint16_t link[2] = {LINK_ETHERNET, 0};
	const uint8_t resolution = NANOSECONDS;
	put(&w, link, sizeof(link));
	put32(&w, snap_bytes);
	put_text(&w, OPTION_IFACE_NAME, name);
	put_option(&w, OPTION_IFACE_RESOLUTION, &resolution, sizeof(resolution));
	return finish(&w);
}

size_t pcapng_packet(uint8_t *out, size_t room, const struct pcapng_packet *p)
{
	struct block_writer w = begin(out, room, BLOCK_PACKET);
	const uint32_t flags = p->dir;
	put32(&w, p->iface);
	put_time(&w, p->time_ns);
	put32(&w, (uint32_t)p->data.len);
	put32(&w, p->len);
	put(&w, p->data.data, p->data.len);
	put_option(&w, OPTION_PACKET_FLAGS, &flags, sizeof(flags));
	put_option(&w, OPTION_PACKET_QUEUE, &p->queue, sizeof(p->queue));
	return finish(&w);
}

size_t pcapng_stats(uint8_t *out, size_t room, const struct pcapng_stats *s)
{
	struct block_writer w = begin(out, room, BLOCK_STATS);
	put32(&w, s->iface);
	put_time(&w, s->time_ns);
	put_option(&w, OPTION_STATS_DROPPED, &s->dropped, sizeof(s->dropped));
	put_option(&w, OPTION_STATS_DELIVERED, &s->delivered, sizeof(s->delivered));
	return finish(&w);
}
