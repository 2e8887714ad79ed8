#include "dataplane/gateway/gateway.h"

#include <errno.h>
#include <string.h>

#include "dataplane/gateway/gateway_health.h"
#include "lib/mem/mem.h"

/* A path of the table: itself, and what is below it when `subtree` has a route. */
struct entry {
	struct span prefix;
	struct http_route exact;
	struct http_route subtree; /* handle NULL: nothing is below */
	uint8_t next;		   /* entry + 1 with the same second byte; 0: none */
};

enum { ENTRIES_MAX = 8 };

struct gateway {
	struct entry entries[ENTRIES_MAX];
	unsigned count;
	uint8_t first[256]; /* by the byte after the slash: entry + 1; 0: none */
	struct http_route unknown;
	struct gateway_health health;
};

static enum http_verdict fail_unknown(struct http_req *rq, void *service)
{
	(void)service;
	http_fail(rq, ERR_NOT_FOUND, "no such path on this node");
	return HTTP_ANSWERED;
}

static void add(
	struct gateway *gw, const char *prefix, struct http_route exact, struct http_route subtree)
{
	MUST(gw->count < ENTRIES_MAX);
	struct entry *e = &gw->entries[gw->count++];
	uint8_t key = (uint8_t)prefix[1];
	uint32_t len = (uint32_t)strlen(prefix);
	*e = (struct entry){.prefix = {(const uint8_t *)prefix, len}};
	e->exact = exact;
	e->subtree = subtree;
	e->exact.prefix_bytes = e->subtree.prefix_bytes = len;
	e->next = gw->first[key];
	gw->first[key] = (uint8_t)gw->count;
}

int gateway_open(struct gateway **out, struct storage *st, struct seg *seg)
{
	static const struct http_route nothing = {.handle = NULL};
	struct gateway *gw = mem_map(sizeof(*gw));
	if (gw == NULL)
		return -ENOMEM;
	storage_watch(st, &seg->events);
	gateway_health_init(&gw->health, seg);
	gw->unknown = (struct http_route){
		.label = LABEL_ROUTE_OTHER,
		.methods = UINT32_MAX,
		.allow = "",
		.begin = fail_unknown,
	};
	add(gw, "/o", storage_collection_route(st), storage_object_route(st));
	add(gw, "/v1/o", storage_collection_route(st), storage_object_route(st));
	add(gw, "/healthz", gateway_health_live_route(&gw->health), nothing);
	add(gw, "/readyz", gateway_health_ready_route(&gw->health), nothing);
	add(gw, "/version", gateway_health_version_route(&gw->health), nothing);
	*out = gw;
	return 0;
}

void gateway_close(struct gateway *gw)
{
	if (gw != NULL)
		mem_unmap(gw, sizeof(*gw));
}

static const struct http_route *match(const struct entry *e, struct span path)
{
	if (path.len < e->prefix.len || memcmp(path.data, e->prefix.data, e->prefix.len) != 0)
		return NULL;
	if (path.len == e->prefix.len)
		return &e->exact;
	if (path.data[e->prefix.len] == '/' && e->subtree.handle != NULL)
		return &e->subtree;
	return NULL;
}

const struct http_route *gateway_route(void *ctx, struct span path)
{
	const struct gateway *gw = ctx;
	unsigned at = path.len < 2 ? 0 : gw->first[path.data[1]];
	while (at != 0) {
		const struct entry *e = &gw->entries[at - 1];
		const struct http_route *route = match(e, path);
		if (route != NULL)
			return route;
		at = e->next;
	}
	return &gw->unknown;
}
