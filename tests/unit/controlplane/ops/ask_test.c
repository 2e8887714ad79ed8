#include "controlplane/ops/ask.h"

#include <string.h>

#include "tests/unit/controlplane/rig.h"
#include "tests/unit/unit.h"

/* The lcore's side. */
static void answer(struct seg *seg, unsigned lcore, uint32_t rows, uint64_t number)
{
	struct seg_ask *a = &seg->ask[lcore];
	a->rows = rows;
	a->next_cursor = a->cursor + rows;
	for (uint32_t i = 0; i < rows && i < ASK_ROWS; i++)
		memset(&a->row[i], 'p', sizeof(a->row[i]));
	__atomic_store_n(&a->answered, number, __ATOMIC_RELEASE);
}

static void question_and_answer(void) /* N-4 */
{
	struct rig r;
	static struct ask_page page;
	rig_init(&r);
	rig_start_dataplane(&r);
	uint64_t number = ask_put(r.seg, 1, 7);
	CU_ASSERT_FALSE(ask_get(r.seg, 1, number, &page));
	answer(r.data, 1, 2, number);
	CU_ASSERT(ask_get(r.seg, 1, number, &page));
	CU_ASSERT(page.rows == 2 && page.next_cursor == 9);
	CU_ASSERT_EQUAL(strlen(page.row[1].peer), sizeof(page.row[1].peer) - 1);
	CU_ASSERT_EQUAL(strlen(page.row[1].tcp), sizeof(page.row[1].tcp) - 1);
	rig_fini(&r);
}

static void answer_to_an_old_question_does_not_count(void)
{
	struct rig r;
	static struct ask_page page;
	rig_init(&r);
	rig_start_dataplane(&r);
	uint64_t old = ask_put(r.seg, 0, 0);
	uint64_t number = ask_put(r.seg, 0, 64);
	answer(r.data, 0, 1, old);
	CU_ASSERT_FALSE(ask_get(r.seg, 0, number, &page));
	answer(r.data, 0, 1, number);
	CU_ASSERT(ask_get(r.seg, 0, number, &page));
	rig_fini(&r);
}

static void rows_are_bounded(void)
{
	struct rig r;
	static struct ask_page page;
	rig_init(&r);
	rig_start_dataplane(&r);
	uint64_t number = ask_put(r.seg, 0, 0);
	answer(r.data, 0, ASK_ROWS, number);
	CU_ASSERT(ask_get(r.seg, 0, number, &page) && page.rows == ASK_ROWS);
	answer(r.data, 0, ASK_ROWS + 1, number);
	CU_ASSERT(ask_get(r.seg, 0, number, &page) && page.rows == ASK_ROWS);
	rig_fini(&r);
}

static const struct unit_case cases[] = {
	{"question_and_answer", question_and_answer},
	{"answer_to_an_old_question_does_not_count", answer_to_an_old_question_does_not_count},
	{"rows_are_bounded", rows_are_bounded},
};
UNIT_MAIN("controlplane/ops/ask", cases)
