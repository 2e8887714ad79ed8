/* log: JSON lines (text on a terminal) on standard error.
 * Any thread may call. The line is formatted into a record of the `log` ring and written by a
 * thread of its own, so an lcore never makes a system call to log. Ring full: the line is dropped
 * and counted (log_dropped), and the writer says how many were lost. Never pass tokens, keys or
 * bodies. Fields: time, level, process, msg, and what `fields` adds: alternating names and printf
 * formats are not used; the message is one sentence with its values in it, and `corr_id` may be
 * given apart. */
#ifndef LIB_LOG_LOG_H
#define LIB_LOG_LOG_H

#include "lib/base/registry.h"

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };
enum log_format { LOG_FORMAT_AUTO, LOG_FORMAT_JSON, LOG_FORMAT_TEXT };

/* Starts the writer thread. `process` names it in each line. Returns 0 or -errno. */
CHECKED int log_start(const char *process, enum log_level level, enum log_format format);
/* Writes what is queued and ends the thread. Afterwards lines go out directly. */
void log_stop(void);
void log_set_level(enum log_level level);
/* Lines lost to a full ring since the start. */
uint64_t log_dropped(void);

void log_line(enum log_level level, const char *corr_id, const char *fmt, ...) PRINTF_LIKE(3, 4);

#define LOG(level, ...)		     log_line(LOG_##level, NULL, __VA_ARGS__)
#define LOG_FOR(corr_id, level, ...) log_line(LOG_##level, corr_id, __VA_ARGS__)

#endif
