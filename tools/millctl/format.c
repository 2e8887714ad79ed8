#include "tools/millctl/format.h"

#include <stdio.h>

const char *format_bytes(char out[FORMAT_TEXT], double bytes)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	unsigned u = 0;
	while (bytes >= 1024 && u + 1 < ARRAY_LEN(units)) {
		bytes /= 1024;
		u++;
	}
	snprintf(out, FORMAT_TEXT, u == 0 ? "%.0f %s" : "%.1f %s", bytes, units[u]);
	return out;
}

const char *format_duration(char out[FORMAT_TEXT], uint64_t ms)
{
	uint64_t s = ms / 1000;
	if (s < 60)
		snprintf(out, FORMAT_TEXT, "%u.%u s", (unsigned)s, (unsigned)(ms / 100 % 10));
	else if (s < 3600)
		snprintf(out, FORMAT_TEXT, "%u m %02u s", (unsigned)(s / 60), (unsigned)(s % 60));
	else if (s < 86400)
		snprintf(out, FORMAT_TEXT, "%u h %02u m", (unsigned)(s / 3600),
			(unsigned)(s / 60 % 60));
	else
		snprintf(out, FORMAT_TEXT, "%llu d %02u h", (unsigned long long)(s / 86400),
			(unsigned)(s / 3600 % 24));
	return out;
}

const char *format_count(char out[FORMAT_TEXT], uint64_t n)
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)n);
	/* 2^64 with its commas would not fit; counts that large are shown plain. */
	if (len > 15) {
		snprintf(out, FORMAT_TEXT, "%s", digits);
		return out;
	}
	int at = 0;
	for (int i = 0; i < len; i++) {
		if (i > 0 && (len - i) % 3 == 0)
			out[at++] = ',';
		out[at++] = digits[i];
	}
	out[at] = '\0';
	return out;
}

const char *format_latency(char out[FORMAT_TEXT], uint64_t ns)
{
	if (ns < 1000000)
		snprintf(out, FORMAT_TEXT, "%.4g us", (double)ns / 1e3);
	else if (ns < 1000000000)
		snprintf(out, FORMAT_TEXT, "%.4g ms", (double)ns / 1e6);
	else
		snprintf(out, FORMAT_TEXT, "%.4g s", (double)ns / 1e9);
	return out;
}
