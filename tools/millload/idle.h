/* idle: many connections that are open and silent, to see what they cost a server.
 * Owner: the thread that polls the net. Memory: none per connection but the net's own. */
#ifndef TOOLS_MILLLOAD_IDLE_H
#define TOOLS_MILLLOAD_IDLE_H

#include "tools/millload/load.h"

/* What a connection's user points at: there is one for those that are being opened, and one for the rest. */
struct idle_tag {
	struct idle *idle;
	bool is_open;
};

struct idle {
	struct load_env *env;
	struct idle_tag tags[2];
	uint64_t tried;
	uint64_t opening;
	uint64_t moved_ns; /* when one was opened or given up last */
	unsigned next_target;
};

void idle_init(struct idle *i, struct load_env *env);
/* Opens more. Once per turn. */
void idle_turn(struct idle *i);
/* Each has been tried, and is open or failed; or nothing moves any more. */
bool idle_is_done(const struct idle *i);

#endif
