#include "controlplane/ops/ops_socket.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/registry.h"

static int make_dir(const char *dir, char *why, size_t why_size)
{
	if (mkdir(dir, 0700) != 0 && errno != EEXIST) {
		int err = -errno;
		snprintf(why, why_size, "cannot make node.run_dir %s: %s", dir, strerror(-err));
		return err;
	}
	struct stat st;
	if (stat(dir, &st) != 0 || !S_ISDIR(st.st_mode)) {
		snprintf(why, why_size, "node.run_dir %s is not a directory", dir);
		return -ENOTDIR;
	}
	/* Whoever can write there can put a socket of his own in our place. */
	if ((st.st_uid != geteuid() && st.st_uid != 0) || (st.st_mode & 022) != 0) {
		snprintf(why, why_size,
			"node.run_dir %s can be written by others; make it 0700 and owned by uid "
			"%u",
			dir, (unsigned)geteuid());
		return -EPERM;
	}
	return 0;
}

/* Removes the socket of a dead process. */
static int clear_stale(const struct sockaddr_un *address, char *why, size_t why_size)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	int result = connect(fd, (const struct sockaddr *)address, sizeof(*address));
	int err = result == 0 ? 0 : errno;
	close(fd);
	if (err == ENOENT)
		return 0;
	if (err == ECONNREFUSED && unlink(address->sun_path) == 0)
		return 0;
	if (err == 0 || err == EAGAIN)
		snprintf(why, why_size, "another process answers on %s", address->sun_path);
	else
		snprintf(why, why_size, "%s is in the way: remove it", address->sun_path);
	return -EADDRINUSE;
}

static int bind_private(int fd, const struct sockaddr_un *address)
{
	/* The mode is right from the first moment, not only after a chmod. */
	mode_t old = umask(0177);
	int err = bind(fd, (const struct sockaddr *)address, sizeof(*address)) == 0 ? 0 : -errno;
	umask(old);
	if (err == 0 && listen(fd, LIMIT_OPS_CLIENTS) != 0)
		err = -errno;
	return err;
}

int ops_socket_open(
	struct ops_socket *s, const char *run_dir, const char *name, char *why, size_t why_size)
{
	struct sockaddr_un address;
	*s = (struct ops_socket){.fd = -1};
	if (ops_path(s->path, run_dir, name) != 0 || ops_path_address(&address, s->path) != 0) {
		snprintf(
			why, why_size, "node.run_dir and node.name are too long for a socket path");
		return -ENAMETOOLONG;
	}
	int err = make_dir(run_dir, why, why_size);
	if (err == 0)
		err = clear_stale(&address, why, why_size);
	if (err != 0)
		return err;
	s->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	err = s->fd < 0 ? -errno : bind_private(s->fd, &address);
	if (err != 0) {
		snprintf(why, why_size, "cannot listen on %s: %s", s->path, strerror(-err));
		if (s->fd >= 0)
			close(s->fd);
		s->fd = -1;
		return err;
	}
	return 0;
}

void ops_socket_close(struct ops_socket *s)
{
	unlink(s->path);
	close(s->fd);
	s->fd = -1;
}

bool ops_socket_admits(int fd, uid_t *uid, pid_t *pid)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) != 0)
		return false;
	*uid = peer.uid;
	*pid = peer.pid;
	return peer.uid == 0 || peer.uid == geteuid();
}
