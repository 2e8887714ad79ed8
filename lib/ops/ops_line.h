/* ops_line: cuts a stream into lines of bounded length. Sans-I/O: the caller reads into the free room.
 *
 *   text: | a whole line \n | the start of the next ...|      room      |
 *                            <-------- len ----------->
 *
 * A line is at most LIMIT_OPS_REQUEST_BYTES with its newline. */
#ifndef LIB_OPS_OPS_LINE_H
#define LIB_OPS_OPS_LINE_H

#include "lib/base/registry.h"

struct ops_line {
	size_t len;
	char text[LIMIT_OPS_REQUEST_BYTES];
};

enum ops_line_verdict { OPS_LINE_DONE, OPS_LINE_MORE, OPS_LINE_BAD };

static inline size_t ops_line_room(const struct ops_line *b)
{
	return sizeof(b->text) - b->len;
}

/* DONE: text begins with a line of `line_len` bytes, and its newline after them. MORE: read on.
 * BAD: the line is too long. */
enum ops_line_verdict ops_line_find(const struct ops_line *b, size_t *line_len);

/* Drops the line that was found. */
void ops_line_drop(struct ops_line *b, size_t line_len);

#endif
