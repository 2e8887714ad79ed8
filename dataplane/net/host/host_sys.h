/* host_sys: the system calls of the fast path, straight to the kernel. The C library makes each of them a cancellation
 * point, which costs two atomic operations a call in a program with threads; nobody cancels an lcore. Results and errno
 * are those of the calls they are named after. */
#ifndef DATAPLANE_NET_HOST_HOST_SYS_H
#define DATAPLANE_NET_HOST_HOST_SYS_H

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/base/base.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
/* Sanitizers know the library's calls, and what they write. */
static inline ssize_t host_sys_recv(int fd, void *data, size_t len)
{
	return recv(fd, data, len, MSG_DONTWAIT);
}

static inline ssize_t host_sys_send(int fd, const void *data, size_t len)
{
	return send(fd, data, len, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static inline ssize_t host_sys_sendmsg(int fd, const struct msghdr *msg)
{
	return sendmsg(fd, msg, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static inline int host_sys_epoll_poll(int fd, struct epoll_event *events, int count)
{
	return epoll_wait(fd, events, count, 0);
}
#else
static inline ssize_t host_sys_recv(int fd, void *data, size_t len)
{
	return syscall(SYS_recvfrom, fd, data, len, MSG_DONTWAIT, NULL, NULL);
}

static inline ssize_t host_sys_send(int fd, const void *data, size_t len)
{
	return syscall(SYS_sendto, fd, data, len, MSG_NOSIGNAL | MSG_DONTWAIT, NULL, 0);
}

static inline ssize_t host_sys_sendmsg(int fd, const struct msghdr *msg)
{
	return syscall(SYS_sendmsg, fd, msg, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static inline int host_sys_epoll_poll(int fd, struct epoll_event *events, int count)
{
	return (int)syscall(SYS_epoll_wait, fd, events, count, 0);
}
#endif

#endif
