#include "lib/log/log_format.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "lib/clock/clock.h"

static_assert(LOG_FORMAT_BYTES <= PIPE_BUF, "a line is written whole");

static const char *const level_names[] = {
	[LOG_ERROR] = "error",
	[LOG_WARN] = "warn",
	[LOG_INFO] = "info",
	[LOG_DEBUG] = "debug",
};

struct line {
	char *at;
	char *end;
};

static void put(struct line *l, const char *bytes, size_t len)
{
	MUST(len <= (size_t)(l->end - l->at));
	memcpy(l->at, bytes, len);
	l->at += len;
}

static void put_text(struct line *l, const char *text)
{
	put(l, text, strlen(text));
}

/* Length of the UTF-8 sequence at s (RFC 3629: no overlong forms, no surrogates), or 0 if it is none. */
static size_t utf8_len(const uint8_t *s, size_t left)
{
	size_t len = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	if (s[0] > 0xf4 || len > left)
		return 0;
	for (size_t i = 1; i < len; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	}
	bool is_bad = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
		      (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f);
	return is_bad ? 0 : len;
}

static void put_escaped(struct line *l, const char *text, size_t len)
{
	const uint8_t *s = (const uint8_t *)text;
	const uint8_t *end = s + len;
	while (s < end) {
		size_t n = utf8_len(s, (size_t)(end - s));
		if (n == 0) {
			put_text(l, "\\ufffd");
			n = 1;
		} else if (*s < 0x20 || *s == 0x7f) {
			char code[8];
			snprintf(code, sizeof(code), "\\u%04x", *s);
			put_text(l, code);
		} else {
			if (*s == '"' || *s == '\\')
				put(l, "\\", 1);
			put(l, (const char *)s, n);
		}
		s += n;
	}
}

/* A terminal shows quotes as they are, but must not be driven by control characters. */
static void put_printable(struct line *l, const char *text, size_t len)
{
	const uint8_t *s = (const uint8_t *)text;
	const uint8_t *end = s + len;
	while (s < end) {
		size_t n = utf8_len(s, (size_t)(end - s));
		bool is_c1 = n == 2 && s[0] == 0xc2 && s[1] < 0xa0;
		if (n == 0 || *s < 0x20 || *s == 0x7f || is_c1) {
			char code[8];
			snprintf(code, sizeof(code), "\\x%02x", *s);
			put_text(l, code);
			n = 1;
		} else {
			put(l, (const char *)s, n);
		}
		s += n;
	}
}

/* RFC 3339 in UTC with milliseconds. */
static void put_time(struct line *l, uint64_t time_ns)
{
	time_t seconds = (time_t)(time_ns / NS_PER_S);
	struct tm tm;
	char text[40];
	gmtime_r(&seconds, &tm);
	size_t n = strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(text + n, sizeof(text) - n, ".%03uZ", (unsigned)(time_ns % NS_PER_S / NS_PER_MS));
	put_text(l, text);
}

size_t log_format_json(
	char out[LOG_FORMAT_BYTES], const struct log_record *record, const char *process)
{
	struct line l = {out, out + LOG_FORMAT_BYTES};
	put_text(&l, "{\"time\":\"");
	put_time(&l, record->time_ns);
	put_text(&l, "\",\"level\":\"");
	put_text(&l, level_names[record->level]);
	put_text(&l, "\",\"process\":\"");
	put_text(&l, process);
	if (record->corr_id[0] != '\0') {
		put_text(&l, "\",\"corr_id\":\"");
		put_escaped(&l, record->corr_id, strlen(record->corr_id));
	}
	put_text(&l, "\",\"msg\":\"");
	put_escaped(&l, record->text, record->len);
	put_text(&l, record->is_cut ? "\",\"cut\":true}\n" : "\"}\n");
	return (size_t)(l.at - out);
}

size_t log_format_text(
	char out[LOG_FORMAT_BYTES], const struct log_record *record, const char *process)
{
	struct line l = {out, out + LOG_FORMAT_BYTES};
	put_time(&l, record->time_ns);
	put_text(&l, " ");
	put_text(&l, level_names[record->level]);
	put_text(&l, " ");
	put_text(&l, process);
	put_text(&l, ": ");
	put_printable(&l, record->text, record->len);
	if (record->is_cut)
		put_text(&l, " [cut]");
	if (record->corr_id[0] != '\0') {
		put_text(&l, " corr_id=");
		put_printable(&l, record->corr_id, strlen(record->corr_id));
	}
	put_text(&l, "\n");
	return (size_t)(l.at - out);
}
