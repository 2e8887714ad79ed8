/* A whole lcore on a thread of its own, with real sockets: what it does on orders, on new configuration, on questions. */
#include "dataplane/lcore/lcore.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "dataplane/worker/worker.h"
#include "lib/clock/clock.h"
#include "lib/conf/conf.h"
#include "tests/unit/unit.h"

struct rig {
	char node[32];
	struct conf conf;
	struct seg *seg;
	struct storage *storage;
	struct gateway *gateway;
	struct lcore *lcore;
	struct jobs *jobs[LIMIT_LCORES];
	struct workers *workers;
	pthread_t thread;
	uint16_t port;
};

static uint16_t free_port(void)
{
	struct sockaddr_in sa = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(sa);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	MUST(fd >= 0 && bind(fd, (struct sockaddr *)&sa, len) == 0);
	MUST(getsockname(fd, (struct sockaddr *)&sa, &len) == 0);
	close(fd);
	return ntohs(sa.sin_port);
}

static void *run(void *arg)
{
	lcore_run(arg);
	return NULL;
}

static void wake_lcore(void *ctx, uint32_t lcore)
{
	(void)lcore;
	struct rig *r = ctx;
	lcore_wake(r->lcore);
}

static struct rig *rig_open(const char *poll_mode)
{
	struct rig *r = calloc(1, sizeof(*r));
	MUST(r != NULL);
	char why[256], listen[48], poll_set[48];
	static struct conf_errors errors;
	snprintf(r->node, sizeof(r->node), "unit-lcore-%d", getpid());
	r->port = free_port();
	snprintf(listen, sizeof(listen), "net.listen=127.0.0.1:%u", r->port);
	snprintf(poll_set, sizeof(poll_set), "net.poll=%s", poll_mode);
	const char *const sets[] = {listen, poll_set, "net.conns_max=64", "net.rx_blocks=16",
		"storage.slab_bytes=4194304"};
	struct conf_input in = {.sets = sets, .set_count = ARRAY_LEN(sets)};
	MUST(conf_load(&r->conf, NULL, &in, &errors) == 0);
	MUST(seg_attach(&r->seg, r->node, SHM_DATAPLANE, why, sizeof(why)) == 0);
	MUST(storage_open(&r->storage, &r->conf, why, sizeof(why)) == 0);
	MUST(gateway_open(&r->gateway, r->storage, r->seg) == 0);
	struct lcore_conf c = {.index = 0,
		.lcores = 1,
		.seg = r->seg,
		.conf = &r->conf,
		.storage = r->storage,
		.gateway = r->gateway};
	MUST(lcore_open(&r->lcore, &c, why, sizeof(why)) == 0);
	r->jobs[0] = lcore_jobs(r->lcore);
	struct workers_conf wc = {
		.seg = r->seg, .jobs = r->jobs, .wake_lcore = wake_lcore, .wake_ctx = r};
	MUST(workers_open(&r->workers, &wc, why, sizeof(why)) == 0);
	r->jobs[0]->wake_worker = workers_wake;
	r->jobs[0]->wake_ctx = r->workers;
	MUST(pthread_create(&r->thread, NULL, run, r->lcore) == 0);
	return r;
}

static void rig_close(struct rig *r)
{
	lcore_order(r->lcore, LCORE_ABORT);
	pthread_join(r->thread, NULL);
	workers_close(r->workers);
	lcore_close(r->lcore);
	gateway_close(r->gateway);
	storage_close(r->storage);
	seg_detach(r->seg);
	seg_unlink(r->node);
	free(r);
}

static int dial(const struct rig *r)
{
	struct sockaddr_in sa = {.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
		.sin_port = htons(r->port)};
	struct timeval patience = {.tv_sec = 10};
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	MUST(fd >= 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (connect(fd, (struct sockaddr *)&sa, sizeof(sa)) != 0) {
		close(fd);
		return -1;
	}
	return fd;
}

/* The status of the answer to one request; 0 when the connection ends instead. */
static int ask(int fd, const char *request)
{
	char answer[4096];
	if (send(fd, request, strlen(request), MSG_NOSIGNAL) < 0)
		return 0;
	ssize_t got = recv(fd, answer, sizeof(answer) - 1, 0);
	if (got <= 0)
		return 0;
	answer[got] = '\0';
	return atoi(answer + strlen("HTTP/1.1 "));
}

#define HEALTHZ	 "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
#define POST	 "POST /o HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello"
#define NO_ROUTE "GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n"

#define UNTIL(cond) \
	({ \
		uint64_t until_end_ns = clock_now_ns() + 10 * NS_PER_S; \
		while (!(cond) && clock_now_ns() < until_end_ns) \
			usleep(500); \
		(cond); \
	})

static void serve(const char *poll_mode)
{
	struct rig *r = rig_open(poll_mode);
	int fd = dial(r);
	for (unsigned i = 0; i < 5; i++) {
		CU_ASSERT_EQUAL(ask(fd, HEALTHZ), 200);
		CU_ASSERT_EQUAL(ask(fd, POST), i == 0 ? 201 : 200);
		/* Long enough for an adaptive lcore to fall asleep. */
		usleep(1000);
	}
	const struct tally *t = &r->seg->tally[0];
	CU_ASSERT_TRUE(UNTIL(tally_get(t, TALLY_LCORE_BUSY) > 0));
	CU_ASSERT_TRUE(tally_get(t, TALLY_LCORE_TOTAL) >= tally_get(t, TALLY_LCORE_BUSY));
	CU_ASSERT_EQUAL(tally_get(t, TALLY_CONNS_OPEN), 1);
	close(fd);
	CU_ASSERT_TRUE(UNTIL(tally_get(t, TALLY_CONNS_OPEN) == 0));
	rig_close(r);
}

static void test_serve_adaptive(void)
{
	serve("adaptive");
}

static void test_serve_busy(void)
{
	serve("busy");
}

/* a new snapshot is in force without a restart: here the connections of one address. */
static void test_new_configuration(void)
{
	struct rig *r = rig_open("adaptive");
	int first = dial(r), second = -1;
	CU_ASSERT_EQUAL(ask(first, HEALTHZ), 200);
	r->conf.limits_conns_per_ip = 1;
	snap_publish(seg_conf(r->seg), &r->conf);
	CU_ASSERT_TRUE(UNTIL(({
		if (second >= 0)
			close(second);
		second = dial(r);
		ask(second, HEALTHZ) == 0;
	})));
	CU_ASSERT_EQUAL(ask(first, HEALTHZ), 200);
	CU_ASSERT_TRUE(tally_get(&r->seg->tally[0], TALLY_REJECTED + REASON_IP_CAP) >= 1);
	close(first);
	close(second);
	rig_close(r);
}

/* a reload also reaches a connection that waits by the old idle timeout (60 s) already. */
static void test_new_timeouts(void)
{
	struct rig *r = rig_open("adaptive");
	int fd = dial(r);
	CU_ASSERT_EQUAL(ask(fd, HEALTHZ), 200);
	r->conf.http_idle_timeout_ms = 100;
	snap_publish(seg_conf(r->seg), &r->conf);
	char byte;
	CU_ASSERT_EQUAL(recv(fd, &byte, 1, 0), 0);
	close(fd);
	rig_close(r);
}

/* A question of the control plane is answered while the lcore sleeps or works. */
static void test_ask(void)
{
	struct rig *r = rig_open("adaptive");
	int fd = dial(r);
	CU_ASSERT_EQUAL(ask(fd, HEALTHZ), 200);
	struct seg_ask *question = &r->seg->ask[0];
	question->cursor = 0;
	__atomic_store_n(&question->asked, question->asked + 1, __ATOMIC_RELEASE);
	CU_ASSERT_TRUE(
		UNTIL(__atomic_load_n(&question->answered, __ATOMIC_ACQUIRE) == question->asked));
	CU_ASSERT_EQUAL(question->rows, 1);
	CU_ASSERT_EQUAL(question->next_cursor, UINT32_MAX);
	CU_ASSERT_STRING_EQUAL(question->row[0].state, "idle");
	CU_ASSERT_EQUAL(question->row[0].requests, 1);
	close(fd);
	rig_close(r);
}

/* draining with nothing under way: idle connections are closed, health is answered to the end, other requests
 * are not; then the lcore takes no more connections and ends. */
static void test_drain_and_finish(void)
{
	struct rig *r = rig_open("adaptive");
	int idle = dial(r);
	CU_ASSERT_EQUAL(ask(idle, HEALTHZ), 200);
	lcore_order(r->lcore, LCORE_DRAIN);
	CU_ASSERT_TRUE(UNTIL(lcore_obeys(r->lcore) == LCORE_DRAIN));
	CU_ASSERT_EQUAL(ask(idle, HEALTHZ), 0);
	close(idle);
	int fd = dial(r);
	CU_ASSERT_EQUAL(ask(fd, HEALTHZ), 200);
	close(fd);
	fd = dial(r);
	CU_ASSERT_EQUAL(ask(fd, NO_ROUTE), 503);
	close(fd);
	CU_ASSERT_TRUE(UNTIL(lcore_busy(r->lcore) == 0));
	CU_ASSERT_FALSE(lcore_is_ended(r->lcore));
	lcore_order(r->lcore, LCORE_FINISH);
	CU_ASSERT_TRUE(UNTIL(lcore_is_ended(r->lcore)));
	CU_ASSERT_EQUAL(lcore_aborted(r->lcore), 0);
	CU_ASSERT_EQUAL(dial(r), -1);
	rig_close(r);
}

/* a request under way keeps the lcore busy; the abort cuts and counts it. */
static void test_drain_and_abort(void)
{
	struct rig *r = rig_open("adaptive");
	int fd = dial(r);
	static const char half[] = "POST /o HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\nhello";
	CU_ASSERT_EQUAL(send(fd, half, strlen(half), 0), (ssize_t)strlen(half));
	CU_ASSERT_TRUE(UNTIL(
		tally_get(&r->seg->tally[0], TALLY_INFLIGHT_REQUESTS + LABEL_ROUTE_OBJECT) == 1));
	lcore_order(r->lcore, LCORE_DRAIN);
	CU_ASSERT_TRUE(UNTIL(lcore_obeys(r->lcore) == LCORE_DRAIN));
	CU_ASSERT_EQUAL(lcore_busy(r->lcore), 1);
	lcore_order(r->lcore, LCORE_ABORT);
	CU_ASSERT_TRUE(UNTIL(lcore_is_ended(r->lcore)));
	CU_ASSERT_EQUAL(lcore_aborted(r->lcore), 1);
	CU_ASSERT_EQUAL(tally_get(&r->seg->tally[0], TALLY_TASKS_ABORTED + LABEL_KIND_REQUEST), 1);
	char byte;
	CU_ASSERT_TRUE(recv(fd, &byte, 1, 0) <= 0);
	close(fd);
	rig_close(r);
}

/* The heart of the loop beats while nobody talks to it. */
static void test_beat(void)
{
	struct rig *r = rig_open("adaptive");
	uint64_t beat_ns = lcore_beat_ns(r->lcore);
	CU_ASSERT_TRUE(UNTIL(lcore_beat_ns(r->lcore) > beat_ns));
	rig_close(r);
}

static const struct unit_case cases[] = {
	{"serve_adaptive", test_serve_adaptive},
	{"serve_busy", test_serve_busy},
	{"new_configuration", test_new_configuration},
	{"new_timeouts", test_new_timeouts},
	{"ask", test_ask},
	{"drain_and_finish", test_drain_and_finish},
	{"drain_and_abort", test_drain_and_abort},
	{"beat", test_beat},
};

UNIT_MAIN("dataplane/lcore", cases)
