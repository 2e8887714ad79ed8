/* The control plane: one thread, one loop: configuration, samples, exporter, ops socket, events.
 * It never needs the data plane to be alive (N-3).
 * Exit codes: 0 told to stop; 2 wrong usage or configuration; 3 it cannot start. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "controlplane/conf/running.h"
#include "controlplane/loop/loop.h"
#include "controlplane/metrics/exporter.h"
#include "controlplane/metrics/sample.h"
#include "controlplane/ops/ops_server.h"
#include "controlplane/watch/watch.h"
#include "lib/base/version.h"
#include "lib/clock/clock.h"
#include "lib/conf/conf_flags.h"
#include "lib/log/log.h"

#define PROGRAM "millrace-controlplane"

enum { EXIT_OK = 0, EXIT_CONFIG = 2, EXIT_START = 3 };

struct plane {
	struct loop loop;
	struct seg *seg;
	struct running running;
	struct sample sample;
	struct watch watch;
	struct exporter exporter;
	struct ops_server ops;
	struct loop_source signals;
	struct loop_timer heart;
	struct loop_timer sampler;
	uint64_t log_dropped; /* as counted already */
	bool has_watchdog;
	bool is_stopping;
};

static void on_signal(struct loop_source *source, uint32_t events)
{
	(void)events;
	struct plane *p = CONTAINER_OF(source, struct plane, signals);
	struct signalfd_siginfo info;
	if (read(source->fd, &info, sizeof(info)) != (ssize_t)sizeof(info))
		return;
	if (info.ssi_signo == SIGHUP) {
		struct running_change change;
		running_reload(&p->running, p->seg, &change);
		return;
	}
	p->is_stopping = true;
}

static void on_heart(struct loop_timer *timer)
{
	struct plane *p = CONTAINER_OF(timer, struct plane, heart);
	uint64_t now_ns = clock_now_ns();
	seg_beat(p->seg, SHM_CONTROLPLANE, SEG_RUNNING);
	watch_look(&p->watch, p->seg);
	exporter_tick(&p->exporter, now_ns);
	ops_server_tick(&p->ops, now_ns);
	if (p->has_watchdog)
		sd_notify(0, "WATCHDOG=1");
}

static void on_sample(struct loop_timer *timer)
{
	struct plane *p = CONTAINER_OF(timer, struct plane, sampler);
	sample_take(&p->sample, p->seg, ops_server_events_lag(&p->ops));
	uint64_t dropped = log_dropped();
	tally_add(&p->seg->tally[TALLY_SLOT_CONTROL], TALLY_QUEUE_DROPPED + QUEUE_LOG,
		dropped - p->log_dropped);
	p->log_dropped = dropped;
}

/* Blocks the signals the loop reads; before any thread starts, so that all inherit it. */
static int block_signals(sigset_t *set)
{
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(set);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGHUP);
	return sigprocmask(SIG_BLOCK, set, NULL) == 0 ? 0 : -errno;
}

static int add_sources(struct plane *p, const sigset_t *set)
{
	p->signals.fd = signalfd(-1, set, SFD_NONBLOCK | SFD_CLOEXEC);
	if (p->signals.fd < 0)
		return -errno;
	p->signals.ready = on_signal;
	p->heart.fire = on_heart;
	p->sampler.fire = on_sample;
	int err = loop_add(&p->loop, &p->signals, EPOLLIN);
	if (err == 0)
		err = loop_timer_add(&p->loop, &p->heart, LIMIT_HEARTBEAT_MS);
	if (err == 0)
		err = loop_timer_add(&p->loop, &p->sampler, LIMIT_SAMPLE_MS);
	return err;
}

/* Joins the segment and makes the configuration known to the data plane. */
static int attach(struct plane *p, char *why, size_t why_size)
{
	int err = seg_attach(&p->seg, p->running.conf.node_name, SHM_CONTROLPLANE, why, why_size);
	if (err != 0)
		return err;
	struct tally *tally = &p->seg->tally[TALLY_SLOT_CONTROL];
	tally_claim(tally);
	tally_inc(tally, TALLY_TASKS_SPAWNED + LABEL_KIND_CONTROLPLANE);
	running_publish(&p->running, p->seg);
	watch_init(&p->watch, p->seg);
	return 0;
}

static int start(struct plane *p, const sigset_t *set, char *why, size_t why_size)
{
	int err = attach(p, why, why_size);
	if (err != 0)
		return err;
	struct ops_env env = {.seg = p->seg,
		.running = &p->running,
		.sample = &p->sample,
		.exporter = &p->exporter};
	snprintf(why, why_size, "out of memory or descriptors");
	err = loop_init(&p->loop);
	if (err == 0)
		err = ops_server_init(&p->ops, &p->loop, &env, why, why_size);
	if (err == 0)
		err = exporter_init(&p->exporter, &p->loop, p->seg, &p->running, &p->sample);
	if (err == 0)
		err = add_sources(p, set);
	return err;
}

static void run(struct plane *p)
{
	uint64_t watchdog_us;
	p->has_watchdog = sd_watchdog_enabled(0, &watchdog_us) > 0;
	seg_beat(p->seg, SHM_CONTROLPLANE, SEG_RUNNING);
	sd_notify(0, "READY=1");
	LOG(INFO, "control plane %s of node %s is up, ops socket %s", version_string(),
		p->running.conf.node_name, p->ops.socket.path);
	while (!p->is_stopping)
		loop_turn(&p->loop);
	sd_notify(0, "STOPPING=1");
	LOG(INFO, "control plane ends: told to");
}

static void stop(struct plane *p)
{
	exporter_fini(&p->exporter);
	ops_server_fini(&p->ops);
	loop_timer_remove(&p->loop, &p->heart);
	loop_timer_remove(&p->loop, &p->sampler);
	loop_remove(&p->loop, &p->signals);
	close(p->signals.fd);
	loop_fini(&p->loop);
	seg_beat(p->seg, SHM_CONTROLPLANE, SEG_STOPPED);
	seg_detach(p->seg);
}

int main(int argc, char **argv)
{
	/* Static for their size; only main and what it calls see them. */
	static struct conf_flags flags;
	static struct conf_errors errors;
	static struct plane plane;
	switch (conf_flags_parse(&flags, argc, argv, PROGRAM,
		"configuration, metrics and the ops socket of a Millrace node")) {
	case CONF_FLAGS_EXIT_0:
		return EXIT_OK;
	case CONF_FLAGS_EXIT_2:
		return EXIT_CONFIG;
	case CONF_FLAGS_GO:
		break;
	}
	if (running_load(&plane.running, &flags.input, &errors) != 0) {
		conf_flags_complain(PROGRAM, &errors);
		return EXIT_CONFIG;
	}
	char why[256] = "out of memory or descriptors";
	sigset_t set;
	const struct conf *conf = &plane.running.conf;
	int err = block_signals(&set);
	if (err == 0)
		err = log_start("controlplane", (enum log_level)conf->log_level,
			(enum log_format)conf->log_format);
	if (err == 0)
		err = start(&plane, &set, why, sizeof(why));
	if (err != 0) {
		LOG(ERROR, "cannot start: %s", why);
		log_stop();
		return EXIT_START;
	}
	run(&plane);
	stop(&plane);
	log_stop();
	return EXIT_OK;
}
