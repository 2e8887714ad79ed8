/* ask: one question at a time to each lcore, through the segment (`millctl conns`).
 *
 *   control plane: cursor, then asked + 1 (release)   lcore: sees asked != answered, fills the rows,
 *                                                     then answered = asked (release)
 *
 * An answer counts only if it bears the number of the newest question, so a question that was given
 * up cannot be answered by mistake. Nothing waits: the caller looks again later, until its deadline.
 * Owner: the control plane's main thread. */
#ifndef CONTROLPLANE_OPS_ASK_H
#define CONTROLPLANE_OPS_ASK_H

#include "lib/shm/seg.h"

struct ask_page {
	uint32_t rows;
	uint32_t next_cursor; /* UINT32_MAX: that was all */
	struct ask_conn row[ASK_ROWS];
};

/* Puts the question and returns its number. */
uint64_t ask_put(struct seg *seg, unsigned lcore, uint32_t cursor);

/* True when question `number` has been answered; `out` is then filled, bounded and terminated. */
bool ask_get(const struct seg *seg, unsigned lcore, uint64_t number, struct ask_page *out);

#endif
