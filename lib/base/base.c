#include "lib/base/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void base_must_failed(const char *what, const char *file, int line)
{
	fprintf(stderr, "%s:%d: this must hold but does not: %s\n", file, line, what);
	abort();
}

bool span_equals(struct span a, struct span b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

static uint8_t lower(uint8_t c)
{
	return c >= 'A' && c <= 'Z' ? (uint8_t)(c | 0x20) : c;
}

bool span_equals_nocase(struct span a, struct span b)
{
	if (a.len != b.len)
		return false;
	for (size_t i = 0; i < a.len; i++) {
		if (lower(a.data[i]) != lower(b.data[i]))
			return false;
	}
	return true;
}
