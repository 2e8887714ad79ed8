#include "controlplane/conf/running.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/controlplane/rig.h"
#include "tests/unit/unit.h"

static char path[] = "/tmp/running-XXXXXX";

static void write_file(const char *text)
{
	FILE *f = fopen(path, "w");
	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	fputs(text, f);
	fclose(f);
}

struct setting {
	struct rig rig;
	struct running running;
	struct running_change change;
};

static void begin(struct setting *t)
{
	static struct conf_errors errors;
	struct conf_input input = {.path = path};
	rig_init(&t->rig);
	write_file("http:\n  read_timeout_ms: 1000\n");
	CU_ASSERT_EQUAL_FATAL(running_load(&t->running, &input, &errors), 0);
	running_publish(&t->running, t->rig.seg);
}

/* What the data plane would see. */
static uint64_t published_timeout(const struct setting *t)
{
	static struct conf conf;
	CU_ASSERT(snap_read(seg_conf(t->rig.seg), &conf) > 0);
	return conf.http_read_timeout_ms;
}

static void good_reload(void) /* */
{
	static struct setting t;
	char text[LIMIT_EVENT_TEXT_BYTES];
	begin(&t);
	CU_ASSERT_EQUAL(published_timeout(&t), 1000);
	write_file("http:\n  read_timeout_ms: 2000\nlog:\n  level: warn\n");
	running_reload(&t.running, t.rig.seg, &t.change);
	CU_ASSERT_EQUAL(t.change.verdict, RUNNING_CHANGED);
	CU_ASSERT_EQUAL(t.change.count, 2);
	CU_ASSERT_EQUAL(published_timeout(&t), 2000);
	CU_ASSERT_EQUAL(t.running.version, 2);
	CU_ASSERT_EQUAL(rig_count_events(&t.rig, EVENT_CONFIG_CHANGED, text), 1);
	CU_ASSERT_STRING_EQUAL(text, "http.read_timeout_ms, log.level");
	running_reload(&t.running, t.rig.seg, &t.change);
	CU_ASSERT_EQUAL(t.change.verdict, RUNNING_SAME);
	CU_ASSERT_EQUAL(t.running.version, 2);
	CU_ASSERT_EQUAL(rig_count_events(&t.rig, EVENT_CONFIG_CHANGED, NULL), 1);
	rig_fini(&t.rig);
}

static void bad_reload_keeps_the_running_one(void) /* */
{
	static const struct {
		const char *text, *names;
		enum running_verdict verdict;
	} table[] = {
		{"http:\n  read_timeout_ms: 1\n", "read_timeout_ms", RUNNING_BAD},
		{"nonsense: [", "", RUNNING_BAD},
		{"http:\n  read_timeout_ms: 3000\nnet:\n  backlog: 5000\n", "net.backlog",
			RUNNING_RESTART},
	};
	static struct setting t;
	char text[LIMIT_EVENT_TEXT_BYTES];
	begin(&t);
	for (unsigned i = 0; i < ARRAY_LEN(table); i++) {
		write_file(table[i].text);
		running_reload(&t.running, t.rig.seg, &t.change);
		CU_ASSERT_EQUAL(t.change.verdict, table[i].verdict);
		CU_ASSERT(t.change.errors.count > 0);
		CU_ASSERT_EQUAL(published_timeout(&t), 1000);
		CU_ASSERT_EQUAL(t.running.conf.http_read_timeout_ms, 1000);
		CU_ASSERT_EQUAL(rig_count_events(&t.rig, EVENT_CONFIG_REFUSED, text), i + 1);
		CU_ASSERT_PTR_NOT_NULL(strstr(text, table[i].names));
	}
	CU_ASSERT_EQUAL(rig_count_events(&t.rig, EVENT_CONFIG_CHANGED, NULL), 0);
	rig_fini(&t.rig);
}

static void diff_changes_nothing(void)
{
	static struct setting t;
	static struct conf next;
	begin(&t);
	write_file("http:\n  read_timeout_ms: 3000\nnet:\n  backlog: 5000\n");
	running_diff(&t.running, &next, &t.change);
	CU_ASSERT(t.change.verdict == RUNNING_CHANGED && t.change.count == 2);
	CU_ASSERT_EQUAL(t.running.conf.http_read_timeout_ms, 1000);
	CU_ASSERT_EQUAL(published_timeout(&t), 1000);
	write_file("http: [");
	running_diff(&t.running, &next, &t.change);
	CU_ASSERT_EQUAL(t.change.verdict, RUNNING_BAD);
	rig_fini(&t.rig);
	unlink(path);
}

static void make_file(void)
{
	int fd = mkstemp(path);
	CU_ASSERT_FATAL(fd >= 0);
	close(fd);
	good_reload();
}

static const struct unit_case cases[] = {
	{"good_reload", make_file},
	{"bad_reload_keeps_the_running_one", bad_reload_keeps_the_running_one},
	{"diff_changes_nothing", diff_changes_nothing},
};
UNIT_MAIN("controlplane/conf/running", cases)
