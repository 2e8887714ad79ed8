#include "dataplane/net/dpdk/tcp_timer.h"

#include "dataplane/net/dpdk/tcp_loss.h"
#include "dataplane/net/dpdk/tcp_open.h"
#include "dataplane/net/dpdk/tcp_out.h"
#include "dataplane/net/dpdk/tcp_rto.h"
#include "dataplane/net/dpdk/tcp_tx.h"

enum { ROOM_MS = 5 };

static void fire(struct wheel_timer *timer, uint64_t now_ns);

void tcp_timer_init(struct tcp_conn *c)
{
	c->timer = (struct wheel_timer){.fire = fire};
	for (unsigned i = 0; i < TCP_TIMER_COUNT; i++)
		c->due_ns[i] = 0;
}

void tcp_timer_set(struct tcp_conn *c, enum tcp_timer_id id, uint64_t due_ns)
{
	c->due_ns[id] = due_ns;
	if (!wheel_is_armed(&c->timer) || due_ns <= (c->timer.due_tick - 1) * NS_PER_MS)
		wheel_arm(c->tcp->conf.wheel, &c->timer, due_ns);
}

void tcp_timer_stop_all(struct tcp_conn *c)
{
	for (unsigned i = 0; i < TCP_TIMER_COUNT; i++)
		c->due_ns[i] = 0;
	wheel_disarm(c->tcp->conf.wheel, &c->timer);
}

void tcp_timer_keepalive(struct tcp_conn *c)
{
	uint64_t ms = c->tcp->conf.keepalive_ms;
	if (ms != 0)
		tcp_timer_set(c, TCP_TIMER_LIFE, c->tcp->now_ns + ms * NS_PER_MS);
}

/* The peer says nothing to what we send: for how long now? */
static bool is_given_up(struct tcp_conn *c)
{
	uint32_t now_ms = tcp_now_ms(c->tcp);
	if (c->stall_ms == 0) {
		c->stall_ms = now_ms != 0 ? now_ms : 1;
		return false;
	}
	return now_ms - c->stall_ms >= LIMIT_TCP_GIVE_UP_MS;
}

static void give_up(struct tcp_conn *c)
{
	c->tcp->counts[TCP_COUNT_TIMEOUTS]++;
	/* it may be only the way back that is broken */
	tcp_out_reset(c);
	tcp_conn_end(c, TCP_END_TIMEOUT);
}

/* A closed window: look again, less and less often. Or no memory for a segment, which is not the peer's fault. */
static void on_persist(struct tcp_conn *c)
{
	if (tcp_out_force(c))
		return;
	if (c->snd_wnd != 0) {
		tcp_timer_set(c, TCP_TIMER_RTO, c->tcp->now_ns + ROOM_MS * NS_PER_MS);
		return;
	}
	if (is_given_up(c)) {
		give_up(c);
		return;
	}
	c->tcp->counts[TCP_COUNT_ZERO_PROBES]++;
	tcp_out_poke(c);
	tcp_rto_back_off(c);
	tcp_timer_set(c, TCP_TIMER_RTO, c->tcp->now_ns + tcp_rto_ns(c));
}

static void on_rto(struct tcp_conn *c)
{
	if (c->state == TCP_SYN_SENT || c->state == TCP_SYN_RCVD) {
		tcp_open_again(c);
	} else if (c->flags & TCP_F_PERSIST) {
		on_persist(c);
	} else if (c->snd_una != c->snd_nxt) {
		if (is_given_up(c))
			give_up(c);
		else
			tcp_loss_on_rto(c);
	}
}

static void on_keepalive(struct tcp_conn *c)
{
	struct tcp *t = c->tcp;
	uint32_t quiet_ms = tcp_now_ms(t) - c->last_rx_ms;
	if (t->conf.keepalive_ms == 0)
		return;
	if (quiet_ms < t->conf.keepalive_ms || c->snd_una != c->snd_nxt) {
		uint32_t left_ms = quiet_ms < t->conf.keepalive_ms ? t->conf.keepalive_ms - quiet_ms
								   : t->conf.keepalive_ms;
		tcp_timer_set(c, TCP_TIMER_LIFE, t->now_ns + left_ms * NS_PER_MS);
		return;
	}
	if (c->probes >= LIMIT_TCP_KEEPALIVE_PROBES) {
		give_up(c);
		return;
	}
	c->probes++;
	t->counts[TCP_COUNT_KEEPALIVES]++;
	tcp_out_poke(c);
	tcp_timer_set(c, TCP_TIMER_LIFE, t->now_ns + LIMIT_TCP_KEEPALIVE_GAP_MS * NS_PER_MS);
}

static void on_life(struct tcp_conn *c)
{
	struct tcp *t = c->tcp;
	if (c->state == TCP_TIME_WAIT) {
		tcp_conn_forget(c);
		return;
	}
	if (c->flags & TCP_F_DISCARD) {
		/* our close is complete, the peer's never came */
		tcp_out_reset(c);
		tcp_conn_end(c, TCP_END_CLOSED);
		return;
	}
	if (c->flags & TCP_F_WANT_ROOM) {
		if (tcp_tx_has_room(c))
			tcp_conn_wake(c, TCP_EV_WRITABLE);
		else
			tcp_timer_set(c, TCP_TIMER_LIFE, t->now_ns + ROOM_MS * NS_PER_MS);
		if (c->due_ns[TCP_TIMER_LIFE] != 0)
			return;
	}
	on_keepalive(c);
}

static void on_timer(struct tcp_conn *c, enum tcp_timer_id id)
{
	switch (id) {
	case TCP_TIMER_RTO:
		on_rto(c);
		break;
	case TCP_TIMER_EARLY:
		tcp_loss_on_early(c);
		break;
	case TCP_TIMER_ACK:
		tcp_out_ack(c);
		break;
	case TCP_TIMER_LIFE:
		on_life(c);
		break;
	case TCP_TIMER_COUNT:
		break;
	}
}

static void fire(struct wheel_timer *timer, uint64_t now_ns)
{
	struct tcp_conn *c = CONTAINER_OF(timer, struct tcp_conn, timer);
	struct tcp *t = c->tcp;
	tcp_begin(t, now_ns);
	for (unsigned i = 0; i < TCP_TIMER_COUNT; i++) {
		if (c->due_ns[i] == 0 || c->due_ns[i] > t->now_ns)
			continue;
		c->due_ns[i] = 0;
		on_timer(c, (enum tcp_timer_id)i);
		if (c->state == TCP_CLOSED)
			return;
	}
	uint64_t nearest = UINT64_MAX;
	for (unsigned i = 0; i < TCP_TIMER_COUNT; i++) {
		if (c->due_ns[i] != 0 && c->due_ns[i] < nearest)
			nearest = c->due_ns[i];
	}
	if (nearest != UINT64_MAX)
		wheel_arm(t->conf.wheel, &c->timer, nearest);
}
