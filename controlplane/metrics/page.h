/* page: text of bounded length that is put together piece by piece. What does not fit is not
 * written, and the page remembers that it is cut: a cut page is never sent.
 * Memory: the caller's. */
#ifndef CONTROLPLANE_METRICS_PAGE_H
#define CONTROLPLANE_METRICS_PAGE_H

#include "lib/base/base.h"

struct page {
	char *text; /* always NUL-terminated */
	size_t size;
	size_t len;
	bool is_cut;
};

void page_init(struct page *p, char *memory, size_t size);
void page_add(struct page *p, const char *fmt, ...) PRINTF_LIKE(2, 3);

#endif
