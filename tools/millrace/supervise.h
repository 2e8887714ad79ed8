/* supervise: when the two processes of a node are started, told to stop, killed, and with which code
 * the launcher ends (X-6, X-18, N-3).
 *
 *   start both -> one dies -> start it again after its backoff
 *              -> the data plane drained (exit 0 or 1), or refuses its configuration (2)  \
 *              -> told to stop: SIGTERM to the data plane, wait                           -> SIGTERM to the
 *                                                                     control plane, wait -> done
 *
 * The control plane stays to the end of a drain, so that metrics and readiness can be read meanwhile.
 * Sans-I/O: events and a clock go in; what to do comes out of supervise_next. */
#ifndef TOOLS_MILLRACE_SUPERVISE_H
#define TOOLS_MILLRACE_SUPERVISE_H

#include <sys/types.h>

#include "lib/base/backoff.h"
#include "lib/shm/process.h"

enum {
	SUPERVISE_DRAIN_MS = 10000, /* twice the longest drain, then it hangs and is killed */
	SUPERVISE_STOP_MS = 3000,   /* the same for the control plane, which has nothing to drain */
};

struct supervise_child {
	pid_t pid;    /* 0: not running */
	bool is_told; /* to stop */
	bool is_killed;
	uint64_t start_ns; /* when to start it, while it does not run */
	uint64_t kill_ns;  /* when to kill it, once told */
	struct backoff backoff;
};

struct supervise {
	struct supervise_child children[SHM_PROCESS_COUNT];
	bool is_stopping;
	bool has_been_up; /* both processes, once */
	int exit_code;
};

enum supervise_act {
	SUPERVISE_WAIT,	 /* nothing to do before wait_ns (UINT64_MAX: before something happens) */
	SUPERVISE_START, /* start `process`, then call supervise_started */
	SUPERVISE_TERM,	 /* send SIGTERM to pid */
	SUPERVISE_KILL,	 /* send SIGKILL to pid */
	SUPERVISE_END,	 /* nothing runs any more: end with exit_code */
};

struct supervise_order {
	enum supervise_act act;
	enum shm_process process;
	pid_t pid;
	uint64_t wait_ns;
};

void supervise_init(struct supervise *s, uint64_t now_ns);

/* The next thing to do; the caller does it and asks again until it is to wait. */
struct supervise_order supervise_next(struct supervise *s, uint64_t now_ns);

void supervise_started(struct supervise *s, enum shm_process process, pid_t pid, uint64_t now_ns);

/* A child has ended (or could not be started: pid 0) with this status of waitpid. Returns how long
 * its restart waits, or 0 when it is not started again. */
uint64_t supervise_ended(struct supervise *s, enum shm_process process, int wait_status,
	uint64_t now_ns, uint32_t random);

/* Both processes are up. Until then a data plane that says it cannot start here (a port that is taken, memory that is not
 * there) ends the node: somebody is watching its first start. Afterwards it is started again like any other death. */
void supervise_up(struct supervise *s);

/* Told to stop; more than once is the same as once. */
void supervise_stop(struct supervise *s);

#endif
