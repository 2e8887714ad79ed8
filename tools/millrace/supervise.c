#include "tools/millrace/supervise.h"

#include <signal.h>
#include <sys/wait.h>

#include "lib/base/registry.h"
#include "lib/clock/clock.h"

enum { CODE_DRAINED = 0, CODE_ABORTED = 1, CODE_CONFIG = 2, CODE_START = 3 };

void supervise_init(struct supervise *s, uint64_t now_ns)
{
	*s = (struct supervise){0};
	for (int i = 0; i < SHM_PROCESS_COUNT; i++) {
		s->children[i].start_ns = now_ns;
		backoff_init(&s->children[i].backoff, LIMIT_RESTART_FIRST_MS * NS_PER_MS,
			LIMIT_RESTART_MAX_MS * NS_PER_MS, LIMIT_RESTART_STABLE_MS * NS_PER_MS);
	}
}

void supervise_started(struct supervise *s, enum shm_process process, pid_t pid, uint64_t now_ns)
{
	struct supervise_child *c = &s->children[process];
	c->pid = pid;
	c->is_told = false;
	c->is_killed = false;
	backoff_started(&c->backoff, now_ns);
}

void supervise_up(struct supervise *s)
{
	s->has_been_up = true;
}

void supervise_stop(struct supervise *s)
{
	s->is_stopping = true;
}

/* The data plane has said its last word. */
static bool is_final(const struct supervise *s, int wait_status)
{
	if (s->is_stopping)
		return true;
	int last = s->has_been_up ? CODE_CONFIG : CODE_START;
	return WIFEXITED(wait_status) && WEXITSTATUS(wait_status) <= last;
}

/* What the end of the data plane means for the launcher's exit code. */
static int code_of(const struct supervise_child *c, int wait_status)
{
	if (WIFEXITED(wait_status))
		return WEXITSTATUS(wait_status);
	/* Told to stop before it could even catch the signal: it had nothing in flight. */
	if (c->is_told && WTERMSIG(wait_status) == SIGTERM)
		return CODE_DRAINED;
	return CODE_ABORTED;
}

uint64_t supervise_ended(struct supervise *s, enum shm_process process, int wait_status,
	uint64_t now_ns, uint32_t random)
{
	struct supervise_child *c = &s->children[process];
	c->pid = 0;
	if (process == SHM_DATAPLANE && is_final(s, wait_status)) {
		s->is_stopping = true;
		s->exit_code = code_of(c, wait_status);
	}
	if (s->is_stopping)
		return 0;
	uint64_t delay_ns = backoff_died(&c->backoff, now_ns, random);
	c->start_ns = now_ns + delay_ns;
	return delay_ns;
}

/* What a child that is to stop needs now. */
static struct supervise_order stop_child(
	struct supervise_child *c, enum shm_process process, uint64_t now_ns)
{
	struct supervise_order order = {.process = process, .pid = c->pid};
	uint64_t patience_ms = process == SHM_DATAPLANE ? SUPERVISE_DRAIN_MS : SUPERVISE_STOP_MS;
	if (!c->is_told) {
		c->is_told = true;
		c->kill_ns = now_ns + patience_ms * NS_PER_MS;
		order.act = SUPERVISE_TERM;
	} else if (!c->is_killed && now_ns >= c->kill_ns) {
		c->is_killed = true;
		order.act = SUPERVISE_KILL;
	} else {
		order.act = SUPERVISE_WAIT;
		order.wait_ns = c->is_killed ? UINT64_MAX : c->kill_ns;
	}
	return order;
}

static struct supervise_order start_children(const struct supervise *s, uint64_t now_ns)
{
	struct supervise_order order = {.act = SUPERVISE_WAIT, .wait_ns = UINT64_MAX};
	/* The control plane first: it publishes the configuration. */
	for (int i = SHM_PROCESS_COUNT - 1; i >= 0; i--) {
		const struct supervise_child *c = &s->children[i];
		if (c->pid != 0)
			continue;
		if (c->start_ns <= now_ns)
			return (struct supervise_order){
				.act = SUPERVISE_START, .process = (enum shm_process)i};
		if (c->start_ns < order.wait_ns)
			order.wait_ns = c->start_ns;
	}
	return order;
}

struct supervise_order supervise_next(struct supervise *s, uint64_t now_ns)
{
	if (!s->is_stopping)
		return start_children(s, now_ns);
	for (int i = 0; i < SHM_PROCESS_COUNT; i++) {
		if (s->children[i].pid != 0)
			return stop_child(&s->children[i], (enum shm_process)i, now_ns);
	}
	return (struct supervise_order){.act = SUPERVISE_END};
}
