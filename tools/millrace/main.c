/* millrace: starts the two processes of a node and keeps them running (X-18, N-3).
 * Exit codes: 0 drained; 1 drained, but something was cut; 2 wrong usage or configuration; 3 the node
 * cannot be started here (it runs already, or a program is missing). Writes no file. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "lib/clock/clock.h"
#include "lib/conf/conf_flags.h"
#include "lib/log/log.h"
#include "lib/shm/seg.h"
#include "tools/millrace/child.h"
#include "tools/millrace/siblings.h"
#include "tools/millrace/supervise.h"

enum {
	EXIT_OK = 0,
	EXIT_CONFIG = 2,
	EXIT_START = 3,
	ARGS_MAX = 2 * CONF_KEYS_MAX + 4, /* program, --config FILE, --set x for each, NULL */
	LOOK_MS = 20,			  /* between looks at the hearts, until both beat */
	LEFTOVER_MS =
		6000, /* a node that is draining after its launcher's death ends within this */
	LEFTOVER_RUNNING_MS = 1000, /* one that is not draining by now has a launcher of its own */
};

struct launcher {
	struct supervise supervise;
	struct conf conf;
	int signal_fd;
	char paths[SHM_PROCESS_COUNT][SIBLINGS_PATH];
	char *argv[SHM_PROCESS_COUNT][ARGS_MAX];
	char **env;
};

/* --- start */

static int find_programs(struct launcher *l, const struct conf_flags *flags)
{
	char self[SIBLINGS_PATH];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	self[len > 0 ? len : 0] = '\0';
	for (int p = 0; p < SHM_PROCESS_COUNT; p++) {
		if (siblings_find(l->paths[p], self, (enum shm_process)p) != 0) {
			fprintf(stderr,
				"millrace: there is no millrace-%s beside %s; build or install "
				"it\n",
				shm_process_names[p], self);
			return -ENOENT;
		}
		char **argv = l->argv[p];
		*argv++ = l->paths[p];
		if (flags->input.path != NULL) {
			*argv++ = "--config";
			*argv++ = (char *)flags->input.path;
		}
		for (unsigned i = 0; i < flags->input.set_count; i++) {
			*argv++ = "--set";
			*argv++ = (char *)flags->input.sets[i];
		}
	}
	return 0;
}

/* The pid of a process of this node that runs, 0 when none does. */
static pid_t find_living(const struct seg *seg, bool *is_draining)
{
	*is_draining = seg->hearts[SHM_DATAPLANE].state == SEG_DRAINING;
	for (int p = 0; p < SHM_PROCESS_COUNT; p++) {
		if (seg_is_alive(seg, (enum shm_process)p))
			return seg->hearts[p].pid;
	}
	return 0;
}

/* Waits for what a killed launcher has left to end. False: a node of this name stays, and `why` says so. */
static bool wait_for_leftovers(const char *name, char *why, size_t why_size)
{
	const struct seg *seg;
	if (seg_open(&seg, name, why, why_size) != 0)
		return !seg_is_used(name); /* in use by another build, or nobody's */
	uint64_t start_ns = clock_now_ns();
	bool is_draining;
	pid_t pid;
	while ((pid = find_living(seg, &is_draining)) != 0) {
		uint64_t waited_ms = (clock_now_ns() - start_ns) / NS_PER_MS;
		if (waited_ms >= (is_draining ? LEFTOVER_MS : LEFTOVER_RUNNING_MS))
			break;
		poll(NULL, 0, LOOK_MS);
	}
	seg_detach(seg);
	snprintf(why, why_size,
		"node %s is already running (pid %d); stop it, or set another node.name", name,
		(int)pid);
	return pid == 0;
}

static int open_signals(void)
{
	sigset_t set;
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGCHLD);
	if (sigprocmask(SIG_BLOCK, &set, NULL) != 0)
		return -errno;
	int fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	return fd >= 0 ? fd : -errno;
}

/* --- run */

static uint32_t random_bits(void)
{
	uint32_t bits;
	if (getrandom(&bits, sizeof(bits), GRND_NONBLOCK) != (ssize_t)sizeof(bits))
		bits = (uint32_t)clock_now_ns() * 2654435761u;
	return bits;
}

static void tell_end(enum shm_process process, int status, uint64_t delay_ns)
{
	char how[48];
	if (WIFSIGNALED(status))
		snprintf(how, sizeof(how), "was killed by signal %d", WTERMSIG(status));
	else
		snprintf(how, sizeof(how), "ended with code %d", WEXITSTATUS(status));
	if (delay_ns > 0)
		LOG(WARN, "the %s %s; it is started again in %llu ms", shm_process_names[process],
			how, (unsigned long long)(delay_ns / NS_PER_MS));
	else
		LOG(INFO, "the %s %s", shm_process_names[process], how);
}

static void reap(struct launcher *l)
{
	int status;
	pid_t pid;
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		for (int p = 0; p < SHM_PROCESS_COUNT; p++) {
			if (l->supervise.children[p].pid != pid)
				continue;
			uint64_t delay_ns = supervise_ended(&l->supervise, (enum shm_process)p,
				status, clock_now_ns(), random_bits());
			tell_end((enum shm_process)p, status, delay_ns);
		}
	}
}

static void read_signals(struct launcher *l)
{
	struct signalfd_siginfo info;
	while (read(l->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		pid_t control = l->supervise.children[SHM_CONTROLPLANE].pid;
		if (info.ssi_signo == SIGCHLD) {
			reap(l);
		} else if (info.ssi_signo == SIGHUP) {
			if (control > 0)
				kill(control, SIGHUP);
		} else {
			if (!l->supervise.is_stopping)
				LOG(INFO, "told to stop: draining");
			supervise_stop(&l->supervise);
			sd_notify(0, "STOPPING=1");
		}
	}
}

static void start_child(struct launcher *l, enum shm_process process)
{
	pid_t pid = child_start(l->paths[process], l->argv[process], l->env);
	uint64_t now_ns = clock_now_ns();
	supervise_started(&l->supervise, process, pid > 0 ? pid : 0, now_ns);
	if (pid > 0) {
		LOG(INFO, "started the %s, pid %d", shm_process_names[process], (int)pid);
		return;
	}
	LOG(ERROR, "cannot start the %s: %s", shm_process_names[process], strerror(-pid));
	/* As if it had been killed at once. */
	(void)supervise_ended(&l->supervise, process, SIGKILL, now_ns, random_bits());
}

/* Does what is due. Returns how long nothing else is, in ms (-1: until a signal), or -2 at the end. */
static int act(struct launcher *l)
{
	for (;;) {
		uint64_t now_ns = clock_now_ns();
		struct supervise_order order = supervise_next(&l->supervise, now_ns);
		switch (order.act) {
		case SUPERVISE_START:
			start_child(l, order.process);
			break;
		case SUPERVISE_TERM:
			kill(order.pid, SIGTERM);
			break;
		case SUPERVISE_KILL:
			LOG(ERROR, "the %s hangs: killed", shm_process_names[order.process]);
			kill(order.pid, SIGKILL);
			break;
		case SUPERVISE_END:
			return -2;
		case SUPERVISE_WAIT:
			if (order.wait_ns == UINT64_MAX)
				return -1;
			/* Rounded up: waking early would spin. */
			return order.wait_ns > now_ns
				       ? (int)((order.wait_ns - now_ns) / NS_PER_MS) + 1
				       : 0;
		}
	}
}

/* Notices that both processes are up, once. */
static void look_for_ready(struct launcher *l)
{
	const struct seg *seg;
	char why[256];
	if (seg_open(&seg, l->conf.node_name, why, sizeof(why)) != 0)
		return;
	bool is_up = true;
	for (int p = 0; p < SHM_PROCESS_COUNT; p++)
		is_up &= seg_is_alive(seg, (enum shm_process)p) &&
			 seg->hearts[p].state == SEG_RUNNING;
	seg_detach(seg);
	if (!is_up)
		return;
	supervise_up(&l->supervise);
	sd_notify(0, "READY=1");
	LOG(INFO, "node %s is up", l->conf.node_name);
}

static int run(struct launcher *l)
{
	uint64_t watchdog_us = 0;
	bool has_watchdog = sd_watchdog_enabled(0, &watchdog_us) > 0;
	int watchdog_ms = (int)(watchdog_us / 2000);
	supervise_init(&l->supervise, clock_now_ns());
	for (;;) {
		int wait_ms = act(l);
		if (wait_ms == -2)
			return l->supervise.exit_code;
		if (!l->supervise.has_been_up && !l->supervise.is_stopping &&
			(wait_ms < 0 || wait_ms > LOOK_MS))
			wait_ms = LOOK_MS;
		if (has_watchdog && (wait_ms < 0 || wait_ms > watchdog_ms))
			wait_ms = watchdog_ms;
		struct pollfd p = {.fd = l->signal_fd, .events = POLLIN};
		poll(&p, 1, wait_ms);
		read_signals(l);
		if (!l->supervise.has_been_up)
			look_for_ready(l);
		if (has_watchdog)
			sd_notify(0, "WATCHDOG=1");
	}
}

static int launch(struct launcher *l)
{
	char why[256];
	if (!wait_for_leftovers(l->conf.node_name, why, sizeof(why))) {
		fprintf(stderr, "millrace: %s\n", why);
		return EXIT_START;
	}
	l->env = child_environment(environ);
	l->signal_fd = open_signals();
	if (l->env == NULL || l->signal_fd < 0 ||
		log_start("millrace", (enum log_level)l->conf.log_level,
			(enum log_format)l->conf.log_format) != 0) {
		fprintf(stderr, "millrace: out of memory, descriptors or threads\n");
		return EXIT_START;
	}
	int code = run(l);
	seg_unlink(l->conf.node_name);
	LOG(INFO, "node %s has ended with code %d", l->conf.node_name, code);
	log_stop();
	close(l->signal_fd);
	free(l->env);
	return code;
}

int main(int argc, char **argv)
{
	/* Static for their size; only main and what it calls see them. */
	static struct conf_flags flags;
	static struct conf_errors errors;
	static struct launcher launcher;
	switch (conf_flags_parse(&flags, argc, argv, "millrace",
		"starts the two processes of a Millrace node and keeps them running")) {
	case CONF_FLAGS_EXIT_0:
		return EXIT_OK;
	case CONF_FLAGS_EXIT_2:
		return EXIT_CONFIG;
	case CONF_FLAGS_GO:
		break;
	}
	if (conf_load(&launcher.conf, NULL, &flags.input, &errors) != 0) {
		conf_flags_complain("millrace", &errors);
		return EXIT_CONFIG;
	}
	if (find_programs(&launcher, &flags) != 0)
		return EXIT_START;
	return launch(&launcher);
}
