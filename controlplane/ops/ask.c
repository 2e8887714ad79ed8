#include "controlplane/ops/ask.h"

#include <string.h>

uint64_t ask_put(struct seg *seg, unsigned lcore, uint32_t cursor)
{
	MUST(lcore < LIMIT_LCORES);
	struct seg_ask *a = &seg->ask[lcore];
	uint64_t number = __atomic_load_n(&a->asked, __ATOMIC_RELAXED) + 1;
	__atomic_store_n(&a->cursor, cursor, __ATOMIC_RELAXED);
	__atomic_store_n(&a->asked, number, __ATOMIC_RELEASE);
	return number;
}

bool ask_get(const struct seg *seg, unsigned lcore, uint64_t number, struct ask_page *out)
{
	MUST(lcore < LIMIT_LCORES);
	const struct seg_ask *a = &seg->ask[lcore];
	if (__atomic_load_n(&a->answered, __ATOMIC_ACQUIRE) != number)
		return false;
	out->next_cursor = a->next_cursor;
	out->rows = a->rows < ASK_ROWS ? a->rows : ASK_ROWS;
	memcpy(out->row, a->row, out->rows * sizeof(out->row[0]));
	for (uint32_t i = 0; i < out->rows; i++) {
		out->row[i].peer[sizeof(out->row[i].peer) - 1] = '\0';
		out->row[i].state[sizeof(out->row[i].state) - 1] = '\0';
		out->row[i].tcp[sizeof(out->row[i].tcp) - 1] = '\0';
	}
	return true;
}
