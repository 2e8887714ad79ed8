#include "tests/sim/tcp_host.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dataplane/net/dpdk/tcp_check.h"
#include "dataplane/net/dpdk/tcp_wire.h"

enum { PKT_COST = 2304 };

static void fail(struct tcp_host *h, const char *what)
{
	if (h->wrong == NULL)
		h->wrong = what;
}

static void trace(struct tcp_host *h, const char *what, const struct tcp_app *app)
{
	if (h->is_traced)
		printf("%12.6f %s app %u %s tx %" PRIu64 "/%" PRIu64 " rx %" PRIu64 "/%" PRIu64
		       "\n",
			(double)h->now_ns / 1e9, h->name, app->id, what, app->tx_done,
			app->tx_total, app->rx_done, app->rx_total);
}

/* The byte of a stream at an offset: every stream and every place differ. */
static uint8_t stream_byte(uint32_t id, uint64_t at)
{
	uint64_t x = (at + 1) * 0x9e3779b97f4a7c15ull + id * 0xd1342543de82ef95ull;
	return (uint8_t)(x >> 56 ^ x >> 31);
}

static void trace_segment(struct tcp_host *h, const struct tcp_seg *seg, enum sim_fate fate)
{
	static const char *const fates[] = {"", " LOST", " TOO BIG", " QUEUE FULL"};
	if (!h->is_traced)
		return;
	printf("%12.6f %s %u>%u %s%s%s%s seq %u ack %u wnd %u len %u%s", (double)h->now_ns / 1e9,
		h->name, seg->key->local_port, seg->key->remote_port,
		seg->flags & TCP_SYN ? "S" : "", seg->flags & TCP_FIN ? "F" : "",
		seg->flags & TCP_RST ? "R" : "", seg->flags & TCP_ACK ? "A" : "", seg->seq,
		seg->ack, seg->wnd, seg->len, fates[fate]);
	struct tcp_opt opt;
	if (tcp_opt_parse(&opt, (struct span){seg->opts, seg->opts_len})) {
		for (unsigned i = 0; i < opt.sack_count; i++)
			printf(" [%u,%u)", opt.sack[i].start, opt.sack[i].end);
	}
	printf("\n");
}

static void on_emit(void *ctx, const struct tcp_seg *lend_seg)
{
	struct tcp_host *h = ctx;
	uint8_t bytes[SIM_LINK_PACKET];
	size_t len = tcp_wire_build(lend_seg, bytes, sizeof(bytes));
	if (len == 0) {
		fail(h, "a segment is longer than any packet");
		return;
	}
	enum sim_fate fate = sim_link_send(&h->link, h->rand, h->now_ns, lend_seg->key->local_ip,
		lend_seg->key->remote_ip, bytes, (uint32_t)len, h->headers);
	trace_segment(h, lend_seg, fate);
	if (fate == SIM_TOO_BIG && h->tells_mtu)
		tcp_path_mtu(&h->tcp, lend_seg->key, lend_seg->seq, (uint16_t)h->link.mtu);
}

static void on_pkt_release(void *ctx, void *take_pkt)
{
	struct tcp_host *h = ctx;
	h->pkts_out--;
	free(take_pkt);
}

static struct tcp_app *app_of(struct tcp_host *h, const struct tcp_key *key)
{
	for (unsigned i = 0; i < TCP_HOST_APPS; i++) {
		struct tcp_app *app = &h->apps[i];
		if (app->is_planned && !app->is_open && !app->is_closed &&
			app->port == key->remote_port)
			return app;
	}
	return NULL;
}

/* References come back in the order they were given. What came back belongs to its owner again, who writes over it: a
 * segment that still reads it would be wrong at the other end. */
static void on_released(void *ctx)
{
	struct tcp_app *app = ctx;
	uint32_t len = app->ref_len[app->released++ % TCP_APP_REFS];
	memset(app->memory + app->released_bytes, 0xee, len);
	app->released_bytes += len;
}

/* One piece of the stream. False: no room now. */
static bool send_piece(struct tcp_app *app)
{
	uint64_t left = app->tx_total - app->tx_done;
	uint64_t most = app->copies ? 1800 : 40000;
	uint32_t len = (uint32_t)sim_rand_range(app->host->rand, 1, left < most ? left : most);
	const uint8_t *from = app->memory + app->tx_done;
	bool is_sent = app->copies ? tcp_send_copy(app->conn, from, len)
				   : tcp_send_ref(app->conn, from, len, on_released, app);
	if (!is_sent)
		return false;
	app->tx_done += len;
	if (!app->copies)
		app->ref_len[app->referred++ % TCP_APP_REFS] = len;
	return true;
}

static bool may_send(const struct tcp_app *app)
{
	switch (app->mode) {
	case TCP_APP_SHUTDOWN:
	case TCP_APP_ABORT:
		return true;
	case TCP_APP_ANSWER:
		return app->saw_eof;
	case TCP_APP_CLOSE:
		return app->rx_done == app->rx_total;
	}
	return true;
}

/* Sends, and ends when everything is said. */
static void app_work(struct tcp_app *app)
{
	if (!app->is_open || app->is_closed || app->is_ended)
		return;
	if (app->mode == TCP_APP_ABORT && app->tx_done + app->rx_done >= app->abort_at) {
		trace(app->host, "abort", app);
		app->is_ended = true;
		tcp_abort(app->conn);
		return;
	}
	if (!may_send(app))
		return;
	while (app->tx_done < app->tx_total) {
		if (!send_piece(app))
			return;
	}
	app->is_ended = true;
	trace(app->host, "ends its side", app);
	if (app->mode == TCP_APP_CLOSE)
		tcp_close(app->conn);
	else
		tcp_shutdown(app->conn);
}

static void verify(struct tcp_app *app, struct span piece)
{
	if (app->rx_done + piece.len > app->rx_total) {
		fail(app->host, "more bytes than were sent");
		return;
	}
	for (size_t i = 0; i < piece.len; i++) {
		if (piece.data[i] != stream_byte(app->peer_id, app->rx_done + i)) {
			fail(app->host, "a byte is wrong, missing or twice");
			return;
		}
	}
}

static void app_read(struct tcp_app *app)
{
	uint64_t left = app->read_max != 0 ? app->read_max : UINT64_MAX;
	while (left != 0 && tcp_unread(app->conn) != 0) {
		struct span piece;
		if (tcp_peek(app->conn, &piece, 1) != 1 || piece.len == 0) {
			fail(app->host, "unread bytes cannot be seen");
			return;
		}
		if (piece.len > left)
			piece.len = left;
		verify(app, piece);
		app->rx_done += piece.len;
		left -= piece.len;
		tcp_consume(app->conn, piece.len);
	}
	if (tcp_is_eof(app->conn) && !app->saw_eof) {
		app->saw_eof = true;
		trace(app->host, "sees the end", app);
		if (app->rx_done != app->rx_total && app->mode != TCP_APP_ABORT)
			fail(app->host, "the stream ended early");
	}
	app->read_ns = tcp_unread(app->conn) != 0 ? app->host->now_ns + app->read_gap_ns : 0;
}

static void on_readable(void *ctx, struct tcp_conn *c)
{
	struct tcp_app *app = tcp_user(c);
	(void)ctx;
	if (app->read_ns == 0)
		app_read(app);
	app_work(app);
}

static void on_writable(void *ctx, struct tcp_conn *c)
{
	(void)ctx;
	app_work(tcp_user(c));
}

static bool on_open(void *ctx, struct tcp_conn *c)
{
	struct tcp_host *h = ctx;
	struct tcp_app *app = tcp_user(c);
	if (app == NULL)
		app = app_of(h, tcp_key(c));
	if (app == NULL)
		return false;
	tcp_host_app_start(app, c);
	app->is_open = true;
	trace(h, "open", app);
	app_work(app);
	return true;
}

static void on_closed(void *ctx, struct tcp_conn *c, enum tcp_end end)
{
	struct tcp_app *app = tcp_user(c);
	(void)ctx;
	if (app->is_closed)
		fail(app->host, "on_closed came twice");
	app->is_closed = true;
	app->end = end;
	app->read_ns = 0;
	app->conn = NULL;
	trace(app->host, "closed", app);
	if (end == TCP_END_CLOSED && app->tx_done != app->tx_total)
		fail(app->host, "closed before all was sent");
}

static bool on_admit(void *ctx, const uint8_t ip[16])
{
	struct tcp_host *h = ctx;
	(void)ip;
	h->admitted++;
	return true;
}

static void on_retire(void *ctx, const uint8_t ip[16])
{
	struct tcp_host *h = ctx;
	(void)ip;
	if (h->admitted-- == 0)
		fail(h, "retired more than admitted");
}

static const struct tcp_ops ops = {
	.emit = on_emit,
	.pkt_release = on_pkt_release,
	.on_open = on_open,
	.on_readable = on_readable,
	.on_writable = on_writable,
	.on_closed = on_closed,
	.admit = on_admit,
	.retire = on_retire,
};

void tcp_host_init(struct tcp_host *h, const struct tcp_conf *conf)
{
	struct tcp_conf own = *conf;
	own.ops = &ops;
	own.ctx = h;
	own.wheel = &h->wheel;
	h->now_ns = own.now_ns;
	for (unsigned i = 0; i < sizeof(own.secret); i++)
		own.secret[i] = (uint8_t)sim_rand_next(h->rand);
	wheel_init(&h->wheel, own.now_ns);
	MUST(tcp_init(&h->tcp, &own) == 0);
}

void tcp_host_fini(struct tcp_host *h)
{
	tcp_fini(&h->tcp);
	sim_link_fini(&h->link);
	for (unsigned i = 0; i < TCP_HOST_APPS; i++)
		free(h->apps[i].memory);
}

void tcp_host_app_start(struct tcp_app *app, struct tcp_conn *c)
{
	app->conn = c;
	tcp_set_user(c, app);
	if (app->memory != NULL)
		return;
	app->memory = malloc(app->tx_total + 1);
	MUST(app->memory != NULL);
	for (uint64_t i = 0; i < app->tx_total; i++)
		app->memory[i] = stream_byte(app->id, i);
}

/* What a box on the way may do to a segment: two of it, cut anywhere, that overlap; in either order. */
static void feed_recut(struct tcp_host *h, const struct tcp_in *in)
{
	uint32_t first = (uint32_t)sim_rand_range(h->rand, 1, in->len);
	uint32_t from = (uint32_t)sim_rand_range(h->rand, 0, first);
	const struct sim_packet *p = in->pkt;
	struct sim_packet *copy = malloc(sizeof(*p) + p->len);
	MUST(copy != NULL);
	memcpy(copy, p, sizeof(*p) + p->len);
	struct tcp_in head = *in, tail = *in;
	head.len = first;
	if (first != in->len)
		head.flags &= (uint8_t)~TCP_FIN;
	tail.pkt = copy;
	tail.data = copy->bytes + (in->data - p->bytes) + from;
	tail.seq += from;
	tail.len -= from;
	h->pkts_out++;
	bool is_swapped = sim_rand_chance(h->rand, 500);
	tcp_input(&h->tcp, is_swapped ? &tail : &head);
	tcp_input(&h->tcp, is_swapped ? &head : &tail);
}

static void receive(struct tcp_host *h)
{
	struct sim_packet *p;
	while ((p = sim_link_receive(&h->peer->link, h->now_ns)) != NULL) {
		struct tcp_in in;
		int reason =
			tcp_wire_parse(&in, p->from, p->to, (struct span){p->bytes, p->len}, false);
		if (reason != 0) {
			free(p);
			continue;
		}
		in.pkt = p;
		in.pkt_cost = PKT_COST;
		h->pkts_out++;
		if (in.len > 1 && sim_rand_chance(h->rand, h->recut))
			feed_recut(h, &in);
		else
			tcp_input(&h->tcp, &in);
	}
}

void tcp_host_turn(struct tcp_host *h, uint64_t now_ns)
{
	h->now_ns = now_ns;
	tcp_begin(&h->tcp, now_ns);
	receive(h);
	wheel_advance(&h->wheel, now_ns);
	for (unsigned i = 0; i < TCP_HOST_APPS; i++) {
		struct tcp_app *app = &h->apps[i];
		if (app->read_ns != 0 && app->read_ns <= now_ns && app->conn != NULL) {
			app_read(app);
			app_work(app);
		}
	}
	tcp_run(&h->tcp);
	/* all of it at every eighth turn: it walks every list */
	if (sim_rand_chance(h->rand, 125)) {
		const char *wrong = tcp_check_engine(&h->tcp);
		if (wrong != NULL)
			fail(h, wrong);
	}
}

uint64_t tcp_host_next_ns(const struct tcp_host *h)
{
	uint64_t next = wheel_next_ns(&h->wheel);
	uint64_t packet = sim_link_next_ns(&h->peer->link);
	if (packet < next)
		next = packet;
	for (unsigned i = 0; i < TCP_HOST_APPS; i++) {
		if (h->apps[i].read_ns != 0 && h->apps[i].read_ns < next)
			next = h->apps[i].read_ns;
	}
	return next;
}

bool tcp_host_is_idle(const struct tcp_host *h)
{
	for (unsigned i = 0; i < TCP_HOST_APPS; i++) {
		if (h->apps[i].is_open && !h->apps[i].is_closed)
			return false;
	}
	return h->tcp.conns.in_use == 0;
}
