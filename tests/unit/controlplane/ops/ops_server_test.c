#include "controlplane/ops/ops_server.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/clock/clock.h"
#include "lib/pcapng/pcapng.h"
#include "tests/unit/controlplane/rig.h"
#include "tests/unit/unit.h"

enum { PATIENCE_MS = 5000, TEXT = 1 << 20 };

/* A server on a socket of its own, its loop turned by hand. */
struct bench {
	struct rig rig;
	struct running running;
	struct sample sample;
	struct exporter exporter;
	struct loop loop;
	struct ops_server server;
	char base[32];
	char conf_path[48];
	char text[TEXT];
};

static void begin(struct bench *b)
{
	static struct conf_errors errors;
	char why[256];
	memset(b, 0, sizeof(*b));
	rig_init(&b->rig);
	strcpy(b->base, "/tmp/ops-server-XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(b->base));
	snprintf(b->conf_path, sizeof(b->conf_path), "%s/c", b->base);
	FILE *f = fopen(b->conf_path, "w");
	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	fprintf(f, "node:\n  name: unit\n  run_dir: %s/run\n", b->base);
	fclose(f);
	struct conf_input input = {.path = b->conf_path};
	CU_ASSERT_EQUAL_FATAL(running_load(&b->running, &input, &errors), 0);
	running_publish(&b->running, b->rig.seg);
	struct ops_env env = {.seg = b->rig.seg,
		.running = &b->running,
		.sample = &b->sample,
		.exporter = &b->exporter};
	CU_ASSERT_EQUAL_FATAL(loop_init(&b->loop), 0);
	CU_ASSERT_EQUAL_FATAL(ops_server_init(&b->server, &b->loop, &env, why, sizeof(why)), 0);
}

static void end(struct bench *b)
{
	char dir[64];
	ops_server_fini(&b->server);
	loop_fini(&b->loop);
	rig_fini(&b->rig);
	unlink(b->conf_path);
	snprintf(dir, sizeof(dir), "%s/run", b->base);
	rmdir(dir);
	rmdir(b->base);
}

static int dial(struct bench *b)
{
	struct sockaddr_un address;
	CU_ASSERT_EQUAL_FATAL(ops_path_address(&address, b->server.socket.path), 0);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CU_ASSERT_EQUAL_FATAL(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

static void say(int fd, const char *text)
{
	CU_ASSERT_EQUAL(send(fd, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
}

/* Turns the loop while it has something to do and `fd` has nothing to read. False when time is up. */
static bool turn_until_readable(struct bench *b, int fd)
{
	uint64_t deadline_ns = clock_now_ns() + PATIENCE_MS * NS_PER_MS;
	while (clock_now_ns() < deadline_ns) {
		struct pollfd p[] = {
			{.fd = fd, .events = POLLIN}, {.fd = b->loop.epoll_fd, .events = POLLIN}};
		if (poll(p, 2, 100) < 0)
			return false;
		if (p[0].revents != 0)
			return true;
		if (p[1].revents != 0)
			loop_turn(&b->loop);
	}
	return false;
}

/* The next line in b->text; "" when the server closed. */
static const char *hear(struct bench *b, int fd)
{
	size_t len = 0;
	while (len < TEXT - 1) {
		CU_ASSERT_FATAL(turn_until_readable(b, fd));
		ssize_t n = recv(fd, b->text + len, 1, 0);
		if (n <= 0)
			break;
		len += (size_t)n;
		if (b->text[len - 1] == '\n')
			break;
	}
	b->text[len] = '\0';
	return b->text;
}

static bool hears(struct bench *b, int fd, const char *part)
{
	return strstr(hear(b, fd), part) != NULL;
}

static const char *ask(struct bench *b, const char *line)
{
	int fd = dial(b);
	say(fd, line);
	const char *reply = hear(b, fd);
	close(fd);
	return reply;
}

static struct bench b;

static void answers(void) /* N-4, X-1 */
{
	begin(&b);
	CU_ASSERT_PTR_NOT_NULL(
		strstr(ask(&b, "{\"cmd\":\"status\"}\n"), "{\"ok\":true,\"data\":{\"node\":"));
	CU_ASSERT_PTR_NOT_NULL(
		strstr(ask(&b, "{\"cmd\":\"queues\"}\n"), "\"queue\":\"gateway.work\""));
	CU_ASSERT_PTR_NOT_NULL(strstr(ask(&b, "{\"cmd\":\"lcores\"}\n"), "\"data\":[]"));
	CU_ASSERT_PTR_NOT_NULL(
		strstr(ask(&b, "{\"cmd\":\"config.show\"}\n"), "\"key\":\"node.name\""));
	CU_ASSERT_PTR_NOT_NULL(strstr(ask(&b, "{\"cmd\":\"config.diff\"}\n"), "\"data\":[]"));
	CU_ASSERT_PTR_NOT_NULL(strstr(
		ask(&b, "{\"cmd\":\"nonsense\"}\n"), "\"ok\":false,\"error\":\"unknown_command\""));
	end(&b);
}

static void requests_in_a_row(void)
{
	begin(&b);
	int fd = dial(&b);
	say(fd, "{\"cmd\":\"lcores\"}\nnonsense\n{\"cmd\":\"config.diff\"}\n{\"cmd\":\"lco");
	CU_ASSERT(hears(&b, fd, "\"ok\":true"));
	CU_ASSERT(hears(&b, fd, "bad_request"));
	CU_ASSERT(hears(&b, fd, "\"ok\":true"));
	say(fd, "res\"}\n{\"cmd\":\"lcores\"}\n");
	CU_ASSERT_EQUAL(shutdown(fd, SHUT_WR), 0);
	CU_ASSERT(hears(&b, fd, "\"ok\":true"));
	CU_ASSERT(hears(&b, fd, "\"ok\":true"));
	CU_ASSERT_STRING_EQUAL(hear(&b, fd), ""); /* asked no more: closed */
	close(fd);
	end(&b);
}

static void overlong_line_is_cut(void)
{
	static char line[LIMIT_OPS_REQUEST_BYTES + 2];
	begin(&b);
	/* At the limit: blanks around a request are still a request. */
	memset(line, ' ', sizeof(line));
	memcpy(line, "{\"cmd\":\"lcores\"}", 16);
	line[LIMIT_OPS_REQUEST_BYTES - 1] = '\n';
	line[LIMIT_OPS_REQUEST_BYTES] = '\0';
	CU_ASSERT_PTR_NOT_NULL(strstr(ask(&b, line), "\"ok\":true"));
	/* One past it. */
	line[LIMIT_OPS_REQUEST_BYTES - 1] = ' ';
	line[LIMIT_OPS_REQUEST_BYTES] = '\n';
	line[LIMIT_OPS_REQUEST_BYTES + 1] = '\0';
	int fd = dial(&b);
	say(fd, line);
	CU_ASSERT(hears(&b, fd, "too_long"));
	CU_ASSERT_STRING_EQUAL(hear(&b, fd), "");
	close(fd);
	end(&b);
}

static void one_client_too_many(void) /* N-4 */
{
	int fds[LIMIT_OPS_CLIENTS];
	begin(&b);
	for (int i = 0; i < LIMIT_OPS_CLIENTS; i++) {
		fds[i] = dial(&b);
		say(fds[i], "{\"cmd\":\"lcores\"}\n");
		CU_ASSERT(hears(&b, fds[i], "\"ok\":true"));
	}
	int extra = dial(&b);
	CU_ASSERT(hears(&b, extra, "\"error\":\"busy\""));
	CU_ASSERT_STRING_EQUAL(hear(&b, extra), "");
	close(extra);
	close(fds[3]);
	CU_ASSERT(turn_until_readable(&b, b.loop.epoll_fd));
	loop_turn(&b.loop);
	CU_ASSERT_PTR_NOT_NULL(strstr(ask(&b, "{\"cmd\":\"lcores\"}\n"), "\"ok\":true"));
	for (int i = 0; i < LIMIT_OPS_CLIENTS; i++) {
		if (i != 3)
			close(fds[i]);
	}
	end(&b);
}

static void mutations_are_audited_once(void) /* */
{
	char text[LIMIT_EVENT_TEXT_BYTES], who[64];
	begin(&b);
	snprintf(who, sizeof(who), "who=uid:%u,pid:%d ", getuid(), getpid());
	(void)ask(&b, "{\"cmd\":\"status\"}\n");
	(void)ask(&b, "{\"cmd\":\"reload\",\"x\":1}\n");
	CU_ASSERT_EQUAL(rig_count_events(&b.rig, EVENT_AUDIT, NULL), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(ask(&b, "{\"cmd\":\"reload\"}\n"), "\"changed\":[]"));
	CU_ASSERT_EQUAL(rig_count_events(&b.rig, EVENT_AUDIT, text), 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, who));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "what=reload capability=ops-socket outcome=ok"));
	/* Also when the answer is no. */
	unlink(b.conf_path);
	CU_ASSERT_PTR_NOT_NULL(
		strstr(ask(&b, "{\"cmd\":\"reload\"}\n"), "\"error\":\"bad_config\""));
	CU_ASSERT_EQUAL(rig_count_events(&b.rig, EVENT_AUDIT, text), 2);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "outcome=bad_config"));
	CU_ASSERT_PTR_NOT_NULL(
		strstr(ask(&b, "{\"cmd\":\"drain\"}\n"), "\"error\":\"dataplane_down\""));
	CU_ASSERT_EQUAL(rig_count_events(&b.rig, EVENT_AUDIT, text), 3);
	end(&b);
}

static void drain_names_the_generation(void) /* */
{
	begin(&b);
	rig_start_dataplane(&b.rig);
	uint64_t generation = b.rig.seg->hearts[SHM_DATAPLANE].generation;
	CU_ASSERT_NOT_EQUAL(b.rig.seg->shutdown.requested_generation, generation);
	CU_ASSERT_PTR_NOT_NULL(strstr(ask(&b, "{\"cmd\":\"drain\"}\n"), "\"ok\":true"));
	CU_ASSERT_EQUAL(b.rig.seg->shutdown.requested_generation, generation);
	end(&b);
}

static void conns(void) /* N-4 */
{
	begin(&b);
	CU_ASSERT_PTR_NOT_NULL(strstr(ask(&b, "{\"cmd\":\"conns\"}\n"), "dataplane_down"));
	rig_start_dataplane(&b.rig);
	CU_ASSERT_PTR_NOT_NULL(
		strstr(ask(&b, "{\"cmd\":\"conns\",\"args\":{\"lcore\":2}}\n"), "no such lcore"));
	struct seg_ask *a = &b.rig.data->ask[1];
	int first = dial(&b), second = dial(&b);
	say(first, "{\"cmd\":\"conns\",\"args\":{\"lcore\":1,\"cursor\":5}}\n");
	say(second, "{\"cmd\":\"conns\",\"args\":{\"lcore\":1,\"cursor\":6}}\n");
	/* One question at a time, each client gets its own answer. */
	for (uint32_t i = 0; i < 2; i++) {
		while (__atomic_load_n(&a->asked, __ATOMIC_ACQUIRE) == a->answered)
			loop_turn(&b.loop);
		uint32_t cursor = a->cursor;
		a->rows = 1;
		a->next_cursor = UINT32_MAX;
		a->row[0] = (struct ask_conn){
			.requests = cursor, .peer = "1.2.3.4:5", .state = "idle", .rtt_us = 77};
		if (cursor == 6)
			snprintf(a->row[0].tcp, sizeof(a->row[0].tcp), "established");
		__atomic_store_n(&a->answered, a->asked, __ATOMIC_RELEASE);
		char want[32];
		snprintf(want, sizeof(want), "\"requests\":%u,", cursor);
		CU_ASSERT(hears(&b, cursor == 5 ? first : second, want));
		CU_ASSERT_PTR_NOT_NULL(strstr(b.text, "\"next_cursor\":null"));
		CU_ASSERT_PTR_NOT_NULL(
			strstr(b.text, cursor == 6 ? "\"tcp\":\"established\",\"rtt_us\":77,"
						   : "\"tcp\":null,\"rtt_us\":null,"));
	}
	close(first);
	close(second);
	end(&b);
}

static void stalled_lcore_is_given_up(void)
{
	begin(&b);
	rig_start_dataplane(&b.rig);
	CU_ASSERT_PTR_NOT_NULL(strstr(ask(&b, "{\"cmd\":\"conns\"}\n"), "\"error\":\"timeout\""));
	end(&b);
}

static void follower_sees_what_happens(void) /* */
{
	begin(&b);
	bus_emit(b.rig.seg, EVENT_DRAIN, "before");
	int fd = dial(&b);
	say(fd, "{\"cmd\":\"events\",\"args\":{\"count\":5,\"follow\":true}}\n");
	CU_ASSERT(hears(&b, fd, "\"text\":\"before\""));
	bus_emit(b.rig.seg, EVENT_DRAIN, "after \"it\"\n");
	CU_ASSERT(hears(&b, fd, "{\"event\":{\"time\":\""));
	CU_ASSERT_PTR_NOT_NULL(strstr(b.text, "\"kind\":\"drain\",\"process\":\"controlplane\","
					      "\"text\":\"after \\\"it\\\"\\n\"}}\n"));
	close(fd);
	end(&b);
}

static void slow_follower_is_told_what_it_lost(void) /* */
{
	begin(&b);
	int fd = dial(&b);
	say(fd, "{\"cmd\":\"events\",\"args\":{\"count\":0,\"follow\":true}}\n");
	CU_ASSERT(hears(&b, fd, "\"events\":[]"));
	for (int i = 0; i < QUEUE_CAPACITY_EVENTS + 10; i++)
		bus_emit(b.rig.seg, EVENT_DRAIN, "number %d", i);
	CU_ASSERT_EQUAL(ops_server_events_lag(&b.server), QUEUE_CAPACITY_EVENTS + 10);
	CU_ASSERT(hears(&b, fd, "{\"lost\":10}\n"));
	CU_ASSERT(hears(&b, fd, "\"text\":\"number 10\""));
	CU_ASSERT(hears(&b, fd, "\"text\":\"number 11\""));
	CU_ASSERT_EQUAL(tally_get(&b.rig.seg->tally[TALLY_SLOT_CONTROL], TALLY_BUS_LAGGED), 10);
	close(fd);
	end(&b);
}

static void idle_client_is_cut(void)
{
	begin(&b);
	int silent = dial(&b), dribbling = dial(&b), following = dial(&b);
	say(silent, "{\"cmd\":\"lcores\"}\n");
	CU_ASSERT(hears(&b, silent, "\"ok\":true"));
	say(dribbling, "{\"cmd\":");
	say(following, "{\"cmd\":\"events\",\"args\":{\"follow\":true}}\n");
	CU_ASSERT(hears(&b, following, "\"ok\":true"));
	uint64_t newest_ns = 0;
	for (int i = 0; i < LIMIT_OPS_CLIENTS; i++)
		newest_ns = b.server.clients[i].since_ns > newest_ns ? b.server.clients[i].since_ns
								     : newest_ns;
	uint64_t oldest_ns = b.server.clients[0].since_ns;
	ops_server_tick(&b.server, oldest_ns + LIMIT_OPS_IDLE_MS * NS_PER_MS - 1);
	CU_ASSERT_EQUAL(b.server.clients[0].state, OPS_CLIENT_READING);
	ops_server_tick(&b.server, newest_ns + LIMIT_OPS_IDLE_MS * NS_PER_MS);
	CU_ASSERT_STRING_EQUAL(hear(&b, silent), "");
	CU_ASSERT_STRING_EQUAL(hear(&b, dribbling), "");
	/* Who follows waits rightly. */
	bus_emit(b.rig.seg, EVENT_DRAIN, "later");
	CU_ASSERT(hears(&b, following, "later"));
	close(silent);
	close(dribbling);
	close(following);
	end(&b);
}

/* --- capture */

static void begin_with_port(struct bench *bench)
{
	begin(bench);
	struct conf *conf = &bench->running.conf;
	conf->net_backend = CONF_BACKEND_DPDK;
	conf->dpdk_ports.count = 2;
	strcpy(conf->dpdk_ports.items[0], "net_ring0");
	strcpy(conf->dpdk_ports.items[1], "net_tap0,iface=x");
	rig_start_dataplane(&bench->rig);
}

/* An lcore of the data plane that saw one packet. */
static void see_packet(struct bench *bench, struct capture_tap *tap, unsigned port)
{
	static const uint8_t frame[60] = {1, 2, 3};
	bool is_full;
	tap->capture = &bench->rig.data->capture;
	capture_tap_look(tap, clock_now_ns());
	if (!tap->is_on)
		return;
	struct capture_record *r = capture_tap_begin(
		tap, port, CAPTURE_IN, (struct span){frame, sizeof(frame)}, &is_full);
	if (r == NULL)
		return;
	r->time_ns = clock_wall_ns();
	r->len = r->kept = sizeof(frame);
	memcpy(r->data, frame, sizeof(frame));
	capture_tap_end(tap);
}

/* The bytes of the next chunk in b.text; returns how many. */
static size_t hear_chunk(struct bench *bench, int fd)
{
	unsigned len = 0;
	CU_ASSERT_EQUAL_FATAL(sscanf(hear(bench, fd), "{\"bytes\":%u}", &len), 1);
	CU_ASSERT_FATAL(len > 0 && len < TEXT);
	for (size_t got = 0; got < len;) {
		CU_ASSERT_FATAL(turn_until_readable(bench, fd));
		ssize_t n = recv(fd, bench->text + got, len - got, 0);
		CU_ASSERT_FATAL(n > 0);
		got += (size_t)n;
	}
	return len;
}

static void capture_streams_a_file(void) /* */
{
	struct capture_tap tap = {.lcore = 1};
	char text[LIMIT_EVENT_TEXT_BYTES];
	begin_with_port(&b);
	int fd = dial(&b);
	say(fd, "{\"cmd\":\"capture\",\"args\":{\"port\":\"net_tap0\",\"packets\":2}}\n");
	CU_ASSERT(hears(&b, fd, "\"ports\":[\"net_tap0,iface=x\"]"));
	/* Section and interface come at once; then packets as there are some, of this port only. */
	size_t head = hear_chunk(&b, fd);
	CU_ASSERT_EQUAL(memcmp(b.text, "\x0a\x0d\x0d\x0a", 4), 0);
	CU_ASSERT(memmem(b.text, head, "net_tap0,iface=x", 16) != NULL);
	see_packet(&b, &tap, 0);
	see_packet(&b, &tap, 1);
	CU_ASSERT_EQUAL(hear_chunk(&b, fd), 60 + PCAPNG_PACKET_EXTRA);
	CU_ASSERT_PTR_NOT_NULL(strstr(ask(&b, "{\"cmd\":\"capture\"}\n"), "\"error\":\"busy\""));
	see_packet(&b, &tap, 1);
	see_packet(&b, &tap, 1);
	CU_ASSERT(hear_chunk(&b, fd) > 60 + PCAPNG_PACKET_EXTRA);
	CU_ASSERT(hears(&b, fd,
		"{\"done\":{\"packets\":2,\"bytes\":120,\"dropped\":0,\"ended_by\":\"packets\"}}"));
	/* The lcores are off, and the client may ask for something else. */
	capture_tap_look(&tap, clock_now_ns());
	CU_ASSERT_FALSE(tap.is_on);
	say(fd, "{\"cmd\":\"lcores\"}\n");
	CU_ASSERT(hears(&b, fd, "\"ok\":true"));
	CU_ASSERT_EQUAL(rig_count_events(&b.rig, EVENT_AUDIT, text), 2);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "capture"));
	close(fd);
	end(&b);
}

static void capture_ends_with_its_client(void)
{
	struct capture_tap tap = {.lcore = 0};
	begin_with_port(&b);
	int fd = dial(&b);
	say(fd, "{\"cmd\":\"capture\"}\n");
	CU_ASSERT(hears(&b, fd, "\"ok\":true"));
	see_packet(&b, &tap, 0);
	CU_ASSERT_TRUE(tap.is_on);
	close(fd);
	/* Whatever the server does next, it notices first. */
	for (int i = 0; i < 1000 && b.rig.data->capture.running != 0; i++)
		loop_turn(&b.loop);
	see_packet(&b, &tap, 0);
	CU_ASSERT_FALSE(tap.is_on);
	end(&b);
}

static void capture_is_refused(void)
{
	begin(&b);
	CU_ASSERT_PTR_NOT_NULL(strstr(ask(&b, "{\"cmd\":\"capture\"}\n"), "\"error\":\"no_port\""));
	end(&b);
	begin_with_port(&b);
	CU_ASSERT_PTR_NOT_NULL(
		strstr(ask(&b, "{\"cmd\":\"capture\",\"args\":{\"port\":\"2\"}}\n"), "no port"));
	CU_ASSERT_PTR_NOT_NULL(
		strstr(ask(&b, "{\"cmd\":\"capture\",\"args\":{\"filter\":\"tpc\"}}\n"), "tpc"));
	rig_stop_dataplane(&b.rig);
	CU_ASSERT_PTR_NOT_NULL(strstr(ask(&b, "{\"cmd\":\"capture\"}\n"), "dataplane_down"));
	CU_ASSERT_EQUAL(rig_count_events(&b.rig, EVENT_AUDIT, NULL), 3);
	end(&b);
}

static const struct unit_case cases[] = {
	{"capture_streams_a_file", capture_streams_a_file},
	{"capture_ends_with_its_client", capture_ends_with_its_client},
	{"capture_is_refused", capture_is_refused},
	{"answers", answers},
	{"requests_in_a_row", requests_in_a_row},
	{"overlong_line_is_cut", overlong_line_is_cut},
	{"one_client_too_many", one_client_too_many},
	{"mutations_are_audited_once", mutations_are_audited_once},
	{"drain_names_the_generation", drain_names_the_generation},
	{"conns", conns},
	{"stalled_lcore_is_given_up", stalled_lcore_is_given_up},
	{"follower_sees_what_happens", follower_sees_what_happens},
	{"slow_follower_is_told_what_it_lost", slow_follower_is_told_what_it_lost},
	{"idle_client_is_cut", idle_client_is_cut},
};
UNIT_MAIN("controlplane/ops/ops_server", cases)
