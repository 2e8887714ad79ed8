#include "tools/millload/udp_load.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/registry.h"
#include "lib/clock/clock.h"
#include "tools/millload/udp_window.h"

enum { UDP_LOAD_BURST = 64, NUMBER_AT = 8 };

struct udp_load {
	struct load pub;
	struct udp_window window;
	struct net_udp *sockets[LIMIT_LISTENERS];
	unsigned socket_count;
	unsigned next_socket;
	unsigned next_target;
	uint64_t token; /* big-endian */
	uint8_t datagram[OPTIONS_PAYLOAD_MAX];
};

static void on_datagram(
	void *user, struct net_udp *udp, const struct addr *from, struct span lend_data)
{
	(void)udp;
	(void)from;
	struct udp_load *l = user;
	struct load_env *env = l->pub.env;
	uint64_t number, from_ns;
	if (lend_data.len != env->options->payload ||
		memcmp(lend_data.data, &l->token, sizeof(l->token)) != 0) {
		env->account.stray++;
		return;
	}
	memcpy(&number, lend_data.data + NUMBER_AT, sizeof(number));
	if (!udp_window_answered(&l->window, be64toh(number), &from_ns)) {
		env->account.stray++;
		return;
	}
	env->account.body_bytes += lend_data.len;
	load_answered(env, from_ns);
}

static bool send_one(struct udp_load *l)
{
	struct load_env *env = l->pub.env;
	const struct options *o = env->options;
	uint64_t number = htobe64(o->is_one_way ? env->pace.begun : l->window.next);
	memcpy(l->datagram + NUMBER_AT, &number, sizeof(number));
	struct net_udp *socket = l->sockets[l->next_socket];
	const struct addr *to = &o->targets[l->next_target].at;
	if (!net_udp_send(env->net, socket, to, (struct span){l->datagram, o->payload}))
		return false;
	l->next_socket = l->next_socket + 1 == l->socket_count ? 0 : l->next_socket + 1;
	l->next_target = l->next_target + 1 == o->target_count ? 0 : l->next_target + 1;
	return true;
}

static bool has_room(const struct udp_load *l)
{
	const struct options *o = l->pub.env->options;
	if (o->is_one_way)
		return true;
	if (o->rate == 0 && l->window.waiting >= o->connections)
		return false;
	return udp_window_has_room(&l->window);
}

/* What cannot be sent now has not begun: it goes out later, and its wait counts. */
static void turn(struct load *load)
{
	struct udp_load *l = (struct udp_load *)load;
	struct load_env *env = load->env;
	uint64_t now_ns = *env->now_ns;
	uint64_t timeout_ns = env->options->timeout_ms * NS_PER_MS;
	if (now_ns > timeout_ns)
		account_fail(&env->account, FAILURE_TIMEOUT,
			udp_window_expire(&l->window, now_ns - timeout_ns));
	for (unsigned i = 0; i < UDP_LOAD_BURST && pace_may_begin(&env->pace) && has_room(l); i++) {
		if (!send_one(l))
			return;
		uint64_t from_ns = pace_begin(&env->pace, now_ns);
		env->account.sent++;
		if (env->options->is_one_way)
			env->account.one_way++;
		else
			udp_window_sent(&l->window, from_ns, now_ns);
	}
}

static uint64_t count_open(const struct load *load)
{
	return ((const struct udp_load *)load)->socket_count;
}

static uint64_t count_in_flight(const struct load *load)
{
	return ((const struct udp_load *)load)->window.waiting;
}

static void close_load(struct load *load)
{
	free(load);
}

static const struct load_ops ops = {
	.turn = turn,
	.open = count_open,
	.in_flight = count_in_flight,
	.close = close_load,
};

/* One for each source address, or one for any. */
static int open_sockets(struct udp_load *l, char *why, size_t why_size)
{
	struct load_env *env = l->pub.env;
	struct sources *s = &env->options->sources;
	struct addr any = {0};
	if (addr_is_v4(&env->options->targets[0].at))
		memset(any.ip + 10, 0xff, 2);
	unsigned wanted = s->count == 0 ? 1 : s->count;
	if (wanted > LIMIT_LISTENERS)
		wanted = LIMIT_LISTENERS;
	for (; l->socket_count < wanted; l->socket_count++) {
		const struct addr *local = s->count == 0 ? &any : sources_next(s);
		l->sockets[l->socket_count] = net_udp_open(env->net, local, on_datagram, l);
		if (l->sockets[l->socket_count] != NULL)
			continue;
		char text[ADDR_TEXT];
		addr_print_ip(local, text);
		snprintf(why, why_size, "no UDP socket with the address %s", text);
		return -EADDRNOTAVAIL;
	}
	return 0;
}

int udp_load_open(struct load **out, struct load_env *env, char *why, size_t why_size)
{
	snprintf(why, why_size, "no memory for the load");
	struct udp_load *l = calloc(1, sizeof(*l));
	if (l == NULL)
		return -ENOMEM;
	l->pub = (struct load){.ops = &ops, .env = env};
	udp_window_init(&l->window);
	for (unsigned i = 0; i < sizeof(l->datagram); i++)
		l->datagram[i] = (uint8_t)i;
	/* Two runs are told apart by when they began. */
	l->token = htobe64(clock_wall_ns());
	memcpy(l->datagram, &l->token, sizeof(l->token));
	int rc = open_sockets(l, why, why_size);
	if (rc != 0) {
		free(l);
		return rc;
	}
	*out = &l->pub;
	return 0;
}
