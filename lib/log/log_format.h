/* log_format: one log record as a line of JSON or text. Any bytes in the message give a valid line:
 * control characters are escaped, bytes that are not UTF-8 become U+FFFD. Pure: no system call. */
#ifndef LIB_LOG_LOG_FORMAT_H
#define LIB_LOG_LOG_FORMAT_H

#include "lib/log/log.h"

struct log_record {
	uint64_t time_ns; /* wall clock */
	enum log_level level;
	uint32_t len; /* of text */
	bool is_cut;  /* the message was longer than LIMIT_LOG_LINE_BYTES */
	char corr_id[LIMIT_HTTP_CORR_ID_BYTES + 1];
	char text[LIMIT_LOG_LINE_BYTES + 1];
};

/* Each byte of the message and of the correlation id takes at most six ("\u0001"); the rest of the
 * line is below 256. It fits PIPE_BUF, so that lines of two processes on one pipe do not mix. */
enum { LOG_FORMAT_BYTES = 6 * (LIMIT_LOG_LINE_BYTES + LIMIT_HTTP_CORR_ID_BYTES) + 256 };

/* Both return the length of the line, its newline included. */
size_t log_format_json(
	char out[LOG_FORMAT_BYTES], const struct log_record *record, const char *process);
size_t log_format_text(
	char out[LOG_FORMAT_BYTES], const struct log_record *record, const char *process);

#endif
