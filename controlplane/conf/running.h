/* running: the configuration this node runs with, and how it changes.
 * Writer: the control plane's main thread publishes it in the segment; the data plane reads it there.
 * Reload: loads the same sources again, checks that only hot keys differ, publishes. Anything wrong
 *         keeps the running one. One event says which keys changed, or why it was refused. */
#ifndef CONTROLPLANE_CONF_RUNNING_H
#define CONTROLPLANE_CONF_RUNNING_H

#include "lib/conf/conf.h"
#include "lib/shm/seg.h"

struct running {
	struct conf_input input; /* where it came from; the strings are the caller's, for good */
	struct conf conf;
	struct conf_origin origin;
	uint64_t version; /* of the snapshot; 0: not published yet */
};

/* What became of a reload. */
enum running_verdict {
	RUNNING_CHANGED,
	RUNNING_SAME,
	RUNNING_BAD,	 /* the sources do not load */
	RUNNING_RESTART, /* a key that needs a restart differs */
};

struct running_change {
	enum running_verdict verdict;
	unsigned count;
	uint8_t keys[CONF_KEYS_MAX]; /* RUNNING_CHANGED: indices in conf_keys */
	struct conf_errors errors;   /* RUNNING_BAD, RUNNING_RESTART */
};

/* Loads for the first time. Returns 0, or -EINVAL with `errors` filled. */
CHECKED int running_load(
	struct running *r, const struct conf_input *input, struct conf_errors *errors);

/* Publishes what was loaded. */
void running_publish(struct running *r, struct seg *seg);

/* Emits one event unless nothing changed, and logs what happened. */
void running_reload(struct running *r, struct seg *seg, struct running_change *out);

/* Loads the sources again without using them: what would a reload change? Keys that need a restart
 * are listed like the others. */
void running_diff(const struct running *r, struct conf *next, struct running_change *out);

#endif
