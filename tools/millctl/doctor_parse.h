/* doctor_parse: reads what /proc and /sys say. Pure: text in, answers out. */
#ifndef TOOLS_MILLCTL_DOCTOR_PARSE_H
#define TOOLS_MILLCTL_DOCTOR_PARSE_H

#include "lib/base/addr.h"

/* The number after `key:` in text like /proc/meminfo. */
bool doctor_parse_meminfo(const char *text, const char *key, uint64_t *out);

/* "6.1.0-18-amd64" -> 6, 1 */
bool doctor_parse_kernel(const char *text, unsigned *major, unsigned *minor);

/* Is `word` one of the words of a kernel command line? */
bool doctor_parse_has_word(const char *cmdline, const char *word);

/* Does a socket listen where `want` would? `text` is /proc/net/tcp or tcp6. The any-address meets all
 * others. */
bool doctor_parse_is_listening(const char *text, const struct addr *want);

#endif
