/* log: JSON lines (text on a terminal) on standard error.
 * Callers: any thread. The message is formatted into a record of the `log` queue and written by a
 *          thread of its own; a caller never waits and makes no system call, but for the one that
 *          wakes the writer when it sleeps.
 * Full:    the line is dropped and counted (log_dropped), and the writer says how many were lost.
 * Long:    a message over LIMIT_LOG_LINE_BYTES is cut and marked.
 * Fields:  time, level, process, msg; corr_id when given; cut. The message is one sentence with its
 *          values in it. Never pass tokens, keys or bodies. */
#ifndef LIB_LOG_LOG_H
#define LIB_LOG_LOG_H

#include "lib/base/registry.h"

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };
enum log_format { LOG_FORMAT_AUTO, LOG_FORMAT_JSON, LOG_FORMAT_TEXT };

/* Starts the writer thread. `process` names it in each line. Returns 0 or -errno. */
CHECKED int log_start(const char *process, enum log_level level, enum log_format format);
/* Writes what is queued and ends the thread; a standard error that nobody reads holds it up for a
 * second at most. Afterwards, as before log_start, lines go out directly. */
void log_stop(void);
void log_set_level(enum log_level level);
/* Lines lost to a full ring since the start. */
uint64_t log_dropped(void);
/* Lines that wait for the writer. */
uint32_t log_depth(void);

void log_line(enum log_level level, const char *corr_id, const char *fmt, ...) PRINTF_LIKE(3, 4);

#define LOG(level, ...)		     log_line(LOG_##level, NULL, __VA_ARGS__)
#define LOG_FOR(corr_id, level, ...) log_line(LOG_##level, corr_id, __VA_ARGS__)

#endif
