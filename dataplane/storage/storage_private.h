/* storage_private: what the files of this folder share. */
#ifndef DATAPLANE_STORAGE_STORAGE_PRIVATE_H
#define DATAPLANE_STORAGE_STORAGE_PRIVATE_H

#include "dataplane/storage/storage.h"
#include "dataplane/storage/storage_index.h"
#include "dataplane/storage/storage_slab.h"

struct storage {
	struct storage_slab slab;
	struct storage_index index;
	struct events *events;	/* may be NULL */
	uint32_t full_reported; /* slab.full_times at the last report (w: the reporting thread) */
};

/* The address in rq->below, "/b3:<hex>". Returns 0, or -EINVAL after answering 400. */
CHECKED int storage_address_parse(struct http_req *rq, struct b3 *out);

/* storage_get.c: GET and HEAD. */
enum http_verdict storage_get(struct http_req *rq, struct storage *st);

/* storage_put.c: PUT and POST; may this client write, and is there room? */
enum http_verdict storage_put_begin(struct http_req *rq, struct storage *st);
enum http_verdict storage_put(struct http_req *rq, struct storage *st);

#endif
