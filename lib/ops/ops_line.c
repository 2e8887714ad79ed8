#include "lib/ops/ops_line.h"

#include <string.h>

enum ops_line_verdict ops_line_find(const struct ops_line *b, size_t *line_len)
{
	const char *end = memchr(b->text, '\n', b->len);
	if (end == NULL)
		return b->len == sizeof(b->text) ? OPS_LINE_BAD : OPS_LINE_MORE;
	*line_len = (size_t)(end - b->text);
	return OPS_LINE_DONE;
}

void ops_line_drop(struct ops_line *b, size_t line_len)
{
	MUST(line_len < b->len && b->text[line_len] == '\n');
	b->len -= line_len + 1;
	memmove(b->text, b->text + line_len + 1, b->len);
}
