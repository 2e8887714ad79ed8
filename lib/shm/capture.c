#include "lib/shm/capture.h"

#include <string.h>

/* The settings are read while the next capture's may be written: by words, and thrown away when they changed. Acquire
 * and release keep each word between the looks at, and the changes of, `running`. */
static void copy_words(void *to, const void *from, size_t bytes)
{
	uint64_t *out = to;
	const uint64_t *in = from;
	for (size_t i = 0; i < bytes / sizeof(*out); i++)
		__atomic_store_n(
			&out[i], __atomic_load_n(&in[i], __ATOMIC_ACQUIRE), __ATOMIC_RELEASE);
}

uint64_t capture_start(struct capture *c, const struct capture_conf *conf)
{
	MUST(__atomic_load_n(&c->running, __ATOMIC_RELAXED) == 0);
	for (unsigned i = 0; i < LIMIT_LCORES; i++) {
		struct capture_ring *r = &c->rings[i];
		__atomic_store_n(&r->popped, __atomic_load_n(&r->pushed, __ATOMIC_ACQUIRE),
			__ATOMIC_RELEASE);
	}
	copy_words(&c->conf, conf, sizeof(*conf));
	c->last++;
	__atomic_store_n(&c->running, c->last, __ATOMIC_RELEASE);
	return c->last;
}

void capture_stop(struct capture *c)
{
	__atomic_store_n(&c->running, 0, __ATOMIC_RELEASE);
}

static struct capture_record *slot_of(struct capture_ring *r, uint64_t at)
{
	return &r->slots[at % QUEUE_CAPACITY_CAPTURE];
}

/* The first record of `number` in this ring; those before it go. */
static const struct capture_record *first_of(struct capture_ring *r, uint64_t number)
{
	uint64_t pushed = __atomic_load_n(&r->pushed, __ATOMIC_ACQUIRE);
	while (r->popped != pushed) {
		const struct capture_record *rec = slot_of(r, r->popped);
		if (rec->number == number)
			return rec;
		__atomic_store_n(&r->popped, r->popped + 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

const struct capture_record *capture_next(struct capture *c, uint64_t number, unsigned *lcore)
{
	const struct capture_record *oldest = NULL;
	for (unsigned i = 0; i < LIMIT_LCORES; i++) {
		const struct capture_record *rec = first_of(&c->rings[i], number);
		if (rec == NULL || (oldest != NULL && oldest->time_ns <= rec->time_ns))
			continue;
		oldest = rec;
		*lcore = i;
	}
	return oldest;
}

void capture_drop(struct capture *c, unsigned lcore)
{
	struct capture_ring *r = &c->rings[lcore];
	__atomic_store_n(&r->popped, r->popped + 1, __ATOMIC_RELEASE);
}

uint64_t capture_dropped(const struct capture *c, unsigned port)
{
	uint64_t sum = 0;
	for (unsigned i = 0; i < LIMIT_LCORES; i++)
		sum += __atomic_load_n(&c->rings[i].dropped[port], __ATOMIC_RELAXED);
	return sum;
}

uint32_t capture_depth(const struct capture *c)
{
	uint64_t max = 0;
	for (unsigned i = 0; i < LIMIT_LCORES; i++) {
		const struct capture_ring *r = &c->rings[i];
		uint64_t popped = __atomic_load_n(&r->popped, __ATOMIC_ACQUIRE);
		uint64_t depth = __atomic_load_n(&r->pushed, __ATOMIC_ACQUIRE) - popped;
		max = depth > max ? depth : max;
	}
	return max < QUEUE_CAPACITY_CAPTURE ? (uint32_t)max : QUEUE_CAPACITY_CAPTURE;
}

void capture_tap_turn(struct capture_tap *t, uint64_t running, uint64_t now_ns)
{
	t->is_on = false;
	if (running == 0)
		return;
	if (running != t->number) {
		if (__atomic_load_n(&t->capture->running, __ATOMIC_ACQUIRE) != running)
			return;
		struct capture_conf conf;
		copy_words(&conf, &t->capture->conf, sizeof(conf));
		if (__atomic_load_n(&t->capture->running, __ATOMIC_RELAXED) != running)
			return;
		t->conf = conf;
		t->number = running;
	}
	t->is_on = now_ns < t->conf.until_ns;
}

struct capture_record *capture_tap_begin(
	struct capture_tap *t, unsigned port, enum capture_dir dir, struct span head, bool *is_full)
{
	struct capture_ring *r = &t->capture->rings[t->lcore];
	*is_full = false;
	if ((t->conf.ports >> port & 1) == 0 || !capture_filter_matches(&t->conf.filter, head, dir))
		return NULL;
	*is_full =
		r->pushed - __atomic_load_n(&r->popped, __ATOMIC_ACQUIRE) >= QUEUE_CAPACITY_CAPTURE;
	if (*is_full) {
		__atomic_store_n(&r->dropped[port], r->dropped[port] + 1, __ATOMIC_RELAXED);
		return NULL;
	}
	struct capture_record *rec = slot_of(r, r->pushed);
	rec->number = t->number;
	rec->port = (uint8_t)port;
	rec->dir = (uint8_t)dir;
	return rec;
}

void capture_tap_end(struct capture_tap *t)
{
	struct capture_ring *r = &t->capture->rings[t->lcore];
	__atomic_store_n(&r->pushed, r->pushed + 1, __ATOMIC_RELEASE);
}
