#include "tests/unit/dataplane/storage/storage_rig.h"

#include <stdio.h>
#include <string.h>

static const struct http_route *route(void *ctx, struct span path)
{
	struct storage_rig *sr = ctx;
	return path.len > 2 ? &sr->object : &sr->collection;
}

void storage_rig_start(struct storage_rig *sr, uint64_t slab_bytes)
{
	char why[128];
	rig_init(&sr->rig);
	sr->rig.conf.storage_slab_bytes = slab_bytes;
	MUST(storage_open(&sr->st, &sr->rig.conf, why, sizeof(why)) == 0);
	storage_watch(sr->st, &sr->rig.seg->events);
	sr->collection = storage_collection_route(sr->st);
	sr->object = storage_object_route(sr->st);
	sr->collection.prefix_bytes = sr->object.prefix_bytes = 2;
	struct http_blocks blocks = storage_blocks(sr->st);
	rig_start(&sr->rig, &(struct rig_conf){.route = route, .route_ctx = sr, .blocks = &blocks});
}

void storage_rig_fini(struct storage_rig *sr)
{
	rig_fini(&sr->rig);
	storage_close(sr->st);
}

void storage_rig_address(char out[B3_TEXT + 1], const void *data, size_t len)
{
	struct b3 b;
	b3_of(&b, data, len);
	b3_print(&b, out);
	out[B3_TEXT] = '\0';
}

struct rig_reply storage_rig_write(
	struct rig_conn *c, const char *address, const char *fields, const void *data, size_t len)
{
	char head[512];
	snprintf(head, sizeof(head),
		"%s /o%s%s HTTP/1.1\r\nHost: a\r\n%sContent-Length: %zu\r\n\r\n",
		address != NULL ? "PUT" : "POST", address != NULL ? "/" : "",
		address != NULL ? address : "", fields, len);
	rig_say(c, head);
	rig_give(c, data, len);
	return rig_ask(c, "PUT", "");
}

struct rig_reply storage_rig_read(
	struct rig_conn *c, const char *method, const char *address, const char *fields)
{
	char head[1024];
	snprintf(head, sizeof(head), "%s /o/%s HTTP/1.1\r\nHost: a\r\n%s\r\n", method, address,
		fields);
	return rig_ask(c, method, head);
}
