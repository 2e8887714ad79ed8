#include "tools/millload/idle.h"

#include "lib/clock/clock.h"

enum { IDLE_OPENING_MAX = 512, IDLE_PER_TURN = 64 };

static bool on_open(struct net_conn *conn)
{
	struct idle *i = ((struct idle_tag *)conn->user)->idle;
	i->opening--;
	i->moved_ns = *i->env->now_ns;
	i->env->account.idle_open++;
	conn->user = &i->tags[true];
	return true;
}

static void on_readable(struct net_conn *conn)
{
	/* Nothing was asked: it is the end, or an answer that says why. */
	for (struct span in; (in = net_peek(conn)).len != 0;)
		net_consume(conn, in.len);
	if (net_is_eof(conn))
		net_close(conn);
}

static void on_writable(struct net_conn *conn)
{
	(void)conn;
}

static void on_closed(struct net_conn *conn, enum net_end end)
{
	(void)end;
	const struct idle_tag *tag = conn->user;
	struct idle *i = tag->idle;
	if (tag->is_open) {
		i->env->account.idle_open--;
		i->env->account.idle_lost++;
		return;
	}
	i->opening--;
	i->moved_ns = *i->env->now_ns;
	i->env->account.idle_failed++;
}

static const struct net_events events = {
	.on_open = on_open,
	.on_readable = on_readable,
	.on_writable = on_writable,
	.on_closed = on_closed,
};

void idle_init(struct idle *i, struct load_env *env)
{
	*i = (struct idle){.env = env, .moved_ns = *env->now_ns};
	i->tags[false] = (struct idle_tag){.idle = i, .is_open = false};
	i->tags[true] = (struct idle_tag){.idle = i, .is_open = true};
}

void idle_turn(struct idle *i)
{
	struct options *o = i->env->options;
	for (unsigned n = 0; n < IDLE_PER_TURN && i->opening < IDLE_OPENING_MAX; n++) {
		if (i->tried == o->idle)
			return;
		const struct addr *to = &o->targets[i->next_target].at;
		if (net_connect(i->env->net, sources_next(&o->sources), to, &events,
			    &i->tags[false]) == NULL)
			return;
		i->next_target = i->next_target + 1 == o->target_count ? 0 : i->next_target + 1;
		i->tried++;
		i->opening++;
	}
}

bool idle_is_done(const struct idle *i)
{
	const struct options *o = i->env->options;
	if (i->tried == o->idle && i->opening == 0)
		return true;
	return *i->env->now_ns - i->moved_ns > o->timeout_ms * NS_PER_MS;
}
