#include "controlplane/loop/loop.h"

#include <errno.h>
#include <sys/timerfd.h>
#include <unistd.h>

int loop_init(struct loop *l)
{
	l->found = 0;
	l->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	return l->epoll_fd >= 0 ? 0 : -errno;
}

void loop_fini(struct loop *l)
{
	close(l->epoll_fd);
	l->epoll_fd = -1;
}

int loop_add(struct loop *l, struct loop_source *source, uint32_t events)
{
	struct epoll_event e = {.events = events, .data.ptr = source};
	return epoll_ctl(l->epoll_fd, EPOLL_CTL_ADD, source->fd, &e) == 0 ? 0 : -errno;
}

void loop_change(struct loop *l, struct loop_source *source, uint32_t events)
{
	struct epoll_event e = {.events = events, .data.ptr = source};
	MUST(epoll_ctl(l->epoll_fd, EPOLL_CTL_MOD, source->fd, &e) == 0);
}

void loop_remove(struct loop *l, struct loop_source *source)
{
	MUST(epoll_ctl(l->epoll_fd, EPOLL_CTL_DEL, source->fd, NULL) == 0);
	for (int i = 0; i < l->found; i++) {
		if (l->batch[i].data.ptr == source)
			l->batch[i].data.ptr = NULL;
	}
}

void loop_turn(struct loop *l)
{
	l->found = epoll_wait(l->epoll_fd, l->batch, LOOP_BATCH, -1);
	MUST(l->found >= 0 || errno == EINTR);
	for (int i = 0; i < l->found; i++) {
		struct loop_source *source = l->batch[i].data.ptr;
		if (source != NULL)
			source->ready(source, l->batch[i].events);
	}
	l->found = 0;
}

static void timer_ready(struct loop_source *source, uint32_t events)
{
	(void)events;
	struct loop_timer *timer = CONTAINER_OF(source, struct loop_timer, source);
	uint64_t expirations;
	if (read(source->fd, &expirations, sizeof(expirations)) == (ssize_t)sizeof(expirations))
		timer->fire(timer);
}

void loop_timer_set(struct loop_timer *timer, uint64_t period_ms)
{
	struct timespec t = {.tv_sec = (time_t)(period_ms / 1000),
		.tv_nsec = (long)(period_ms % 1000) * 1000000};
	struct itimerspec spec = {.it_interval = t, .it_value = t};
	MUST(timerfd_settime(timer->source.fd, 0, &spec, NULL) == 0);
}

int loop_timer_add(struct loop *l, struct loop_timer *timer, uint64_t period_ms)
{
	timer->source.ready = timer_ready;
	timer->source.fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (timer->source.fd < 0)
		return -errno;
	loop_timer_set(timer, period_ms);
	int err = loop_add(l, &timer->source, EPOLLIN);
	if (err != 0)
		close(timer->source.fd);
	return err;
}

void loop_timer_remove(struct loop *l, struct loop_timer *timer)
{
	loop_remove(l, &timer->source);
	close(timer->source.fd);
	timer->source.fd = -1;
}
