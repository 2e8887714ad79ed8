/* format: numbers as people read them. Pure; the text is cut to fit. */
#ifndef TOOLS_MILLCTL_FORMAT_H
#define TOOLS_MILLCTL_FORMAT_H

#include "lib/base/base.h"

enum { FORMAT_TEXT = 24 };

/* "0 B", "1023 B", "1.0 KiB", "64.0 MiB" */
const char *format_bytes(char out[FORMAT_TEXT], double bytes);
/* "0.0 s", "59.9 s", "1 m 00 s", "2 h 03 m", "4 d 05 h" */
const char *format_duration(char out[FORMAT_TEXT], uint64_t ms);
/* "12", "12,345" */
const char *format_count(char out[FORMAT_TEXT], uint64_t n);
/* A latency bound: "20 us", "5 ms", "1 s" */
const char *format_latency(char out[FORMAT_TEXT], uint64_t ns);

#endif
