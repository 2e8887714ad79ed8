/* run: a load from its first connection to its last answer.
 *
 *   LINK --> IDLE --> OPENING --> WARMUP --> MEASURE --> DRAIN --> OVER
 *
 *   LINK     the port comes up                        MEASURE  until --duration or --requests
 *   IDLE     --idle connections are opened            DRAIN    what is owed begins; the last answers come
 *   OPENING  those of the load are opened
 *
 * Every phase is bounded in time. Owner: the main thread. */
#ifndef TOOLS_MILLLOAD_RUN_H
#define TOOLS_MILLLOAD_RUN_H

#include <signal.h>

#include "tools/millload/backend.h"
#include "tools/millload/idle.h"
#include "tools/millload/load.h"

enum run_phase {
	RUN_LINK,
	RUN_IDLE,
	RUN_OPENING,
	RUN_WARMUP,
	RUN_MEASURE,
	RUN_DRAIN,
	RUN_OVER,
};

/* What the account said at some moment. */
struct run_mark {
	uint64_t at_ns;
	uint64_t sent;
	uint64_t answered;
	uint64_t failed;
	uint64_t body_bytes;
};

struct run {
	struct load_env env;
	struct backend backend;
	struct load *load;
	struct idle idle;
	enum run_phase phase;
	uint64_t phase_ns; /* when it began */
	uint64_t line_ns;  /* when the next line is due */
	unsigned lines;
	struct run_mark line;  /* at the last line */
	struct run_mark begin; /* of measuring */
	struct run_mark end;
	uint64_t behind;		   /* requests of the schedule that never began */
	uint64_t in_flight;		   /* when all was over */
	uint64_t open;			   /* connections, at the end of measuring */
	const volatile sig_atomic_t *stop; /* set by a signal: end early */
};

/* Opens the back end and the load. On failure returns -errno and fills `why`. */
CHECKED int run_open(struct run *r, struct options *o, char *why, size_t why_size);
/* To the end. 0, or -errno with `why` when nothing could be sent. */
CHECKED int run_all(struct run *r, char *why, size_t why_size);
void run_close(struct run *r);

#endif
