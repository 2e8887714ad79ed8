/* tcp_sim: two engines and a bad link between them, all from one seed.
 *
 *   tcp_sim --seeds N [--from S]   runs N seeds, ends with `N passed, M failed, 0 skipped`
 *   tcp_sim --seed S               runs one and prints every segment and event
 *
 * Promise: every byte arrives once and in order, or the connection ends in a stated error; nothing leaks, no
 * connection is stuck, no timer is lost. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dataplane/net/dpdk/tcp_check.h"
#include "tests/sim/tcp_host.h"

enum { PORT = 80, TURNS_MAX = 3000000 };

struct sim {
	struct sim_rand rand;
	struct tcp_host client, server;
	struct addr client_addr, server_addr;
	uint64_t now_ns, end_ns;
	unsigned apps;
	unsigned loss; /* the larger of both directions, permille */
	bool is_clean; /* nothing in the plan may end a connection but its programs */
	uint64_t jump_at_ns, jump_ns;
	uint64_t mtu_at_ns;
	uint32_t mtu_then;
};

static uint64_t pick(struct sim *s, uint64_t low, uint64_t high)
{
	return sim_rand_range(&s->rand, low, high);
}

static bool chance(struct sim *s, unsigned permille)
{
	return sim_rand_chance(&s->rand, permille);
}

/* A link: from clean to terrible. */
static void plan_link(struct sim *s, struct sim_link *l, uint32_t mtu)
{
	static const unsigned losses[] = {0, 0, 1, 10, 50, 100, 200, 300};
	*l = (struct sim_link){.mtu = mtu};
	l->loss = losses[pick(s, 0, ARRAY_LEN(losses) - 1)];
	l->delay_ns = chance(s, 300) ? pick(s, 0, 200) * NS_PER_US : pick(s, 0, 120) * NS_PER_MS;
	l->jitter_ns = chance(s, 300) ? pick(s, 0, l->delay_ns) : 0;
	l->reorder = chance(s, 400) ? (unsigned)pick(s, 0, 200) : 0;
	l->dup = chance(s, 300) ? (unsigned)pick(s, 0, 100) : 0;
	l->corrupt = chance(s, 300) ? (unsigned)pick(s, 0, 100) : 0;
	if (chance(s, 500))
		l->byte_ns = pick(s, 1, 2000);
	if (chance(s, 300))
		l->queue_ns = pick(s, 1, 200) * NS_PER_MS;
	if (chance(s, 100)) {
		l->dead_from_ns = s->now_ns + pick(s, 0, 2000) * NS_PER_MS;
		l->dead_to_ns =
			l->dead_from_ns + pick(s, 0, chance(s, 200) ? 300000 : 20000) * NS_PER_MS;
	}
	if (l->loss > s->loss)
		s->loss = l->loss;
	unsigned damage = l->loss + l->corrupt;
	s->is_clean = s->is_clean && damage <= 50 && l->dead_to_ns == 0;
}

static void plan_engine(struct sim *s, struct tcp_conf *conf, uint16_t mtu)
{
	tcp_conf_default(conf, 32);
	conf->now_ns = s->now_ns;
	conf->mtu = mtu;
	conf->segs_max = 4096;
	conf->pkts_max = 8192;
	conf->bufs_max = 512;
	conf->blocks_max = 512;
	conf->rx_budget = 32 << 20;
	conf->cc = chance(s, 700) ? TCP_CC_CUBIC : TCP_CC_NEWRENO;
	conf->no_ts = chance(s, 150);
	conf->no_sack = chance(s, 200);
	conf->no_scale = chance(s, 150);
	conf->cookies_always = chance(s, 150);
	/* without it, the reader of a peer that gave up would wait for ever, as TCP allows */
	conf->keepalive_ms = (uint32_t)pick(s, 1000, 60000);
	/* tight memory: slower, never wrong */
	if (chance(s, 150)) {
		conf->segs_max = (uint32_t)pick(s, 2, 40);
		conf->rx_budget = pick(s, 8, 200) * 2304;
	}
	if (chance(s, 100)) {
		conf->bufs_max = (uint32_t)pick(s, 2, 10);
		conf->blocks_max = (uint32_t)pick(s, 2, 10);
		conf->pkts_max = (uint32_t)pick(s, 8, 100);
	}
}

static uint64_t plan_bytes(struct sim *s)
{
	switch (pick(s, 0, 5)) {
	case 0:
		return 0;
	case 1:
		return pick(s, 1, 100);
	case 2:
	case 3:
		return pick(s, 1, 20000);
	case 4:
		return pick(s, 1, 200000);
	default:
		return chance(s, 100) ? pick(s, 1, 3000000) : pick(s, 1, 50000);
	}
}

static void plan_reader(struct sim *s, struct tcp_app *app)
{
	if (!chance(s, 250))
		return;
	/* slow enough to close the window, fast enough to end */
	app->read_max = (uint32_t)pick(s, 1 + app->rx_total / 300, 1 + app->rx_total / 20);
	app->read_gap_ns = pick(s, 1, 80) * NS_PER_MS;
}

static void plan_pair(struct sim *s, unsigned i)
{
	struct tcp_app *a = &s->client.apps[i], *b = &s->server.apps[i];
	a->id = b->peer_id = 2 * i + 1;
	b->id = a->peer_id = 2 * i + 2;
	a->tx_total = b->rx_total = plan_bytes(s);
	b->tx_total = a->rx_total = plan_bytes(s);
	switch (pick(s, 0, 4)) {
	case 0:
	case 1:
		a->mode = b->mode = TCP_APP_SHUTDOWN;
		break;
	case 2:
		a->mode = TCP_APP_SHUTDOWN;
		b->mode = TCP_APP_ANSWER;
		break;
	case 3:
		a->mode = TCP_APP_SHUTDOWN;
		b->mode = TCP_APP_CLOSE;
		break;
	case 4:
		a->mode = chance(s, 500) ? TCP_APP_ABORT : TCP_APP_SHUTDOWN;
		b->mode = a->mode == TCP_APP_ABORT ? TCP_APP_SHUTDOWN : TCP_APP_ABORT;
		a->abort_at = b->abort_at = pick(s, 0, a->tx_total + b->tx_total);
		break;
	}
	plan_reader(s, a);
	plan_reader(s, b);
	a->copies = chance(s, 300);
	b->copies = chance(s, 300);
	a->host = &s->client;
	b->host = &s->server;
	a->is_planned = b->is_planned = true;
}

static struct addr address(struct sim *s, bool is_v6, uint8_t last)
{
	struct addr a = {.port = 0};
	(void)s;
	if (is_v6) {
		a.ip[0] = 0xfd;
	} else {
		a.ip[10] = a.ip[11] = 0xff;
		a.ip[12] = 10;
	}
	a.ip[15] = last;
	return a;
}

static void plan(struct sim *s, uint64_t seed, bool is_traced)
{
	static const uint16_t mtus[] = {576, 1280, 1500, 1500, 1500, 4000, 9000};
	memset(s, 0, sizeof(*s));
	s->rand.state = seed * 0x2545f4914f6cdd1dull + 1;
	s->is_clean = true;
	/* anywhere in the life of a 32-bit millisecond clock, its end included */
	s->now_ns = chance(s, 100) ? ((1ull << 32) - pick(s, 1, 3000)) * NS_PER_MS
				   : pick(s, 1, 1ull << 52);
	bool is_v6 = chance(s, 300);
	uint16_t mtu = mtus[pick(s, 0, ARRAY_LEN(mtus) - 1)];
	s->client_addr = address(s, is_v6, 1);
	s->server_addr = address(s, is_v6, 2);
	s->server_addr.port = PORT;
	struct tcp_host *hosts[] = {&s->client, &s->server};
	for (unsigned i = 0; i < 2; i++) {
		struct tcp_host *h = hosts[i];
		struct tcp_conf conf;
		plan_engine(s, &conf, mtu);
		h->name = i == 0 ? "C" : "S";
		h->rand = &s->rand;
		h->is_traced = is_traced;
		h->peer = hosts[1 - i];
		h->headers = is_v6 ? 40 : 20;
		h->tells_mtu = chance(s, 500);
		h->recut = chance(s, 300) ? (unsigned)pick(s, 1, 300) : 0;
		plan_link(s, &h->link, mtu);
		tcp_host_init(h, &conf);
	}
	s->apps = (unsigned)pick(s, 1, 4);
	for (unsigned i = 0; i < s->apps; i++)
		plan_pair(s, i);
	if (chance(s, 100)) {
		s->jump_at_ns = s->now_ns + pick(s, 0, 3000) * NS_PER_MS;
		s->jump_ns = pick(s, 1, 90000) * NS_PER_MS;
		s->is_clean = false;
	}
	if (chance(s, 200)) {
		s->mtu_at_ns = s->now_ns + pick(s, 0, 1000) * NS_PER_MS;
		s->mtu_then = is_v6 ? 1280 : (uint32_t)pick(s, 576, 1400);
	}
	/* a third lost each way, and no SACK: megabytes take hours */
	s->end_ns = s->now_ns + 48 * 3600 * NS_PER_S;
}

/* Both sides open at once, to each other. */
static void start_crossed(struct sim *s, unsigned i)
{
	struct addr c = s->client_addr, v = s->server_addr;
	c.port = (uint16_t)(5000 + i);
	v.port = (uint16_t)(6000 + i);
	struct tcp_app *a = &s->client.apps[i], *b = &s->server.apps[i];
	struct tcp_conn *ours = tcp_connect(&s->client.tcp, &c, &v, a);
	struct tcp_conn *theirs = tcp_connect(&s->server.tcp, &v, &c, b);
	MUST(ours != NULL && theirs != NULL);
	tcp_host_app_start(a, ours);
	tcp_host_app_start(b, theirs);
}

static void start(struct sim *s)
{
	MUST(tcp_listen(&s->server.tcp, &s->server_addr, LIMIT_TCP_BACKLOG, NULL) == 0);
	for (unsigned i = 0; i < s->apps; i++) {
		struct tcp_app *a = &s->client.apps[i];
		if (chance(s, 100)) {
			start_crossed(s, i);
			continue;
		}
		struct tcp_conn *c =
			tcp_connect(&s->client.tcp, &s->client_addr, &s->server_addr, a);
		MUST(c != NULL);
		a->port = s->server.apps[i].port = tcp_key(c)->local_port;
		tcp_host_app_start(a, c);
	}
}

static void events(struct sim *s)
{
	if (s->jump_ns != 0 && s->now_ns >= s->jump_at_ns) {
		s->now_ns += s->jump_ns;
		s->jump_ns = 0;
	}
	if (s->mtu_then != 0 && s->now_ns >= s->mtu_at_ns) {
		if (s->mtu_then < s->client.link.mtu) {
			s->client.link.mtu = s->mtu_then;
			s->server.link.mtu = s->mtu_then;
		}
		s->mtu_then = 0;
	}
}

static const char *host_leaks(const struct tcp_host *h)
{
	const struct tcp *t = &h->tcp;
	if (t->conns.in_use != 0 || t->flow.count != 0)
		return "a connection leaked";
	if (t->segs.in_use != 0 || t->pkts.in_use != 0 || t->bufs.in_use != 0 ||
		t->blocks.in_use != 0)
		return "memory leaked";
	if (t->rx_used != 0 || h->pkts_out != 0)
		return "a packet leaked";
	if (h->wheel.armed != 0)
		return "a timer leaked";
	if (h->admitted != 0)
		return "an admission leaked";
	for (unsigned i = 0; i < ARRAY_LEN(t->listeners); i++) {
		if (t->listeners[i].half_open != 0)
			return "the backlog leaked";
	}
	for (unsigned i = 0; i < TCP_HOST_APPS; i++) {
		if (h->apps[i].released != h->apps[i].referred)
			return "a reference was not released once";
	}
	return NULL;
}

/* Every byte, or a stated error. */
static const char *outcome(const struct sim *s, const struct tcp_app *a, const struct tcp_app *b)
{
	if (!a->is_closed)
		return "the client's program was never told the end";
	if (b->is_open && !b->is_closed)
		return "the server's program was never told the end";
	bool has_abort = a->mode == TCP_APP_ABORT || b->mode == TCP_APP_ABORT;
	bool is_good = a->end == TCP_END_CLOSED && b->is_open && b->end == TCP_END_CLOSED;
	if (is_good && (a->rx_done != a->rx_total || b->rx_done != b->rx_total) && !has_abort)
		return "closed well, but bytes are missing";
	if (!is_good && s->is_clean && !has_abort)
		return "a good link, but the connection failed";
	return NULL;
}

static const char *run(struct sim *s)
{
	for (unsigned turns = 0;; turns++) {
		events(s);
		tcp_host_turn(&s->client, s->now_ns);
		tcp_host_turn(&s->server, s->now_ns);
		if (s->client.wrong != NULL || s->server.wrong != NULL)
			return s->client.wrong != NULL ? s->client.wrong : s->server.wrong;
		uint64_t next = tcp_host_next_ns(&s->client);
		if (tcp_host_next_ns(&s->server) < next)
			next = tcp_host_next_ns(&s->server);
		if (next == UINT64_MAX)
			break;
		s->now_ns = next > s->now_ns ? next : s->now_ns + 1;
		if (s->now_ns > s->end_ns || turns > TURNS_MAX)
			return "stuck: it does not end";
	}
	if (!tcp_host_is_idle(&s->client) || !tcp_host_is_idle(&s->server))
		return "stuck: nothing is under way and no timer runs";
	for (unsigned i = 0; i < s->apps; i++) {
		const char *wrong = outcome(s, &s->client.apps[i], &s->server.apps[i]);
		if (wrong != NULL)
			return wrong;
	}
	const char *wrong = host_leaks(&s->client);
	return wrong != NULL ? wrong : host_leaks(&s->server);
}

static void print_counts(const struct tcp_host *h)
{
	static const char *const names[] = {
#define TCP_COUNT(id, name, meaning) name,
#include "config/tcp_count.def"
#undef TCP_COUNT
	};
	printf("%s:", h->name);
	for (unsigned i = 0; i < TCP_COUNT_COUNT; i++) {
		if (h->tcp.counts[i] != 0)
			printf(" %s %" PRIu64, names[i], h->tcp.counts[i]);
	}
	for (unsigned i = 0; i < REASON_COUNT; i++) {
		if (h->tcp.drops[i] != 0)
			printf(" drop %s %" PRIu64, reason_infos[i].label, h->tcp.drops[i]);
	}
	printf("\n");
}

/* True: the seed keeps the promise. */
static bool run_seed(struct sim *s, uint64_t seed, bool is_traced, uint64_t counts[TCP_COUNT_COUNT])
{
	plan(s, seed, is_traced);
	start(s);
	const char *wrong = run(s);
	if (wrong != NULL)
		printf("seed %" PRIu64 " FAILED after %.3f s: %s\n", seed,
			(double)(s->now_ns) / 1e9, wrong);
	if (is_traced) {
		print_counts(&s->client);
		print_counts(&s->server);
	}
	for (unsigned i = 0; i < TCP_COUNT_COUNT; i++)
		counts[i] += s->client.tcp.counts[i] + s->server.tcp.counts[i];
	tcp_host_fini(&s->client);
	tcp_host_fini(&s->server);
	return wrong == NULL;
}

int main(int argc, char **argv)
{
	uint64_t from = 1, count = 200;
	bool is_traced = false;
	for (int i = 1; i + 1 < argc; i += 2) {
		uint64_t value = strtoull(argv[i + 1], NULL, 10);
		if (strcmp(argv[i], "--seeds") == 0) {
			count = value;
		} else if (strcmp(argv[i], "--from") == 0) {
			from = value;
		} else if (strcmp(argv[i], "--seed") == 0) {
			from = value;
			count = 1;
			is_traced = true;
		}
	}
	struct sim *s = malloc(sizeof(*s));
	MUST(s != NULL);
	uint64_t counts[TCP_COUNT_COUNT] = {0};
	uint64_t failed = 0;
	for (uint64_t seed = from; seed < from + count; seed++)
		failed += !run_seed(s, seed, is_traced, counts);
	printf("retrans %" PRIu64 ", rtos %" PRIu64 ", recoveries %" PRIu64 ", probes %" PRIu64
	       ", dsacks %" PRIu64 ", cookies %" PRIu64 ", timeouts %" PRIu64 " of %" PRIu64
	       " connections\n",
		counts[TCP_COUNT_RETRANS], counts[TCP_COUNT_RTOS], counts[TCP_COUNT_RECOVERIES],
		counts[TCP_COUNT_LOSS_PROBES], counts[TCP_COUNT_DSACKS_IN],
		counts[TCP_COUNT_COOKIES_IN], counts[TCP_COUNT_TIMEOUTS],
		counts[TCP_COUNT_ESTABLISHED] / 2);
	printf("%" PRIu64 " passed, %" PRIu64 " failed, 0 skipped\n", count - failed, failed);
	free(s);
	return failed != 0;
}
