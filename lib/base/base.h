/* base: what every file may use: assertions, spans, attributes.
 * Cost: nothing but what is named. */
#ifndef LIB_BASE_BASE_H
#define LIB_BASE_BASE_H

#include <assert.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CACHE_LINE 64

#define LIKELY(x)			__builtin_expect(!!(x), 1)
#define UNLIKELY(x)			__builtin_expect(!!(x), 0)
#define ARRAY_LEN(a)			(sizeof(a) / sizeof((a)[0]))
#define CONTAINER_OF(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

/* The result must be looked at. */
#define CHECKED		       __attribute__((warn_unused_result))
#define NORETURN	       __attribute__((noreturn))
#define PRINTF_LIKE(fmt, args) __attribute__((format(printf, fmt, args)))

/* MUST is for our own bugs only and is always on: bytes from outside are refused, never asserted.
 * MUST_HOT is the same where the check itself would be seen in a profile: debug, CI and fuzz
 * builds. */
#define MUST(x) \
	do { \
		if (UNLIKELY(!(x))) \
			base_must_failed(#x, __FILE__, __LINE__); \
	} while (0)
#ifdef MILLRACE_MUST_HOT
#define MUST_HOT(x) MUST(x)
#else
#define MUST_HOT(x) ((void)sizeof(!(x)))
#endif

/* Says what failed on standard error and aborts. */
NORETURN void base_must_failed(const char *what, const char *file, int line);

/* Bytes that belong to somebody else. */
struct span {
	const uint8_t *data;
	size_t len;
};

#define SPAN_LITERAL(text) ((struct span){(const uint8_t *)(text), sizeof(text) - 1})

bool span_equals(struct span a, struct span b);

/* ASCII only, as field names and tokens are. */
bool span_equals_nocase(struct span a, struct span b);

#endif
