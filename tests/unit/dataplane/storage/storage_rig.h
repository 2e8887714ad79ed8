/* storage_rig: the storage service on the HTTP rig, at /o. */
#ifndef TESTS_UNIT_DATAPLANE_STORAGE_STORAGE_RIG_H
#define TESTS_UNIT_DATAPLANE_STORAGE_STORAGE_RIG_H

#include "dataplane/storage/storage.h"
#include "tests/unit/dataplane/http/http_rig.h"

struct storage_rig {
	struct rig rig;
	struct storage *st;
	struct http_route collection, object;
};

void storage_rig_start(struct storage_rig *sr, uint64_t slab_bytes);
void storage_rig_fini(struct storage_rig *sr);

/* "b3:<hex>" of some bytes, with NUL. */
void storage_rig_address(char out[B3_TEXT + 1], const void *data, size_t len);

/* Sends a write of `data` and waits for its answer. `fields` may be "". A NULL address is a POST. */
struct rig_reply storage_rig_write(
	struct rig_conn *c, const char *address, const char *fields, const void *data, size_t len);
/* A GET or HEAD. */
struct rig_reply storage_rig_read(
	struct rig_conn *c, const char *method, const char *address, const char *fields);

#endif
