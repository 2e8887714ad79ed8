#include "controlplane/metrics/sample.h"

unsigned sample_lcores(const struct seg *seg)
{
	unsigned count = __atomic_load_n(&seg->lcore_count, __ATOMIC_ACQUIRE);
	return count < LIMIT_LCORES ? count : LIMIT_LCORES;
}

static uint64_t ring_depth_max(struct seg *seg, enum queue_id queue)
{
	unsigned rings = queue == QUEUE_DONE ? sample_lcores(seg) : 1;
	uint64_t max = 0;
	for (unsigned i = 0; i < rings; i++) {
		struct rte_ring *r = seg_ring(seg, queue, i);
		uint64_t depth = r != NULL ? ring_depth(r) : 0;
		max = depth > max ? depth : max;
	}
	return max;
}

static uint64_t shutdown_depth(const struct seg *seg)
{
	uint64_t asked = __atomic_load_n(&seg->shutdown.requested_generation, __ATOMIC_ACQUIRE);
	return asked != 0 && asked == seg->hearts[SHM_DATAPLANE].generation &&
	       seg_is_alive(seg, SHM_DATAPLANE);
}

/* Each process has a log queue of its own: the fuller one counts. */
static uint64_t log_depth_max(const struct seg *seg)
{
	uint32_t max = 0;
	for (int p = 0; p < SHM_PROCESS_COUNT; p++) {
		uint32_t depth = __atomic_load_n(&seg->hearts[p].log_depth, __ATOMIC_RELAXED);
		if (depth > max && seg_is_alive(seg, (enum shm_process)p))
			max = depth;
	}
	return max;
}

static void sample_lcore(struct sample *s, const struct seg *seg, unsigned i)
{
	uint64_t busy = tally_get(&seg->tally[i], TALLY_LCORE_BUSY);
	uint64_t total = tally_get(&seg->tally[i], TALLY_LCORE_TOTAL);
	uint64_t busy_step = busy - s->busy_ns[i];
	uint64_t total_step = total - s->total_ns[i];
	/* An lcore accounts at the end of its turn, busy before total or after: never above one. */
	s->busy_ratio[i] = total_step == 0 ? 0 : (double)busy_step / (double)total_step;
	if (s->busy_ratio[i] > 1)
		s->busy_ratio[i] = 1;
	s->busy_ns[i] = busy;
	s->total_ns[i] = total;
}

void sample_take(struct sample *s, struct seg *seg, uint64_t events_lag)
{
	for (int q = 0; q < QUEUE_COUNT; q++)
		s->depth[q] = ring_depth_max(seg, (enum queue_id)q);
	s->depth[QUEUE_CAPTURE] = capture_depth(&seg->capture);
	s->depth[QUEUE_SHUTDOWN] = shutdown_depth(seg);
	s->depth[QUEUE_LOG] = log_depth_max(seg);
	s->depth[QUEUE_EVENTS] =
		events_lag < QUEUE_CAPACITY_EVENTS ? events_lag : QUEUE_CAPACITY_EVENTS;
	for (unsigned i = 0; i < sample_lcores(seg); i++)
		sample_lcore(s, seg, i);
}
