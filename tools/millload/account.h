/* account: where every request went. At any time
 *
 *   sent == answered + one_way + failed (all kinds) + in flight
 *
 * A request counts as sent when it begins: when its bytes are queued, or, with a connection per request, when its
 * connection is asked for.
 * Owner: one thread. Pure. */
#ifndef TOOLS_MILLLOAD_ACCOUNT_H
#define TOOLS_MILLLOAD_ACCOUNT_H

#include "lib/base/base.h"

enum failure {
#define FAILURE(id, name, meaning) FAILURE_##id,
#include "tools/millload/failure.def"
#undef FAILURE
	FAILURE_COUNT
};

enum { ACCOUNT_STATUSES = 600 };

struct account {
	uint64_t sent;
	uint64_t answered; /* and as expected */
	uint64_t one_way;  /* datagrams to which no answer is expected */
	uint64_t failed[FAILURE_COUNT];
	uint64_t status[ACCOUNT_STATUSES]; /* answers by their status */
	uint64_t body_bytes;		   /* received */
	uint64_t stray;			   /* datagrams that answer nothing of ours, or twice */

	uint64_t opened;		     /* connections, without the idle ones */
	uint64_t conn_failed[FAILURE_COUNT]; /* connections, whatever they carried */
	uint64_t idle_open;
	uint64_t idle_failed; /* could not be opened */
	uint64_t idle_lost;   /* were open, and ended */
};

const char *account_failure_name(enum failure kind);

uint64_t account_failed(const struct account *a);
uint64_t account_in_flight(const struct account *a);

static inline void account_fail(struct account *a, enum failure kind, uint64_t requests)
{
	a->failed[kind] += requests;
}

#endif
