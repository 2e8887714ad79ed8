#include "controlplane/metrics/page.h"

#include <stdarg.h>
#include <stdio.h>

void page_init(struct page *p, char *memory, size_t size)
{
	MUST(size > 0);
	*p = (struct page){.text = memory, .size = size};
	memory[0] = '\0';
}

void page_add(struct page *p, const char *fmt, ...)
{
	if (p->is_cut)
		return;
	va_list args;
	va_start(args, fmt);
	int n = vsnprintf(p->text + p->len, p->size - p->len, fmt, args);
	va_end(args);
	if (n < 0 || (size_t)n >= p->size - p->len) {
		p->text[p->len] = '\0';
		p->is_cut = true;
		return;
	}
	p->len += (size_t)n;
}
