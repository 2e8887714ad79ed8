#include "tests/sim/sim_link.h"

#include <stdlib.h>
#include <string.h>

static bool is_before(const struct sim_packet *a, const struct sim_packet *b)
{
	return a->due_ns != b->due_ns ? a->due_ns < b->due_ns : a->order < b->order;
}

static void heap_push(struct sim_link *l, struct sim_packet *p)
{
	if (l->count == l->room) {
		l->room = l->room != 0 ? 2 * l->room : 64;
		l->heap = realloc(l->heap, l->room * sizeof(struct sim_packet *));
		MUST(l->heap != NULL);
	}
	size_t i = l->count++;
	for (; i > 0 && is_before(p, l->heap[(i - 1) / 2]); i = (i - 1) / 2)
		l->heap[i] = l->heap[(i - 1) / 2];
	l->heap[i] = p;
}

static struct sim_packet *heap_pop(struct sim_link *l)
{
	struct sim_packet *top = l->heap[0];
	struct sim_packet *last = l->heap[--l->count];
	size_t i = 0;
	for (;;) {
		size_t child = 2 * i + 1;
		if (child >= l->count)
			break;
		if (child + 1 < l->count && is_before(l->heap[child + 1], l->heap[child]))
			child++;
		if (!is_before(l->heap[child], last))
			break;
		l->heap[i] = l->heap[child];
		i = child;
	}
	l->heap[i] = last;
	return top;
}

static void enqueue(
	struct sim_link *l, struct sim_rand *r, uint64_t due_ns, const struct sim_packet *like)
{
	struct sim_packet *p = malloc(sizeof(*p) + like->len);
	MUST(p != NULL);
	memcpy(p, like, sizeof(*p) + like->len);
	p->due_ns = due_ns;
	p->order = l->order++;
	/* one wrong bit: the checksum finds it always */
	if (sim_rand_chance(r, l->corrupt))
		p->bytes[sim_rand_range(r, 0, p->len - 1)] ^=
			(uint8_t)(1u << sim_rand_range(r, 0, 7));
	heap_push(l, p);
	l->passed++;
}

static uint64_t travel(struct sim_link *l, struct sim_rand *r)
{
	uint64_t ns = l->delay_ns;
	if (l->jitter_ns != 0)
		ns += sim_rand_range(r, 0, l->jitter_ns);
	if (sim_rand_chance(r, l->reorder))
		ns += sim_rand_range(r, 1, l->delay_ns + 2000000);
	return ns;
}

enum sim_fate sim_link_send(struct sim_link *l, struct sim_rand *r, uint64_t now_ns,
	const uint8_t from[16], const uint8_t to[16], const uint8_t *bytes, uint32_t len,
	uint32_t headers)
{
	bool is_dead = now_ns >= l->dead_from_ns && now_ns < l->dead_to_ns;
	if (is_dead || sim_rand_chance(r, l->loss)) {
		l->lost++;
		return SIM_LOST;
	}
	if (len + headers > l->mtu)
		return SIM_TOO_BIG;
	uint64_t start_ns = l->free_ns > now_ns ? l->free_ns : now_ns;
	if (l->queue_ns != 0 && start_ns - now_ns > l->queue_ns)
		return SIM_QUEUE;
	l->free_ns = start_ns + l->byte_ns * (len + headers);
	struct sim_packet *p = malloc(sizeof(*p) + len);
	MUST(p != NULL);
	memcpy(p->from, from, 16);
	memcpy(p->to, to, 16);
	p->len = len;
	memcpy(p->bytes, bytes, len);
	enqueue(l, r, l->free_ns + travel(l, r), p);
	if (sim_rand_chance(r, l->dup))
		enqueue(l, r, l->free_ns + travel(l, r), p);
	free(p);
	return SIM_PASSED;
}

uint64_t sim_link_next_ns(const struct sim_link *l)
{
	return l->count != 0 ? l->heap[0]->due_ns : UINT64_MAX;
}

struct sim_packet *sim_link_receive(struct sim_link *l, uint64_t now_ns)
{
	return l->count != 0 && l->heap[0]->due_ns <= now_ns ? heap_pop(l) : NULL;
}

void sim_link_fini(struct sim_link *l)
{
	while (l->count != 0)
		free(heap_pop(l));
	free(l->heap);
	l->heap = NULL;
}
