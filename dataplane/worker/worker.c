#include "dataplane/worker/worker.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/backoff.h"
#include "lib/clock/clock.h"
#include "lib/inflate/inflate.h"
#include "lib/log/log.h"

/* Which thread serves which queue. */
static const struct worker_role {
	const char *name; /* of the thread; at most 15 bytes */
	enum queue_id queue;
} roles[] = {
	{"storage-writer", QUEUE_STORAGE_WORK},
};
static_assert(ARRAY_LEN(roles) <= LIMIT_WORKERS, "one tally slot each");

/* wake_word. Whoever wakes leaves CALLED behind and makes the system call only when it found ASLEEP; a worker that
 * finds CALLED looks at its queue again instead of sleeping. */
enum { WORKER_AWAKE, WORKER_ASLEEP, WORKER_CALLED };

#define JOB_NONE UINT64_MAX

struct worker {
	const struct worker_role *role;
	struct workers *pool;
	struct job_bench bench;
	struct rte_ring *work;

	/* main thread only */
	pthread_t thread;
	bool is_running;
	struct backoff backoff;
	uint64_t restart_at_ns;

	/* (w: the worker) */
	alignas(CACHE_LINE) _Atomic uint64_t current; /* seg_job_ref it is at, or JOB_NONE */
	_Atomic uint64_t since_ns;		      /* when it took that */

	/* (w: anyone) */
	alignas(CACHE_LINE) atomic_uint wake_word;
};

struct workers {
	struct workers_conf conf;
	atomic_bool is_stopping;
	struct worker workers[ARRAY_LEN(roles)];
};

static uint64_t pack(struct seg_job_ref ref)
{
	return (uint64_t)ref.lcore << 32 | ref.index;
}

static struct seg_job_ref unpack(uint64_t packed)
{
	return (struct seg_job_ref){.lcore = (uint32_t)(packed >> 32), .index = (uint32_t)packed};
}

static void futex(atomic_uint *word, int op, unsigned value, const struct timespec *timeout)
{
	/* Every outcome (woken, value changed, timed out, interrupted) is the same to us: look again. */
	(void)syscall(SYS_futex, word, op | FUTEX_PRIVATE_FLAG, value, timeout, NULL, 0);
}

static void wake(struct worker *w)
{
	if (atomic_exchange(&w->wake_word, WORKER_CALLED) == WORKER_ASLEEP)
		futex(&w->wake_word, FUTEX_WAKE, 1, NULL);
}

void workers_wake(void *ctx, enum queue_id queue)
{
	struct workers *ws = ctx;
	for (unsigned i = 0; i < ARRAY_LEN(roles); i++) {
		if (roles[i].queue == queue)
			wake(&ws->workers[i]);
	}
}

static void sleep_until_called(struct worker *w)
{
	unsigned awake = WORKER_AWAKE;
	if (atomic_compare_exchange_strong(&w->wake_word, &awake, WORKER_ASLEEP))
		futex(&w->wake_word, FUTEX_WAIT, WORKER_ASLEEP, NULL);
	atomic_exchange(&w->wake_word, WORKER_AWAKE);
}

static void hand_back(struct workers *ws, struct seg_job_ref ref)
{
	struct rte_ring *done = seg_ring(ws->conf.seg, QUEUE_DONE, ref.lcore);
	/* A job holds its place from the moment it is taken. */
	MUST(ring_push(done, &ref, sizeof(ref)));
}

static void run_one(struct worker *w, struct seg_job_ref ref)
{
	struct job *job = job_at(w->pool->conf.jobs, ref);
	uint64_t now_ns = clock_now_ns();
	atomic_store(&w->since_ns, now_ns);
	atomic_store(&w->current, pack(ref));
	if (atomic_load(&job->is_canceled)) {
		job->err = ERR_CANCELED;
		tally_inc(w->bench.tally, TALLY_TASKS_CANCELED + LABEL_KIND_JOB);
	} else if (job->deadline_ns != 0 && now_ns >= job->deadline_ns) {
		job->err = ERR_TIMEOUT;
		tally_inc(w->bench.tally, TALLY_IO_TIMEOUTS + LABEL_OP_DEADLINE);
	} else {
		job->run(job, &w->bench);
	}
	hand_back(w->pool, ref);
	/* Before anything the thread could die in: whoever finds it dead answers for `current`. */
	atomic_store(&w->current, JOB_NONE);
	w->pool->conf.wake_lcore(w->pool->conf.wake_ctx, ref.lcore);
}

static void *work(void *arg)
{
	struct worker *w = arg;
	struct seg_job_ref ref;
	tally_claim(w->bench.tally);
	while (!atomic_load(&w->pool->is_stopping)) {
		if (ring_pop(w->work, &ref, sizeof(ref)))
			run_one(w, ref);
		else
			sleep_until_called(w);
	}
	return NULL;
}

static int start(struct worker *w, uint64_t now_ns)
{
	backoff_started(&w->backoff, now_ns);
	/* What a thread that died left in its decoder is not trusted. */
	if (w->bench.inflate != NULL)
		inflate_fini(w->bench.inflate);
	w->bench.inflate = NULL;
	int rc = inflate_init(&w->bench.inflate);
	if (rc != 0)
		return rc;
	atomic_store(&w->current, JOB_NONE);
	atomic_store(&w->wake_word, WORKER_AWAKE);
	rc = pthread_create(&w->thread, NULL, work, w);
	if (rc != 0)
		return -rc;
	pthread_setname_np(w->thread, w->role->name);
	w->is_running = true;
	tally_inc(&w->bench.seg->tally[TALLY_SLOT_DATAPLANE],
		TALLY_TASKS_SPAWNED + LABEL_KIND_WORKER);
	return 0;
}

static void plan_restart(struct worker *w, uint64_t now_ns)
{
	uint32_t random = 0;
	/* Without random bytes the pause is merely not jittered. */
	(void)!getrandom(&random, sizeof(random), GRND_NONBLOCK);
	uint64_t pause_ns = backoff_died(&w->backoff, now_ns, random);
	w->restart_at_ns = now_ns + pause_ns;
	LOG(ERROR, "worker %s has ended; a new one starts in %llu ms", w->role->name,
		(unsigned long long)(pause_ns / NS_PER_MS));
}

/* The thread is gone: answers the job it had. */
static void bury(struct worker *w, uint64_t now_ns)
{
	struct workers *ws = w->pool;
	w->is_running = false;
	uint64_t current = atomic_exchange(&w->current, JOB_NONE);
	if (current != JOB_NONE) {
		struct seg_job_ref ref = unpack(current);
		struct job *job = job_at(ws->conf.jobs, ref);
		job->err = ERR_INTERNAL;
		job->detail = "the worker ended while it had this request";
		hand_back(ws, ref);
	}
	/* It may have died between handing a job back and waking its lcore. */
	for (uint32_t i = 0; i < LIMIT_LCORES; i++) {
		if (ws->conf.jobs[i] != NULL)
			ws->conf.wake_lcore(ws->conf.wake_ctx, i);
	}
	plan_restart(w, now_ns);
}

static void supervise(struct worker *w, uint64_t now_ns)
{
	if (w->is_running && pthread_tryjoin_np(w->thread, NULL) == 0)
		bury(w, now_ns);
	if (w->is_running || now_ns < w->restart_at_ns)
		return;
	int rc = start(w, now_ns);
	if (rc != 0) {
		LOG(ERROR, "worker %s cannot start: %s", w->role->name, strerror(-rc));
		plan_restart(w, now_ns);
		return;
	}
	LOG(INFO, "worker %s runs again", w->role->name);
	if (!events_emit(&w->bench.seg->events, SHM_DATAPLANE, EVENT_WORKER_RESTARTED,
		    "worker %s was restarted, failure %u in a row", w->role->name,
		    w->backoff.deaths))
		tally_inc(&w->bench.seg->tally[TALLY_SLOT_DATAPLANE],
			TALLY_QUEUE_DROPPED + QUEUE_EVENTS);
}

void workers_supervise(struct workers *ws, uint64_t now_ns)
{
	for (unsigned i = 0; i < ARRAY_LEN(roles); i++)
		supervise(&ws->workers[i], now_ns);
}

unsigned workers_missing(const struct workers *ws)
{
	unsigned missing = 0;
	for (unsigned i = 0; i < ARRAY_LEN(roles); i++)
		missing += !ws->workers[i].is_running;
	return missing;
}

unsigned workers_stalled(const struct workers *ws, uint64_t now_ns)
{
	unsigned stalled = 0;
	for (unsigned i = 0; i < ARRAY_LEN(roles); i++) {
		const struct worker *w = &ws->workers[i];
		uint64_t since_ns = atomic_load(&w->since_ns);
		stalled += w->is_running && atomic_load(&w->current) != JOB_NONE &&
			   since_ns + WORKER_STALL_MS * NS_PER_MS < now_ns;
	}
	return stalled;
}

int workers_open(struct workers **out, const struct workers_conf *conf, char *why, size_t why_size)
{
	struct workers *ws = aligned_alloc(CACHE_LINE, sizeof(*ws));
	if (ws == NULL) {
		snprintf(why, why_size, "no memory for the workers");
		return -ENOMEM;
	}
	memset(ws, 0, sizeof(*ws));
	ws->conf = *conf;
	for (unsigned i = 0; i < ARRAY_LEN(roles); i++) {
		struct worker *w = &ws->workers[i];
		w->role = &roles[i];
		w->pool = ws;
		w->work = seg_ring(conf->seg, roles[i].queue, 0);
		backoff_init(&w->backoff, LIMIT_RESTART_FIRST_MS * NS_PER_MS,
			LIMIT_RESTART_MAX_MS * NS_PER_MS, LIMIT_RESTART_STABLE_MS * NS_PER_MS);
		w->bench.seg = conf->seg;
		w->bench.tally = &conf->seg->tally[TALLY_SLOT_WORKER0 + i];
		int rc = start(w, clock_now_ns());
		if (rc != 0) {
			snprintf(why, why_size, "worker %s cannot start: %s", roles[i].name,
				strerror(-rc));
			workers_close(ws);
			return rc;
		}
	}
	*out = ws;
	return 0;
}

void workers_close(struct workers *ws)
{
	atomic_store(&ws->is_stopping, true);
	for (unsigned i = 0; i < ARRAY_LEN(roles); i++) {
		struct worker *w = &ws->workers[i];
		if (w->is_running) {
			wake(w);
			pthread_join(w->thread, NULL);
		}
		if (w->bench.inflate != NULL)
			inflate_fini(w->bench.inflate);
	}
	free(ws);
}
