/* stress: what the stress programs share: seeded chance, shared memory, deadlines, processes that are
 * killed at random points. Each program is bounded in time, prints its seed, and takes another from
 * MILLRACE_STRESS_SEED. */
#ifndef TESTS_STRESS_STRESS_H
#define TESTS_STRESS_STRESS_H

#include <sys/types.h>

#include "lib/base/base.h"

enum {
	STRESS_PART_MS = 1500, /* how long each case runs */
	STRESS_ROUNDS_MIN = 20,
	STRESS_ROUNDS_MAX = 1000,
	STRESS_GIVE_UP_MS = 20000, /* how long anything may take before it counts as stuck */
};

/* A stream of its own for each thread: `who` tells them apart. */
struct stress_rng {
	uint64_t state;
};
struct stress_rng stress_rng(uint64_t who);
uint64_t stress_random(struct stress_rng *rng);

/* A word that no torn or foreign value has by chance. */
uint64_t stress_mix(uint64_t a, uint64_t b);

/* Zeroed memory that forked processes share; never freed. */
void *stress_share(size_t bytes);

/* Whether `ms` have passed since start_ns. */
bool stress_is_over(uint64_t start_ns, uint64_t ms);

/* Whether another round is due: enough of them have a minimum, however slow the machine, and an end. */
bool stress_goes_on(uint64_t start_ns, unsigned rounds);

/* Waits until *counter is at least `value`. Returns false when it gives up. */
bool stress_await(const uint64_t *counter, uint64_t value);

/* Runs `body` in a new process, which ends with exit code 0 when body returns. The caller must be
 * single-threaded, for ThreadSanitizer's sake. */
pid_t stress_spawn(void (*body)(void *), void *arg);
/* Lets it go on for a random while (mostly short), then kills it at whatever point it is. `meanwhile`
 * is called over and over until then; NULL for none. */
void stress_kill(pid_t pid, struct stress_rng *rng, void (*meanwhile)(void *), void *arg);
/* Waits for the process to end by itself. Returns its exit code; 255 when it is stuck (and killed). */
int stress_reap(pid_t pid);

#endif
