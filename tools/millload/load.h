/* load: what one kind of load (http_load, udp_load) is to the run, and what it is given.
 * Owner: one thread, the one that polls the net. */
#ifndef TOOLS_MILLLOAD_LOAD_H
#define TOOLS_MILLLOAD_LOAD_H

#include "dataplane/net/net.h"
#include "tools/millload/account.h"
#include "tools/millload/histogram.h"
#include "tools/millload/options.h"
#include "tools/millload/pace.h"

struct load;

/* Outlives the load. */
struct load_env {
	struct net *net;
	struct wheel *wheel;
	const uint64_t *now_ns; /* the net's clock */
	struct options *options;
	struct pace pace;
	struct account account;
	struct histogram latency;  /* since measuring began, ns */
	struct histogram interval; /* since the last line */
};

struct load_ops {
	/* Opens connections, begins what may begin. Once per turn, outside of events. */
	void (*turn)(struct load *load);
	/* Connections that can carry requests now. */
	uint64_t (*open)(const struct load *load);
	/* Requests that wait for their answers, counted one by one: must be what the account says. */
	uint64_t (*in_flight)(const struct load *load);
	/* After net_fini: the net may hold references to the load's bytes until then. */
	void (*close)(struct load *load);
};

struct load {
	const struct load_ops *ops;
	struct load_env *env;
};

/* A request that counts from `from_ns` was answered as expected. */
static inline void load_answered(struct load_env *env, uint64_t from_ns)
{
	uint64_t now_ns = *env->now_ns;
	uint64_t took_ns = now_ns > from_ns ? now_ns - from_ns : 0;
	env->account.answered++;
	histogram_add(&env->latency, took_ns);
	histogram_add(&env->interval, took_ns);
}

#endif
