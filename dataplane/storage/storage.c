#include "dataplane/storage/storage_private.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/mem/mem.h"

int storage_open(struct storage **out, const struct conf *conf, char *why, size_t why_size)
{
	struct storage *st = mem_map(sizeof(*st));
	int rc = st == NULL ? -ENOMEM : storage_slab_init(&st->slab, conf->storage_slab_bytes);
	/* One more than chunks: the empty object has none. So the slab is full before the index. */
	if (rc == 0)
		rc = storage_index_init(&st->index, st->slab.count + 1);
	if (rc != 0) {
		snprintf(why, why_size, "cannot reserve storage.slab_bytes=%llu: %s",
			(unsigned long long)conf->storage_slab_bytes, strerror(-rc));
		storage_close(st);
		return rc;
	}
	*out = st;
	return 0;
}

void storage_close(struct storage *st)
{
	if (st == NULL)
		return;
	storage_index_fini(&st->index);
	storage_slab_fini(&st->slab);
	mem_unmap(st, sizeof(*st));
}

void storage_watch(struct storage *st, struct events *events)
{
	st->events = events;
}

static uint8_t *take_block(void *ctx, uint32_t *handle)
{
	struct storage *st = ctx;
	return storage_slab_take(&st->slab, handle) ? storage_slab_at(&st->slab, *handle) : NULL;
}

static void give_block(void *ctx, uint32_t handle)
{
	struct storage *st = ctx;
	storage_slab_give(&st->slab, handle);
}

struct http_blocks storage_blocks(struct storage *st)
{
	return (struct http_blocks){
		.take = take_block,
		.give = give_block,
		.ctx = st,
		.when_empty = ERR_STORAGE_FULL,
	};
}

bool storage_is_full(const struct storage *st)
{
	return atomic_load_explicit(&st->slab.is_full, memory_order_relaxed);
}

uint32_t storage_purge(struct storage *st)
{
	return storage_slab_purge(&st->slab);
}

/* Here, off the lcores, where the counter of lost events is at hand. */
static void tell_full(struct storage *st, struct tally *tally)
{
	uint32_t times = atomic_load_explicit(&st->slab.full_times, memory_order_relaxed);
	if (times == st->full_reported || st->events == NULL)
		return;
	st->full_reported = times;
	if (!events_emit(st->events, SHM_DATAPLANE, EVENT_STORAGE_FULL,
		    "the store is full: %u objects in %u chunks; writes are refused, reads go on",
		    storage_index_count(&st->index), st->slab.count))
		tally_inc(tally, TALLY_QUEUE_DROPPED + QUEUE_EVENTS);
}

void storage_report(struct storage *st, struct tally *tally)
{
	tally_set(tally, TALLY_STORAGE_OBJECTS, storage_index_count(&st->index));
	tally_set(tally, TALLY_STORAGE_CHUNKS_USED, st->slab.count - storage_slab_free(&st->slab));
	tally_set(tally, TALLY_STORAGE_CHUNKS_TOTAL, st->slab.count);
	tell_full(st, tally);
}

int storage_address_parse(struct http_req *rq, struct b3 *out)
{
	struct span below = rq->below;
	if (below.len == 1 + B3_TEXT && below.data[0] == '/' &&
		b3_parse(out, (struct span){below.data + 1, below.len - 1}) == 0)
		return 0;
	http_fail(rq, ERR_BAD_REQUEST, "an address is b3: and 64 lower-case hexadecimal digits");
	return -EINVAL;
}

static bool is_write(const struct http_req *rq)
{
	return rq->method == LABEL_METHOD_PUT || rq->method == LABEL_METHOD_POST;
}

static enum http_verdict begin(struct http_req *rq, void *service)
{
	if (is_write(rq))
		return storage_put_begin(rq, service);
	if (rq->head.body == HTTP_PARSE_BODY_NONE)
		return HTTP_CONTINUE;
	http_fail(rq, ERR_BAD_REQUEST, "GET and HEAD take no body");
	return HTTP_ANSWERED;
}

static enum http_verdict handle(struct http_req *rq, void *service)
{
	return is_write(rq) ? storage_put(rq, service) : storage_get(rq, service);
}

struct http_route storage_collection_route(struct storage *st)
{
	return (struct http_route){
		.label = LABEL_ROUTE_OBJECT,
		.methods = 1u << LABEL_METHOD_POST,
		.allow = "POST",
		.body = HTTP_BODY_COLLECT,
		.begin = begin,
		.handle = handle,
		.service = st,
	};
}

struct http_route storage_object_route(struct storage *st)
{
	return (struct http_route){
		.label = LABEL_ROUTE_OBJECT,
		.methods =
			1u << LABEL_METHOD_GET | 1u << LABEL_METHOD_HEAD | 1u << LABEL_METHOD_PUT,
		.allow = "GET, HEAD, PUT",
		.body = HTTP_BODY_COLLECT,
		.begin = begin,
		.handle = handle,
		.service = st,
	};
}
