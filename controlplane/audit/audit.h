/* audit: every call that changes something leaves exactly one event and one log line: who, when,
 * what, with which right, and how it ended. The time is the event's. */
#ifndef CONTROLPLANE_AUDIT_AUDIT_H
#define CONTROLPLANE_AUDIT_AUDIT_H

#include <sys/types.h>

#include "lib/shm/seg.h"

/* Who asked: the peer credentials of the ops socket. */
struct audit_who {
	uid_t uid;
	pid_t pid;
};

/* `outcome` is "ok" or an error code. */
void audit_record(
	struct seg *seg, const struct audit_who *who, const char *what, const char *outcome);

#endif
