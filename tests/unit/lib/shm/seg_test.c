#include "lib/shm/seg.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/version.h"
#include "lib/clock/clock.h"
#include "tests/unit/unit.h"

static char node[48];
static char path[64];
static char why[256];

/* Each case has a segment of its own, so that suites may run side by side. */
static void fresh_name(void)
{
	static unsigned count;
	snprintf(node, sizeof(node), "unit-%d-%u", (int)getpid(), count++);
	snprintf(path, sizeof(path), "/millrace-%s", node);
	memset(why, 0, sizeof(why));
}

static struct seg *attach(enum shm_process process)
{
	struct seg *s = NULL;
	int failed = seg_attach(&s, node, process, why, sizeof(why));
	if (failed) {
		fprintf(stderr, "attach: %s\n", why);
		abort();
	}
	return s;
}

/* The header of the segment, writable, as no user of seg.h ever has it. */
static struct seg_header *tamper(void)
{
	int fd = shm_open(path, O_RDWR, 0);
	MUST(fd >= 0);
	void *memory = mmap(NULL, sizeof(struct seg), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	MUST(memory != MAP_FAILED);
	close(fd);
	return memory;
}

static void creates_once(void)
{
	fresh_name();
	struct seg *d = attach(SHM_DATAPLANE);
	struct stat st;
	int fd = shm_open(path, O_RDONLY, 0);
	CU_ASSERT(fd >= 0 && fstat(fd, &st) == 0);
	CU_ASSERT_EQUAL(st.st_mode & 0777, 0600);
	CU_ASSERT_EQUAL(st.st_size, sizeof(struct seg));
	close(fd);
	CU_ASSERT_EQUAL(d->header.magic, SEG_MAGIC);
	CU_ASSERT_EQUAL(d->header.build_time, version_build_time());
	CU_ASSERT_EQUAL(d->hearts[SHM_DATAPLANE].generation, 1);
	CU_ASSERT_EQUAL(d->hearts[SHM_DATAPLANE].pid, getpid());
	CU_ASSERT_EQUAL(d->hearts[SHM_DATAPLANE].state, SEG_STARTING);
	CU_ASSERT_EQUAL(d->hearts[SHM_CONTROLPLANE].generation, 0);
	CU_ASSERT(seg_is_alive(d, SHM_DATAPLANE));
	CU_ASSERT(!seg_is_alive(d, SHM_CONTROLPLANE));

	struct seg *c = attach(SHM_CONTROLPLANE);
	CU_ASSERT_EQUAL(c->hearts[SHM_DATAPLANE].generation, 1);
	CU_ASSERT(seg_is_alive(d, SHM_CONTROLPLANE));
	seg_detach(c);
	CU_ASSERT(!seg_is_alive(d, SHM_CONTROLPLANE));
	CU_ASSERT(seg_is_alive(d, SHM_DATAPLANE));
	seg_detach(d);
	seg_unlink(node);
	const struct seg *none;
	CU_ASSERT_EQUAL(seg_open(&none, node, why, sizeof(why)), -ENOENT);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "not running"));
}

static void refuses_bad_names(void)
{
	static const char *const names[] = {"", "a/b", "..", "a b", "a.b",
		"123456789012345678901234567890123456789012345678901234"};
	for (unsigned i = 0; i < ARRAY_LEN(names); i++) {
		struct seg *s;
		CU_ASSERT_EQUAL(seg_attach(&s, names[i], SHM_DATAPLANE, why, sizeof(why)), -EINVAL);
		CU_ASSERT(why[0] != '\0');
	}
}

static void role_is_held_once(void)
{
	fresh_name();
	struct seg *d = attach(SHM_DATAPLANE);
	struct seg *second;
	CU_ASSERT_EQUAL(seg_attach(&second, node, SHM_DATAPLANE, why, sizeof(why)), -EEXIST);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "another dataplane"));
	/* The refused one left nothing behind. */
	CU_ASSERT_EQUAL(d->hearts[SHM_DATAPLANE].generation, 1);
	pid_t pid = fork();
	if (pid == 0) {
		char text[256];
		struct seg *third;
		int got = seg_attach(&third, node, SHM_DATAPLANE, text, sizeof(text));
		_exit(got == -EEXIST ? 0 : 1);
	}
	int status;
	CU_ASSERT(waitpid(pid, &status, 0) == pid && status == 0);
	seg_detach(d);
	d = attach(SHM_DATAPLANE);
	CU_ASSERT_EQUAL(d->hearts[SHM_DATAPLANE].generation, 2);
	seg_detach(d);
	seg_unlink(node);
}

/* N-3: a build with another layout says so and touches nothing. */
static void other_layout_is_refused(void)
{
	static const struct {
		int64_t age;
		const char *says;
	} cases[] = {{-1, "an older build"}, {1, "a newer build"}, {0, "another build"}};
	for (unsigned i = 0; i < ARRAY_LEN(cases); i++) {
		fresh_name();
		struct seg *d = attach(SHM_DATAPLANE);
		d->tally[0].cells[TALLY_BUS_LAGGED] = 7;
		struct seg_header *header = tamper();
		header->layout_hash ^= 1;
		header->build_time += (uint64_t)cases[i].age;
		snprintf(header->build, sizeof(header->build), "9.9.9 (feed)");
		struct seg *c;
		const struct seg *r;
		CU_ASSERT_EQUAL(seg_attach(&c, node, SHM_CONTROLPLANE, why, sizeof(why)), -EPROTO);
		CU_ASSERT_PTR_NOT_NULL(strstr(why, cases[i].says));
		CU_ASSERT_PTR_NOT_NULL(strstr(why, "9.9.9 (feed)"));
		CU_ASSERT_PTR_NOT_NULL(strstr(why, version_string()));
		CU_ASSERT_EQUAL(seg_open(&r, node, why, sizeof(why)), -EPROTO);
		CU_ASSERT_PTR_NOT_NULL(strstr(why, cases[i].says));
		CU_ASSERT_EQUAL(d->tally[0].cells[TALLY_BUS_LAGGED], 7);
		munmap(header, sizeof(struct seg));
		/* Its name stays as long as it lives, whoever else would like to tidy up. */
		CU_ASSERT(seg_is_used(node));
		seg_unlink(node);
		CU_ASSERT_EQUAL(seg_open(&r, node, why, sizeof(why)), -EPROTO);
		seg_detach(d);
		CU_ASSERT(!seg_is_used(node));
		seg_unlink(node);
		CU_ASSERT_EQUAL(seg_open(&r, node, why, sizeof(why)), -ENOENT);
	}
}

static void other_layout_of_the_dead_is_replaced(void)
{
	fresh_name();
	struct seg *d = attach(SHM_DATAPLANE);
	d->tally[0].cells[TALLY_BUS_LAGGED] = 7;
	seg_detach(d);
	struct seg_header *header = tamper();
	header->layout_hash ^= 1;
	munmap(header, sizeof(struct seg));
	struct seg *c = attach(SHM_CONTROLPLANE);
	CU_ASSERT_EQUAL(c->tally[0].cells[TALLY_BUS_LAGGED], 0);
	CU_ASSERT_EQUAL(c->hearts[SHM_DATAPLANE].generation, 0);
	d = attach(SHM_DATAPLANE);
	CU_ASSERT_EQUAL(d->hearts[SHM_DATAPLANE].generation, 1);
	seg_detach(d);
	seg_detach(c);
	seg_unlink(node);
}

static void foreign_file_is_refused_or_replaced(void)
{
	fresh_name();
	struct seg *d = attach(SHM_DATAPLANE);
	struct seg_header *header = tamper();
	header->magic = 1;
	const struct seg *r;
	CU_ASSERT_EQUAL(seg_open(&r, node, why, sizeof(why)), -EPROTO);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "not a segment"));
	munmap(header, sizeof(struct seg));
	seg_detach(d);
	/* A shorter file than ours must not be mapped: reading past its end would kill us. */
	int fd = shm_open(path, O_RDWR, 0);
	CU_ASSERT_EQUAL(ftruncate(fd, sizeof(struct seg_header)), 0);
	close(fd);
	CU_ASSERT_EQUAL(seg_open(&r, node, why, sizeof(why)), -EPROTO);
	d = attach(SHM_DATAPLANE);
	CU_ASSERT_EQUAL(d->header.magic, SEG_MAGIC);
	seg_detach(d);
	seg_unlink(node);
}

static void half_made_segment_is_made_anew(void)
{
	fresh_name();
	/* A creator that died after sizing and half the work. */
	int fd = shm_open(path, O_RDWR | O_CREAT, 0600);
	CU_ASSERT(fd >= 0 && ftruncate(fd, sizeof(struct seg)) == 0);
	close(fd);
	struct seg_header *header = tamper();
	header->magic = SEG_MAGIC;
	header->layout_hash = 3;
	((struct seg *)header)->tally[0].cells[0] = 99;
	munmap(header, sizeof(struct seg));
	const struct seg *r;
	CU_ASSERT_EQUAL(seg_open(&r, node, why, sizeof(why)), -ENOENT);
	struct seg *d = attach(SHM_DATAPLANE);
	CU_ASSERT_EQUAL(d->tally[0].cells[0], 0);
	CU_ASSERT_EQUAL(d->header.ready_to_use, 1);
	CU_ASSERT_EQUAL(seg_open(&r, node, why, sizeof(why)), 0);
	CU_ASSERT_EQUAL(r->hearts[SHM_DATAPLANE].pid, getpid());
	seg_detach(r);
	seg_detach(d);
	seg_unlink(node);
}

/* Runs `body` in a child that attaches as `process` and is then killed. */
static void live_and_die(enum shm_process process, void (*body)(struct seg *))
{
	int done[2];
	MUST(pipe(done) == 0);
	pid_t pid = fork();
	if (pid == 0) {
		struct seg *s = attach(process);
		body(s);
		MUST(write(done[1], "x", 1) == 1);
		for (;;)
			pause();
	}
	char byte;
	MUST(read(done[0], &byte, 1) == 1);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(done[0]);
	close(done[1]);
}

static void publish_and_count(struct seg *s)
{
	static struct conf conf;
	tally_inc(&s->tally[TALLY_SLOT_CONTROL], TALLY_BUS_LAGGED);
	snap_publish(seg_conf(s), &conf);
	events_emit(&s->events, SHM_CONTROLPLANE, EVENT_AUDIT, "by the one that dies");
}

static void queue_and_count(struct seg *s)
{
	struct seg_job_ref ref = {1, 2};
	struct seg_ready ready = {.ready = 1};
	tally_inc(&s->tally[3], TALLY_CONNS_ACCEPTED);
	tally_set(&s->tally[3], TALLY_CONNS_OPEN, 5);
	ring_push(seg_ring(s, QUEUE_STORAGE_WORK, 0), &ref, sizeof(ref));
	ring_push(seg_ring(s, QUEUE_DONE, LIMIT_LCORES - 1), &ref, sizeof(ref));
	snap_publish(seg_ready(s), &ready);
}

/* N-3, X-20: counters outlive both processes; what belonged to their life does not. */
static void both_dead_is_taken_over(void)
{
	fresh_name();
	live_and_die(SHM_CONTROLPLANE, publish_and_count);
	live_and_die(SHM_DATAPLANE, queue_and_count);
	struct seg *d = attach(SHM_DATAPLANE);
	CU_ASSERT_EQUAL(tally_sum(d->tally, TALLY_BUS_LAGGED), 1);
	CU_ASSERT_EQUAL(tally_sum(d->tally, TALLY_CONNS_ACCEPTED), 1);
	CU_ASSERT_EQUAL(tally_sum(d->tally, TALLY_CONNS_OPEN), 0);
	CU_ASSERT_EQUAL(d->hearts[SHM_DATAPLANE].generation, 2);
	CU_ASSERT_EQUAL(ring_depth(seg_ring(d, QUEUE_STORAGE_WORK, 0)), 0);
	CU_ASSERT_EQUAL(ring_depth(seg_ring(d, QUEUE_DONE, LIMIT_LCORES - 1)), 0);
	CU_ASSERT_EQUAL(snap_version(seg_conf(d)), 0);
	CU_ASSERT(!seg_is_alive(d, SHM_CONTROLPLANE));
	struct events_cursor cur = events_tail(&d->events, QUEUE_CAPACITY_EVENTS);
	struct event event;
	uint64_t lost = 0;
	CU_ASSERT_EQUAL(events_next(&d->events, &cur, &event, &lost), 1);
	CU_ASSERT_STRING_EQUAL(event.text, "by the one that dies");
	seg_detach(d);
	seg_unlink(node);
}

/* N-3: the data plane comes back under a living control plane: configuration stays, readiness not. */
static void one_dead_keeps_the_configuration(void)
{
	fresh_name();
	static struct conf conf;
	struct seg *c = attach(SHM_CONTROLPLANE);
	snap_publish(seg_conf(c), &conf);
	live_and_die(SHM_DATAPLANE, queue_and_count);
	CU_ASSERT(!seg_is_alive(c, SHM_DATAPLANE));
	struct seg_ready ready;
	snap_read(seg_ready(c), &ready);
	CU_ASSERT_EQUAL(ready.ready, 1);
	struct seg *d = attach(SHM_DATAPLANE);
	CU_ASSERT_EQUAL(snap_version(seg_conf(d)), 1);
	snap_read(seg_ready(d), &ready);
	CU_ASSERT_EQUAL(ready.ready, 0);
	CU_ASSERT_EQUAL(ring_depth(seg_ring(d, QUEUE_STORAGE_WORK, 0)), 0);
	seg_detach(d);
	seg_detach(c);
	seg_unlink(node);
}

static void hang_in_half_an_event(struct seg *s)
{
	/* As if killed between claim and publication of ticket 1. */
	s->events.slots[1].state = 1 << 3 | 1 << 1 | SHM_DATAPLANE;
	s->events.next = 2;
}

static void half_an_event_is_recovered(void)
{
	fresh_name();
	struct seg *c = attach(SHM_CONTROLPLANE);
	live_and_die(SHM_DATAPLANE, hang_in_half_an_event);
	struct events_cursor cur = {1};
	struct event event;
	uint64_t lost = 0;
	events_emit(&c->events, SHM_CONTROLPLANE, EVENT_AUDIT, "after");
	CU_ASSERT_EQUAL(events_next(&c->events, &cur, &event, &lost), 0);
	struct seg *d = attach(SHM_DATAPLANE);
	CU_ASSERT_EQUAL(events_next(&c->events, &cur, &event, &lost), 1);
	CU_ASSERT_STRING_EQUAL(event.text, "after");
	CU_ASSERT_EQUAL(lost, 0);
	seg_detach(d);
	seg_detach(c);
	seg_unlink(node);
}

static void heartbeat_goes_stale(void)
{
	fresh_name();
	struct seg *d = attach(SHM_DATAPLANE);
	seg_beat(d, SHM_DATAPLANE, SEG_RUNNING);
	CU_ASSERT(seg_is_alive(d, SHM_DATAPLANE));
	uint64_t limit_ns = LIMIT_HEARTBEAT_STALE_MS * NS_PER_MS;
	d->hearts[SHM_DATAPLANE].beat_ns = clock_now_ns() - limit_ns / 2;
	CU_ASSERT(seg_is_alive(d, SHM_DATAPLANE));
	d->hearts[SHM_DATAPLANE].beat_ns = clock_now_ns() - limit_ns - 1;
	CU_ASSERT(!seg_is_alive(d, SHM_DATAPLANE));
	seg_beat(d, SHM_DATAPLANE, SEG_DRAINING);
	CU_ASSERT(seg_is_alive(d, SHM_DATAPLANE));
	CU_ASSERT_STRING_EQUAL(seg_state_names[d->hearts[SHM_DATAPLANE].state], "draining");
	seg_detach(d);
	seg_unlink(node);
}

/* Several processes race to create: one segment, each role once. */
static void creation_race_has_one_winner(void)
{
	enum { RACERS = 8 };
	fresh_name();
	int hold[2];
	MUST(pipe(hold) == 0);
	pid_t pids[RACERS];
	for (int i = 0; i < RACERS; i++) {
		pids[i] = fork();
		if (pids[i] == 0) {
			struct seg *s;
			char byte;
			close(hold[1]);
			int got = seg_attach(&s, node, i % SHM_PROCESS_COUNT, why, sizeof(why));
			/* Winners keep their role until all have tried. */
			if (got == 0)
				MUST(read(hold[0], &byte, 1) == 0);
			_exit(got == 0 ? 0 : got == -EEXIST ? 1 : 2);
		}
	}
	const struct seg *r = NULL;
	uint64_t deadline_ns = clock_now_ns() + 10 * NS_PER_S;
	while (clock_now_ns() < deadline_ns && r == NULL) {
		if (seg_open(&r, node, why, sizeof(why)) != 0)
			r = NULL;
	}
	CU_ASSERT_PTR_NOT_NULL_FATAL(r);
	while (clock_now_ns() < deadline_ns &&
		(__atomic_load_n(&r->hearts[0].generation, __ATOMIC_ACQUIRE) == 0 ||
			__atomic_load_n(&r->hearts[1].generation, __ATOMIC_ACQUIRE) == 0))
		usleep(1000);
	int exits[3] = {0};
	/* The losers end by themselves; then the winners are let go. */
	for (int i = 0, ended = 0; ended < RACERS - 2 && clock_now_ns() < deadline_ns; i++) {
		int status;
		if (waitpid(pids[i % RACERS], &status, WNOHANG) == pids[i % RACERS]) {
			exits[WEXITSTATUS(status)]++;
			ended++;
		}
		usleep(100);
	}
	close(hold[1]);
	close(hold[0]);
	for (int i = 0; i < RACERS; i++) {
		int status;
		if (waitpid(pids[i], &status, 0) == pids[i])
			exits[WEXITSTATUS(status)]++;
	}
	CU_ASSERT_EQUAL(exits[0], 2);
	CU_ASSERT_EQUAL(exits[1], RACERS - 2);
	CU_ASSERT_EQUAL(r->hearts[SHM_DATAPLANE].generation, 1);
	CU_ASSERT_EQUAL(r->hearts[SHM_CONTROLPLANE].generation, 1);
	seg_detach(r);
	seg_unlink(node);
}

/* the rings of the services that exist have the registry's capacity. */
static void rings_have_registry_capacities(void)
{
	fresh_name();
	struct seg *d = attach(SHM_DATAPLANE);
	struct seg_job_ref ref = {0};
	for (unsigned q = 0; q < QUEUE_COUNT; q++) {
		struct rte_ring *r = seg_ring(d, q, 0);
		if (r == NULL)
			continue;
		for (unsigned i = 0; i < queue_infos[q].capacity; i++)
			CU_ASSERT_FATAL(ring_push(r, &ref, sizeof(ref)));
		CU_ASSERT(!ring_push(r, &ref, sizeof(ref)));
		CU_ASSERT_EQUAL(ring_depth(r), queue_infos[q].capacity);
	}
	CU_ASSERT_PTR_NOT_NULL(seg_ring(d, QUEUE_STORAGE_WORK, 0));
	CU_ASSERT_PTR_NOT_EQUAL(seg_ring(d, QUEUE_DONE, 0), seg_ring(d, QUEUE_DONE, 1));
	CU_ASSERT_PTR_NULL(seg_ring(d, QUEUE_EDGE_WORK, 0));
	seg_detach(d);
	seg_unlink(node);
}

static const struct unit_case cases[] = {
	{"creates once, mode 0600", creates_once},
	{"bad names are refused", refuses_bad_names},
	{"a role is held once", role_is_held_once},
	{"another layout is refused", other_layout_is_refused},
	{"another layout of the dead is replaced", other_layout_of_the_dead_is_replaced},
	{"a foreign file is refused or replaced", foreign_file_is_refused_or_replaced},
	{"a half made segment is made anew", half_made_segment_is_made_anew},
	{"both dead: taken over", both_dead_is_taken_over},
	{"one dead: configuration stays", one_dead_keeps_the_configuration},
	{"half an event is recovered", half_an_event_is_recovered},
	{"a heartbeat goes stale", heartbeat_goes_stale},
	{"a creation race has one winner", creation_race_has_one_winner},
	{"rings have the registry's capacities", rings_have_registry_capacities},
};

UNIT_MAIN("shm.seg", cases)
