#include "controlplane/metrics/page.h"

#include <string.h>

#include "tests/unit/unit.h"

static void limit(void)
{
	char memory[8];
	struct page p;
	page_init(&p, memory, sizeof(memory));
	page_add(&p, "%s", "1234");
	page_add(&p, "%s", "567"); /* with the NUL just full */
	CU_ASSERT_FALSE(p.is_cut);
	CU_ASSERT_STRING_EQUAL(p.text, "1234567");
	page_init(&p, memory, sizeof(memory));
	page_add(&p, "%s", "1234");
	page_add(&p, "%s", "5678"); /* one past */
	CU_ASSERT(p.is_cut);
	CU_ASSERT_STRING_EQUAL(p.text, "1234");
	page_add(&p, "5"); /* a page with a hole would be a lie */
	CU_ASSERT_STRING_EQUAL(p.text, "1234");
	CU_ASSERT_EQUAL(p.len, 4);
}

static const struct unit_case cases[] = {{"limit", limit}};
UNIT_MAIN("controlplane/metrics/page", cases)
