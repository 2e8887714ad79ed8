#include "lib/log/log.h"

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/clock/clock.h"
#include "lib/log/log_format.h"

enum {
	STALL_MS = 1000, /* how long log_stop waits for a reader of standard error that is stuck */
	NAP_US = 100,	 /* between looks at callers that are still inside log_line */
	NAPS_AT_STOP = 10000, /* a second of them */
};

/* A bounded queue of many producers and one consumer. The slot of position p may be filled when its
 * turn is p, and read when its turn is p + 1; the reader hands it on to position p + capacity. */
struct slot {
	uint64_t turn;
	struct log_record record;
};

static struct {
	alignas(CACHE_LINE) uint64_t tail; /* position of the next push; (w: any thread) */
	uint32_t callers;		   /* threads inside enqueue */
	uint32_t asleep;		   /* futex: 1 while the writer sleeps */
	uint64_t dropped;
	alignas(CACHE_LINE) uint64_t head; /* position of the next pop; (w: the writer) */
	uint64_t dropped_told;
	alignas(CACHE_LINE) uint32_t is_running;
	uint32_t is_stopping;
	uint32_t is_stuck; /* nobody reads standard error, and there is no time to wait */
	uint32_t level;
	bool is_text;
	char process[32];
	pthread_t writer;
	struct slot slots[QUEUE_CAPACITY_LOG];
} log_state = {.level = LOG_INFO, .process = "millrace"};

static_assert((QUEUE_CAPACITY_LOG & (QUEUE_CAPACITY_LOG - 1)) == 0, "positions wrap by masking");

static struct slot *slot_at(uint64_t position)
{
	return &log_state.slots[position % QUEUE_CAPACITY_LOG];
}

static void wake_writer(void)
{
	/* Pairs with the exchange in sleep_until_pushed: either the writer sees the push, or this sees
	 * the writer asleep. */
	if (__atomic_fetch_add(&log_state.asleep, 0, __ATOMIC_SEQ_CST) == 0)
		return;
	if (__atomic_exchange_n(&log_state.asleep, 0, __ATOMIC_SEQ_CST) == 1)
		syscall(SYS_futex, &log_state.asleep, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static bool push(const struct log_record *record)
{
	uint64_t position = __atomic_load_n(&log_state.tail, __ATOMIC_RELAXED);
	for (;;) {
		struct slot *slot = slot_at(position);
		uint64_t turn = __atomic_load_n(&slot->turn, __ATOMIC_ACQUIRE);
		if (turn < position)
			return false;
		if (turn > position) {
			position = __atomic_load_n(&log_state.tail, __ATOMIC_RELAXED);
			continue;
		}
		if (__atomic_compare_exchange_n(&log_state.tail, &position, position + 1, true,
			    __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
			slot->record = *record;
			__atomic_store_n(&slot->turn, position + 1, __ATOMIC_SEQ_CST);
			return true;
		}
	}
}

static bool pop(struct log_record *out)
{
	struct slot *slot = slot_at(log_state.head);
	if (__atomic_load_n(&slot->turn, __ATOMIC_SEQ_CST) != log_state.head + 1)
		return false;
	*out = slot->record;
	__atomic_store_n(&slot->turn, log_state.head + QUEUE_CAPACITY_LOG, __ATOMIC_RELEASE);
	__atomic_store_n(
		&log_state.head, log_state.head + 1, __ATOMIC_RELEASE); /* log_depth looks */
	return true;
}

/* Waits until standard error takes a line. Once the writer is told to stop it waits a bounded time and
 * then gives up for good, so that a stuck reader cannot hold up the end of the process. */
static bool wait_writable(void)
{
	while (!__atomic_load_n(&log_state.is_stuck, __ATOMIC_RELAXED)) {
		bool stopping = __atomic_load_n(&log_state.is_stopping, __ATOMIC_RELAXED);
		struct pollfd p = {.fd = STDERR_FILENO, .events = POLLOUT};
		int n = poll(&p, 1, STALL_MS);
		if (n > 0)
			return true;
		if ((n == 0 && stopping) || (n < 0 && errno != EINTR))
			__atomic_store_n(&log_state.is_stuck, 1, __ATOMIC_RELAXED);
	}
	return false;
}

static void write_line(const char *line, size_t len)
{
	while (len > 0 && wait_writable()) {
		ssize_t n = write(STDERR_FILENO, line, len);
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			break;
		line += n > 0 ? n : 0;
		len -= n > 0 ? (size_t)n : 0;
	}
	if (len > 0)
		__atomic_fetch_add(&log_state.dropped, 1, __ATOMIC_RELAXED);
}

static void write_record(const struct log_record *record)
{
	char line[LOG_FORMAT_BYTES];
	size_t len = log_state.is_text ? log_format_text(line, record, log_state.process)
				       : log_format_json(line, record, log_state.process);
	write_line(line, len);
}

static void tell_dropped(void)
{
	uint64_t dropped = __atomic_load_n(&log_state.dropped, __ATOMIC_RELAXED);
	if (dropped == log_state.dropped_told || log_state.is_stuck)
		return;
	struct log_record record = {.time_ns = clock_wall_ns(), .level = LOG_WARN};
	record.len = (uint32_t)snprintf(record.text, sizeof(record.text),
		"%llu log lines were lost: they came faster than standard error takes them",
		(unsigned long long)(dropped - log_state.dropped_told));
	log_state.dropped_told = dropped;
	write_record(&record);
}

static void drain(void)
{
	struct log_record record;
	while (pop(&record))
		write_record(&record);
	tell_dropped();
}

static void sleep_until_pushed(void)
{
	__atomic_exchange_n(&log_state.asleep, 1, __ATOMIC_SEQ_CST);
	bool has_more = __atomic_load_n(&slot_at(log_state.head)->turn, __ATOMIC_SEQ_CST) ==
			log_state.head + 1;
	if (has_more || __atomic_load_n(&log_state.is_stopping, __ATOMIC_SEQ_CST))
		__atomic_exchange_n(&log_state.asleep, 0, __ATOMIC_SEQ_CST);
	else
		syscall(SYS_futex, &log_state.asleep, FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0);
}

static void *writer_main(void *unused)
{
	(void)unused;
	while (!__atomic_load_n(&log_state.is_stopping, __ATOMIC_SEQ_CST)) {
		drain();
		sleep_until_pushed();
	}
	drain();
	return NULL;
}

int log_start(const char *process, enum log_level level, enum log_format format)
{
	MUST(!log_state.is_running);
	snprintf(log_state.process, sizeof(log_state.process), "%s", process);
	log_set_level(level);
	log_state.is_text =
		format == LOG_FORMAT_TEXT || (format == LOG_FORMAT_AUTO && isatty(STDERR_FILENO));
	log_state.is_stopping = 0;
	log_state.is_stuck = 0;
	log_state.asleep = 0;
	log_state.head = log_state.tail;
	for (uint64_t i = 0; i < QUEUE_CAPACITY_LOG; i++)
		slot_at(log_state.tail + i)->turn = log_state.tail + i;
	/* Signals are for the threads that expect them. */
	sigset_t all, before;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int failed = pthread_create(&log_state.writer, NULL, writer_main, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (failed)
		return -failed;
	__atomic_store_n(&log_state.is_running, 1, __ATOMIC_SEQ_CST);
	return 0;
}

void log_stop(void)
{
	if (!__atomic_exchange_n(&log_state.is_running, 0, __ATOMIC_SEQ_CST))
		return;
	/* Callers that still saw a running writer finish their push first. */
	for (int i = 0; i < NAPS_AT_STOP; i++) {
		if (__atomic_load_n(&log_state.callers, __ATOMIC_SEQ_CST) == 0)
			break;
		usleep(NAP_US);
	}
	__atomic_store_n(&log_state.is_stopping, 1, __ATOMIC_SEQ_CST);
	wake_writer();
	pthread_join(log_state.writer, NULL);
}

void log_set_level(enum log_level level)
{
	__atomic_store_n(&log_state.level, (uint32_t)level, __ATOMIC_RELAXED);
}

uint64_t log_dropped(void)
{
	return __atomic_load_n(&log_state.dropped, __ATOMIC_RELAXED);
}

uint32_t log_depth(void)
{
	/* The head first: it never passes the tail. */
	uint64_t head = __atomic_load_n(&log_state.head, __ATOMIC_ACQUIRE);
	uint64_t waiting = __atomic_load_n(&log_state.tail, __ATOMIC_RELAXED) - head;
	return waiting < QUEUE_CAPACITY_LOG ? (uint32_t)waiting : QUEUE_CAPACITY_LOG;
}

/* Queues the record. Returns false when no writer runs. */
static bool enqueue(const struct log_record *record)
{
	__atomic_fetch_add(&log_state.callers, 1, __ATOMIC_SEQ_CST);
	bool running = __atomic_load_n(&log_state.is_running, __ATOMIC_SEQ_CST);
	if (running) {
		if (push(record))
			wake_writer();
		else
			__atomic_fetch_add(&log_state.dropped, 1, __ATOMIC_RELAXED);
	}
	__atomic_fetch_sub(&log_state.callers, 1, __ATOMIC_SEQ_CST);
	return running;
}

void log_line(enum log_level level, const char *corr_id, const char *fmt, ...)
{
	if ((uint32_t)level > __atomic_load_n(&log_state.level, __ATOMIC_RELAXED))
		return;
	struct log_record record;
	record.time_ns = clock_wall_ns();
	record.level = level;
	snprintf(record.corr_id, sizeof(record.corr_id), "%s", corr_id != NULL ? corr_id : "");
	va_list args;
	va_start(args, fmt);
	int len = vsnprintf(record.text, sizeof(record.text), fmt, args);
	va_end(args);
	record.is_cut = len > LIMIT_LOG_LINE_BYTES;
	record.len = record.is_cut ? LIMIT_LOG_LINE_BYTES : len < 0 ? 0 : (uint32_t)len;
	if (!enqueue(&record))
		write_record(&record);
}
