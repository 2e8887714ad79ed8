/* storage: content-addressed objects in RAM (S-1, S-2): a slab of 64 KiB chunks and an index by BLAKE3 address.
 *
 *   GET/HEAD   on the lcore, inline: index lookup, references into the slab, no copy
 *   PUT/POST   body blocks are slab chunks already; the storage writer thread inflates, hashes, commits
 *
 * Writers: the index has one writer, the storage worker. Chunks are taken by lcores (bodies) and the worker
 *          (inflated bodies) through a bounded free ring; an object once published is never changed.
 * Readers: any lcore, lock-free.
 * Full:    no chunk or index entry left: 507 storage_full, readiness degrades, reads go on. */
#ifndef DATAPLANE_STORAGE_STORAGE_H
#define DATAPLANE_STORAGE_STORAGE_H

#include "dataplane/http/http.h"
#include "lib/b3/b3.h"

struct storage;

CHECKED int storage_open(struct storage **out, const struct conf *conf, char *why, size_t why_size);
void storage_close(struct storage *st);

/* Where EVENT_STORAGE_FULL goes, from storage_report; called once, before the lcores start. Without it there are no
 * events. */
void storage_watch(struct storage *st, struct events *events);

/* The service's two routes, without a prefix: the gateway copies them and puts them at /o (POST) and at what is below
 * it, "/b3:<hex>" (GET, HEAD, PUT). */
struct http_route storage_collection_route(struct storage *st);
struct http_route storage_object_route(struct storage *st);

/* Body blocks from the slab, for http_server_conf. */
struct http_blocks storage_blocks(struct storage *st);

bool storage_is_full(const struct storage *st);

/* Wipes chunks freed since the last call (amnesia purge, X-12); called from the data plane's main thread. Returns
 * how many. */
uint32_t storage_purge(struct storage *st);

/* Gauges into the caller's slot: objects, chunks used and in all. Tells once when the store has become full. One
 * thread, a few times a second. */
void storage_report(struct storage *st, struct tally *tally);

#endif
