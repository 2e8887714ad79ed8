#include "lib/shm/events.h"

#include <string.h>

#include "lib/clock/clock.h"
#include "tests/unit/unit.h"

static struct events ev;

static void emit(unsigned n)
{
	MUST(events_emit(&ev, SHM_CONTROLPLANE, EVENT_READY, "event %u", n));
}

static void check(struct events_cursor *cur, unsigned n, uint64_t *lost)
{
	struct event event;
	char text[32];
	snprintf(text, sizeof(text), "event %u", n);
	CU_ASSERT_EQUAL_FATAL(events_next(&ev, cur, &event, lost), 1);
	CU_ASSERT_STRING_EQUAL_FATAL(event.text, text);
}

static void what_goes_in_comes_out(void)
{
	events_init(&ev);
	struct events_cursor cur = events_tail(&ev, 0);
	struct event event;
	uint64_t lost = 0;
	CU_ASSERT_EQUAL(events_next(&ev, &cur, &event, &lost), 0);
	uint64_t before_ns = clock_wall_ns();
	CU_ASSERT(events_emit(&ev, SHM_DATAPLANE, EVENT_DRAIN, "asked by %s", "SIGTERM"));
	CU_ASSERT_EQUAL(events_next(&ev, &cur, &event, &lost), 1);
	CU_ASSERT_STRING_EQUAL(event.text, "asked by SIGTERM");
	CU_ASSERT_EQUAL(event.kind, EVENT_DRAIN);
	CU_ASSERT_EQUAL(event.process, SHM_DATAPLANE);
	CU_ASSERT(event.time_ns >= before_ns && event.time_ns <= clock_wall_ns());
	CU_ASSERT_EQUAL(events_next(&ev, &cur, &event, &lost), 0);
	CU_ASSERT_EQUAL(lost, 0);
	CU_ASSERT_STRING_EQUAL(event_kind_names[EVENT_DRAIN], "drain");
	for (unsigned i = 0; i < EVENT_KIND_COUNT; i++)
		CU_ASSERT_PTR_NOT_NULL(event_kind_names[i]);
}

/* a reader that lags by the whole ring loses nothing; by one more, one. */
static void lagging_reader_knows_its_loss(void)
{
	static const struct {
		unsigned emitted;
		unsigned lost;
	} cases[] = {
		{1, 0}, {1023, 0}, {1024, 0}, {1025, 1}, {1026, 2}, {2048, 1024}, {5000, 3976}};
	for (unsigned i = 0; i < ARRAY_LEN(cases); i++) {
		events_init(&ev);
		struct events_cursor cur = events_tail(&ev, 0);
		struct event event;
		uint64_t lost = 0;
		for (unsigned n = 0; n < cases[i].emitted; n++)
			emit(n);
		for (unsigned n = cases[i].lost; n < cases[i].emitted; n++)
			check(&cur, n, &lost);
		CU_ASSERT_EQUAL(events_next(&ev, &cur, &event, &lost), 0);
		CU_ASSERT_EQUAL(lost, cases[i].lost);
	}
}

static void tail_starts_back(void)
{
	uint64_t lost = 0;
	struct event event;
	events_init(&ev);
	CU_ASSERT_EQUAL(events_tail(&ev, 10).next, 1);
	for (unsigned n = 0; n < 2000; n++)
		emit(n);
	struct events_cursor cur = events_tail(&ev, 1);
	check(&cur, 1999, &lost);
	cur = events_tail(&ev, QUEUE_CAPACITY_EVENTS);
	check(&cur, 2000 - QUEUE_CAPACITY_EVENTS, &lost);
	cur = events_tail(&ev, QUEUE_CAPACITY_EVENTS + 1);
	check(&cur, 2000 - QUEUE_CAPACITY_EVENTS, &lost);
	cur = events_tail(&ev, 0);
	CU_ASSERT_EQUAL(events_next(&ev, &cur, &event, &lost), 0);
	CU_ASSERT_EQUAL(lost, 0);
}

static void text_is_cut_to_fit(void)
{
	char text[LIMIT_EVENT_TEXT_BYTES + 1];
	struct event event;
	uint64_t lost = 0;
	events_init(&ev);
	struct events_cursor cur = events_tail(&ev, 0);
	memset(text, 't', sizeof(text));
	text[LIMIT_EVENT_TEXT_BYTES - 1] = '\0';
	CU_ASSERT(events_emit(&ev, SHM_DATAPLANE, EVENT_AUDIT, "%s", text));
	CU_ASSERT_EQUAL(events_next(&ev, &cur, &event, &lost), 1);
	CU_ASSERT_EQUAL(strlen(event.text), LIMIT_EVENT_TEXT_BYTES - 1);
	text[LIMIT_EVENT_TEXT_BYTES - 1] = 't';
	text[LIMIT_EVENT_TEXT_BYTES] = '\0';
	CU_ASSERT(events_emit(&ev, SHM_DATAPLANE, EVENT_AUDIT, "%s", text));
	CU_ASSERT_EQUAL(events_next(&ev, &cur, &event, &lost), 1);
	CU_ASSERT_EQUAL(strlen(event.text), LIMIT_EVENT_TEXT_BYTES - 1);
}

/* A state word of a writer that is at work. */
static void stall(uint64_t ticket, enum shm_process process)
{
	ev.slots[ticket % QUEUE_CAPACITY_EVENTS].state = ticket << 3 | 2 | process;
}

/* A writer that stalls for a whole lap is passed over, not overwritten; nothing else is lost. */
static void stalled_writer_is_passed_over(void)
{
	struct event event;
	uint64_t lost = 0;
	events_init(&ev);
	stall(1, SHM_DATAPLANE);
	ev.next = 2;
	for (unsigned n = 2; n < 1025; n++)
		emit(n);
	/* The next ticket, 1025, shares the stalled slot; the event takes 1026. */
	struct events_cursor cur = events_tail(&ev, 0);
	emit(1025);
	CU_ASSERT_EQUAL(ev.next, 1027);
	check(&cur, 1025, &lost);
	CU_ASSERT_EQUAL(events_next(&ev, &cur, &event, &lost), 0);
	CU_ASSERT_EQUAL(lost, 0);
	CU_ASSERT_EQUAL(ev.slots[1].state, 1025 << 3 | 4 | 2 | SHM_DATAPLANE);
	/* Seven stalled in a row are passed over, eight are not. */
	cur = events_tail(&ev, 0);
	for (unsigned i = 0; i < 7; i++)
		stall(ev.next + i - QUEUE_CAPACITY_EVENTS, SHM_DATAPLANE);
	emit(7);
	check(&cur, 7, &lost);
	for (unsigned i = 0; i < 8; i++)
		stall(ev.next + i - QUEUE_CAPACITY_EVENTS, SHM_DATAPLANE);
	CU_ASSERT(!events_emit(&ev, SHM_DATAPLANE, EVENT_AUDIT, "dropped"));
	emit(8);
	check(&cur, 8, &lost);
	CU_ASSERT_EQUAL(lost, 0);
}

static void recover_releases_only_its_own(void)
{
	struct event event;
	uint64_t lost = 0;
	events_init(&ev);
	struct events_cursor cur = {1};
	stall(1, SHM_DATAPLANE);
	stall(2, SHM_CONTROLPLANE);
	ev.next = 3;
	emit(3);
	CU_ASSERT_EQUAL(events_next(&ev, &cur, &event, &lost), 0);
	events_recover(&ev, SHM_DATAPLANE);
	CU_ASSERT_EQUAL(events_next(&ev, &cur, &event, &lost), 0);
	CU_ASSERT_EQUAL(ev.slots[2].state & 2, 2);
	events_recover(&ev, SHM_CONTROLPLANE);
	check(&cur, 3, &lost);
	CU_ASSERT_EQUAL(lost, 0);
}

/* A writer that died after its claim and before it moved `next` holds up nobody. */
static void claim_without_follow_up_is_helped(void)
{
	struct event event;
	uint64_t lost = 0;
	events_init(&ev);
	stall(1, SHM_DATAPLANE);
	emit(2);
	CU_ASSERT_EQUAL(ev.next, 3);
	events_recover(&ev, SHM_DATAPLANE);
	struct events_cursor cur = {1};
	check(&cur, 2, &lost);
	CU_ASSERT_EQUAL(lost, 0);
	CU_ASSERT_EQUAL(events_next(&ev, &cur, &event, &lost), 0);
}

static const struct unit_case cases[] = {
	{"what goes in comes out", what_goes_in_comes_out},
	{"a lagging reader knows its loss", lagging_reader_knows_its_loss},
	{"a tail starts back", tail_starts_back},
	{"text is cut to fit", text_is_cut_to_fit},
	{"a stalled writer is passed over", stalled_writer_is_passed_over},
	{"recover releases only its own", recover_releases_only_its_own},
	{"a claim without follow-up is helped", claim_without_follow_up_is_helped},
};

UNIT_MAIN("shm.events", cases)
