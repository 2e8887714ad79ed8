#include "lib/log/log.h"

#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/clock/clock.h"
#include "lib/log/log_format.h"
#include "tests/unit/unit.h"

/* Standard error as a pipe, for the length of one case. */
struct capture {
	int saved;
	int from;
	int to; /* a second handle on the writing end */
};

static void capture_begin(struct capture *c)
{
	int ends[2];
	MUST(pipe(ends) == 0);
	fflush(stderr);
	c->saved = dup(STDERR_FILENO);
	c->from = ends[0];
	c->to = ends[1];
	MUST(dup2(ends[1], STDERR_FILENO) >= 0);
}

/* Fills the pipe: whoever writes next waits until somebody reads. */
static void capture_stuff(struct capture *c)
{
	fcntl(c->to, F_SETFL, O_NONBLOCK);
	while (write(c->to, "x", 1) == 1)
		;
	fcntl(c->to, F_SETFL, 0);
}

static void capture_end(struct capture *c)
{
	dup2(c->saved, STDERR_FILENO);
	close(c->saved);
	close(c->from);
	close(c->to);
}

/* Reads what is there. */
static size_t capture_read(struct capture *c, char *out, size_t size)
{
	size_t len = 0;
	struct pollfd p = {.fd = c->from, .events = POLLIN};
	while (len < size - 1 && poll(&p, 1, 0) > 0) {
		ssize_t n = read(c->from, out + len, size - 1 - len);
		if (n <= 0)
			break;
		len += (size_t)n;
	}
	out[len] = '\0';
	return len;
}

static char text[1 << 21];

static json_t *parse_one(const char *line)
{
	json_error_t error;
	json_t *o = json_loads(line, JSON_REJECT_DUPLICATES, &error);
	if (o == NULL)
		printf("not JSON: %s: %s\n", error.text, line);
	return o;
}

static const char *field(const json_t *o, const char *name)
{
	const char *value = json_string_value(json_object_get(o, name));
	return value != NULL ? value : "(none)";
}

/* */
static void lines_are_json(void)
{
	struct capture c;
	capture_begin(&c);
	MUST(log_start("dataplane", LOG_INFO, LOG_FORMAT_AUTO) == 0);
	LOG(WARN, "listening on %s", "127.0.0.1:8080");
	LOG_FOR("abc-1", ERROR, "two");
	LOG(DEBUG, "not shown");
	log_set_level(LOG_DEBUG);
	LOG(DEBUG, "shown");
	log_stop();
	capture_read(&c, text, sizeof(text));
	capture_end(&c);
	char *save;
	json_t *o = parse_one(strtok_r(text, "\n", &save));
	CU_ASSERT_PTR_NOT_NULL_FATAL(o);
	CU_ASSERT_STRING_EQUAL(field(o, "level"), "warn");
	CU_ASSERT_STRING_EQUAL(field(o, "process"), "dataplane");
	CU_ASSERT_STRING_EQUAL(field(o, "msg"), "listening on 127.0.0.1:8080");
	CU_ASSERT_EQUAL(strlen(field(o, "time")), strlen("2025-01-01T00:00:00.000Z"));
	CU_ASSERT_PTR_NULL(json_object_get(o, "corr_id"));
	CU_ASSERT_PTR_NULL(json_object_get(o, "cut"));
	json_decref(o);
	o = parse_one(strtok_r(NULL, "\n", &save));
	CU_ASSERT_STRING_EQUAL(field(o, "corr_id"), "abc-1");
	json_decref(o);
	o = parse_one(strtok_r(NULL, "\n", &save));
	CU_ASSERT_STRING_EQUAL(field(o, "msg"), "shown");
	json_decref(o);
	CU_ASSERT_PTR_NULL(strtok_r(NULL, "\n", &save));
}

static void no_writer_writes_directly(void)
{
	struct capture c;
	capture_begin(&c);
	LOG(ERROR, "before the start");
	capture_read(&c, text, sizeof(text));
	capture_end(&c);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "before the start"));
}

static void text_is_for_people(void)
{
	struct capture c;
	capture_begin(&c);
	MUST(log_start("controlplane", LOG_INFO, LOG_FORMAT_TEXT) == 0);
	LOG_FOR("id7", INFO, "a \"quoted\" word, caf\xc3\xa9, \x1b[31mred\x07\n and \xc2\x9b\xff");
	log_stop();
	capture_read(&c, text, sizeof(text));
	capture_end(&c);
	CU_ASSERT_PTR_NOT_NULL(strstr(text,
		" info controlplane: a \"quoted\" word, caf\xc3\xa9, \\x1b[31mred\\x07\\x0a and "
		"\\xc2\\x9b\\xff corr_id=id7\n"));
}

static void cut_at(size_t len, bool is_cut)
{
	struct capture c;
	char message[LIMIT_LOG_LINE_BYTES + 8];
	memset(message, 'm', sizeof(message));
	message[len] = '\0';
	capture_begin(&c);
	MUST(log_start("test", LOG_INFO, LOG_FORMAT_JSON) == 0);
	LOG(INFO, "%s", message);
	log_stop();
	capture_read(&c, text, sizeof(text));
	capture_end(&c);
	json_t *o = parse_one(text);
	CU_ASSERT_PTR_NOT_NULL_FATAL(o);
	CU_ASSERT_EQUAL(strlen(field(o, "msg")), is_cut ? LIMIT_LOG_LINE_BYTES : len);
	CU_ASSERT_EQUAL(json_is_true(json_object_get(o, "cut")), is_cut);
	json_decref(o);
}

static void long_lines_are_cut_and_marked(void)
{
	cut_at(0, false);
	cut_at(LIMIT_LOG_LINE_BYTES, false);
	cut_at(LIMIT_LOG_LINE_BYTES + 1, true);
}

/* Any bytes give one valid line within its bounds, in both forms. */
static void any_bytes_are_escaped(void)
{
	static struct log_record record;
	static char line[LOG_FORMAT_BYTES];
	uint64_t seed = 7;
	for (int round = 0; round < 2000; round++) {
		for (unsigned i = 0; i < LIMIT_LOG_LINE_BYTES; i++) {
			seed = seed * 6364136223846793005ull + 1442695040888963407ull;
			/* All bytes; in later rounds only those that are hard. */
			record.text[i] =
				(char)(round < 1000 ? seed >> 56 : 0x78 + (seed >> 56) % 0x88);
		}
		if (round == 0)
			memset(record.text, 1, LIMIT_LOG_LINE_BYTES);
		memset(record.corr_id, 1, LIMIT_HTTP_CORR_ID_BYTES);
		record.len = LIMIT_LOG_LINE_BYTES;
		record.is_cut = true;
		record.level = LOG_DEBUG;
		size_t len = log_format_json(line, &record, "controlplane");
		CU_ASSERT_EQUAL_FATAL(line[len - 1], '\n');
		CU_ASSERT_PTR_EQUAL(memchr(line, '\n', len), line + len - 1);
		json_t *o = json_loadb(line, len, JSON_ALLOW_NUL, NULL);
		CU_ASSERT_PTR_NOT_NULL_FATAL(o);
		json_decref(o);
		len = log_format_text(line, &record, "controlplane");
		CU_ASSERT_PTR_EQUAL(memchr(line, '\n', len), line + len - 1);
	}
}

static void utf8_is_kept_and_the_rest_replaced(void)
{
	static const struct {
		const char *in;
		const char *out;
	} cases[] = {
		{"caf\xc3\xa9", "caf\xc3\xa9"},
		{"\xe2\x82\xac\xf0\x9f\x98\x80", "\xe2\x82\xac\xf0\x9f\x98\x80"},
		{"\xc0\xaf", "\\ufffd\\ufffd"},
		{"\xed\xa0\x80", "\\ufffd\\ufffd\\ufffd"},
		{"\xf4\x90\x80\x80", "\\ufffd\\ufffd\\ufffd\\ufffd"},
		{"\xe2\x82", "\\ufffd\\ufffd"},
		{"\"\\\n\t\x7f", "\\\"\\\\\\u000a\\u0009\\u007f"},
	};
	for (unsigned i = 0; i < ARRAY_LEN(cases); i++) {
		struct log_record record = {.len = (uint32_t)strlen(cases[i].in)};
		char line[LOG_FORMAT_BYTES + 1];
		char expected[256];
		strcpy(record.text, cases[i].in);
		snprintf(expected, sizeof(expected), "\"msg\":\"%s\"}\n", cases[i].out);
		line[log_format_json(line, &record, "t")] = '\0';
		CU_ASSERT_PTR_NOT_NULL(strstr(line, expected));
	}
}

static unsigned count_lines(const char *in, const char *with)
{
	unsigned count = 0;
	for (const char *at = in; (at = strstr(at, with)) != NULL; at++)
		count++;
	return count;
}

/* 1024 lines wait; more are dropped and counted, and the caller does not notice. */
static void full_queue_drops_and_says_so(void)
{
	struct capture c;
	capture_begin(&c);
	/* Nobody reads and the pipe is full, so the writer holds one record and the queue the rest. */
	capture_stuff(&c);
	uint64_t before = log_dropped();
	MUST(log_start("test", LOG_INFO, LOG_FORMAT_JSON) == 0);
	for (unsigned i = 0; i < QUEUE_CAPACITY_LOG; i++)
		LOG(INFO, "line %u", i);
	CU_ASSERT_EQUAL(log_dropped() - before, 0);
	LOG(INFO, "line %u", QUEUE_CAPACITY_LOG);
	LOG(INFO, "line %u", QUEUE_CAPACITY_LOG + 1);
	uint64_t dropped = log_dropped() - before;
	CU_ASSERT(dropped == 1 || dropped == 2);
	CU_ASSERT_EQUAL(log_depth(), QUEUE_CAPACITY_LOG); /* */
	/* Read until the writer has caught up and told. */
	size_t len = 0;
	uint64_t deadline_ns = clock_now_ns() + 10 * NS_PER_S;
	text[0] = '\0';
	while (strstr(text, "were lost") == NULL && clock_now_ns() < deadline_ns)
		len += capture_read(&c, text + len, sizeof(text) - len);
	log_stop();
	capture_read(&c, text + len, sizeof(text) - len);
	capture_end(&c);
	CU_ASSERT_EQUAL(count_lines(text, "\"msg\":\"line "), QUEUE_CAPACITY_LOG + 2 - dropped);
	CU_ASSERT_EQUAL(count_lines(text, "log lines were lost"), 1);
	CU_ASSERT_EQUAL(log_depth(), 0);
}

static void stop_ends_though_nobody_reads(void)
{
	struct capture c;
	capture_begin(&c);
	capture_stuff(&c);
	uint64_t before = log_dropped();
	MUST(log_start("test", LOG_INFO, LOG_FORMAT_JSON) == 0);
	LOG(INFO, "nobody will see this");
	LOG(INFO, "nor this");
	log_stop();
	capture_end(&c);
	CU_ASSERT_EQUAL(log_dropped() - before, 2);
}

enum { CALLERS = 4, LINES = 500 };

static void *call(void *arg)
{
	for (int i = 0; i < LINES; i++)
		LOG(INFO, "caller %d line %d", (int)(intptr_t)arg, i);
	return NULL;
}

/* Lines of many threads are neither mixed nor doubled, each thread's stay in order, and together with
 * what was dropped none is missing. */
static void many_callers(void)
{
	struct capture c;
	pthread_t threads[CALLERS];
	char file[] = "/tmp/millrace-log-XXXXXX";
	int fd = mkstemp(file);
	unlink(file);
	capture_begin(&c);
	dup2(fd, STDERR_FILENO);
	uint64_t before = log_dropped();
	MUST(log_start("test", LOG_INFO, LOG_FORMAT_JSON) == 0);
	for (int i = 0; i < CALLERS; i++)
		MUST(pthread_create(&threads[i], NULL, call, (void *)(intptr_t)i) == 0);
	for (int i = 0; i < CALLERS; i++)
		pthread_join(threads[i], NULL);
	log_stop();
	capture_end(&c);
	ssize_t len = pread(fd, text, sizeof(text) - 1, 0);
	close(fd);
	text[len] = '\0';
	int last[CALLERS] = {-1, -1, -1, -1};
	unsigned lines = 0;
	char *save;
	for (char *l = strtok_r(text, "\n", &save); l != NULL; l = strtok_r(NULL, "\n", &save)) {
		json_t *o = parse_one(l);
		int caller, line;
		CU_ASSERT_PTR_NOT_NULL_FATAL(o);
		if (sscanf(field(o, "msg"), "caller %d line %d", &caller, &line) == 2) {
			CU_ASSERT(line > last[caller]);
			last[caller] = line;
			lines++;
		}
		json_decref(o);
	}
	CU_ASSERT_EQUAL(lines + (log_dropped() - before), CALLERS * LINES);
}

static const struct unit_case cases[] = {
	{"no writer: lines go out directly", no_writer_writes_directly},
	{"lines are JSON", lines_are_json},
	{"text is for people", text_is_for_people},
	{"long lines are cut and marked", long_lines_are_cut_and_marked},
	{"any bytes are escaped", any_bytes_are_escaped},
	{"UTF-8 is kept, the rest replaced", utf8_is_kept_and_the_rest_replaced},
	{"a full queue drops and says so", full_queue_drops_and_says_so},
	{"stop ends though nobody reads", stop_ends_though_nobody_reads},
	{"many callers", many_callers},
};

UNIT_MAIN("log.log", cases)
