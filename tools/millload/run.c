#include "tools/millload/run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/clock/clock.h"
#include "tools/millload/http_load.h"
#include "tools/millload/report.h"
#include "tools/millload/udp_load.h"

#define RUN_LINK_NS (10 * NS_PER_S)
/* Longer than --timeout, so that what is not answered is told as a timeout. */
#define RUN_DRAIN_MORE_NS NS_PER_S

static struct run_mark mark(const struct run *r)
{
	const struct account *a = &r->env.account;
	return (struct run_mark){
		.at_ns = r->backend.now_ns,
		.sent = a->sent,
		.answered = a->answered,
		.failed = account_failed(a),
		.body_bytes = a->body_bytes,
	};
}

int run_open(struct run *r, struct options *o, char *why, size_t why_size)
{
	r->phase = RUN_LINK;
	int rc = backend_open(&r->backend, o, why, why_size);
	if (rc != 0)
		return rc;
	r->env.net = r->backend.net;
	r->env.wheel = &r->backend.wheel;
	r->env.now_ns = &r->backend.now_ns;
	r->env.options = o;
	pace_init(&r->env.pace, o->rate);
	histogram_reset(&r->env.latency);
	histogram_reset(&r->env.interval);
	idle_init(&r->idle, &r->env);
	rc = o->targets[0].is_udp ? udp_load_open(&r->load, &r->env, why, why_size)
				  : http_load_open(&r->load, &r->env, why, why_size);
	if (rc != 0)
		backend_close(&r->backend);
	return rc;
}

static void enter(struct run *r, enum run_phase phase)
{
	r->phase = phase;
	r->phase_ns = r->backend.now_ns;
}

static uint64_t spent_ns(const struct run *r)
{
	return r->backend.now_ns - r->phase_ns;
}

static void start_measuring(struct run *r)
{
	const struct options *o = r->env.options;
	histogram_reset(&r->env.latency);
	pace_limit(&r->env.pace, o->requests != 0 ? o->requests : PACE_NO_LIMIT);
	r->begin = mark(r);
	enter(r, RUN_MEASURE);
}

static void stop_measuring(struct run *r)
{
	pace_advance(&r->env.pace, r->backend.now_ns);
	pace_stop(&r->env.pace);
	r->end = mark(r);
	r->open = r->load->ops->open(r->load);
	enter(r, RUN_DRAIN);
}

static void end_drain(struct run *r)
{
	/* A run of so many requests takes as long as the last of them. */
	if (r->env.options->requests != 0)
		r->end = mark(r);
	r->behind = pace_behind(&r->env.pace);
	enter(r, RUN_OVER);
}

/* Nothing is owed any more. */
static bool is_drained(const struct run *r)
{
	return pace_is_spent(&r->env.pace) && account_in_flight(&r->env.account) == 0;
}

static bool is_open(const struct run *r)
{
	const struct options *o = r->env.options;
	uint64_t wanted = o->targets[0].is_udp ? 1 : o->connections;
	return r->load->ops->open(r->load) >= wanted;
}

/* Each phase may end in each turn. */
static void step(struct run *r)
{
	const struct options *o = r->env.options;
	uint64_t timeout_ns = o->timeout_ms * NS_PER_MS;
	switch (r->phase) {
	case RUN_LINK:
		if (backend_has_link(&r->backend) || spent_ns(r) >= RUN_LINK_NS) {
			idle_init(&r->idle, &r->env);
			enter(r, RUN_IDLE);
		}
		break;
	case RUN_IDLE:
		idle_turn(&r->idle);
		if (idle_is_done(&r->idle))
			enter(r, RUN_OPENING);
		break;
	case RUN_OPENING:
		if (!is_open(r) && spent_ns(r) < timeout_ns)
			break;
		if (r->load->ops->open(r->load) == 0) {
			enter(r, RUN_OVER);
			break;
		}
		pace_start(&r->env.pace, r->backend.now_ns);
		r->line_ns = r->backend.now_ns + NS_PER_S;
		r->line = mark(r);
		enter(r, RUN_WARMUP);
		if (o->warmup_ms == 0)
			start_measuring(r);
		break;
	case RUN_WARMUP:
		if (spent_ns(r) >= o->warmup_ms * NS_PER_MS)
			start_measuring(r);
		break;
	case RUN_MEASURE:
		if (spent_ns(r) >= o->duration_ms * NS_PER_MS || pace_is_spent(&r->env.pace))
			stop_measuring(r);
		break;
	case RUN_DRAIN:
		if (is_drained(r) || spent_ns(r) >= timeout_ns + RUN_DRAIN_MORE_NS)
			end_drain(r);
		break;
	case RUN_OVER:
		break;
	}
}

/* A signal: what has come so far is the result. */
static void stop_early(struct run *r)
{
	if (r->phase < RUN_WARMUP) {
		enter(r, RUN_OVER);
		return;
	}
	if (r->phase == RUN_WARMUP)
		start_measuring(r);
	if (r->phase == RUN_MEASURE)
		stop_measuring(r);
}

static void tell(struct run *r)
{
	if (r->backend.now_ns < r->line_ns || r->phase < RUN_WARMUP || r->phase > RUN_MEASURE)
		return;
	struct run_mark now = mark(r);
	r->lines++;
	if (!r->env.options->is_quiet)
		report_line(r, &now);
	histogram_reset(&r->env.interval);
	r->line = now;
	r->line_ns += NS_PER_S;
}

int run_all(struct run *r, char *why, size_t why_size)
{
	backend_turn(&r->backend);
	enter(r, RUN_LINK);
	while (r->phase != RUN_OVER) {
		backend_turn(&r->backend);
		pace_advance(&r->env.pace, r->backend.now_ns);
		if (r->phase >= RUN_OPENING)
			r->load->ops->turn(r->load);
		tell(r);
		step(r);
		if (r->stop != NULL && *r->stop != 0 && r->phase < RUN_DRAIN)
			stop_early(r);
	}
	r->in_flight = r->load->ops->in_flight(r->load);
	MUST(r->in_flight == account_in_flight(&r->env.account));
	if (r->env.account.sent != 0)
		return 0;
	report_why_nothing(r, why, why_size);
	return -ENOTCONN;
}

void run_close(struct run *r)
{
	backend_end_net(&r->backend);
	r->load->ops->close(r->load);
	backend_close(&r->backend);
}
