/* ops_socket: the ops socket in the file system (N-4, S-10): directory made with mode 0700, socket
 * 0600. What a dead process left is replaced; a socket that answers is not. */
#ifndef CONTROLPLANE_OPS_OPS_SOCKET_H
#define CONTROLPLANE_OPS_OPS_SOCKET_H

#include <sys/types.h>

#include "lib/ops/ops_path.h"

struct ops_socket {
	int fd;
	char path[OPS_PATH];
};

/* Listens. Returns 0, or -errno with one line in `why`. */
CHECKED int ops_socket_open(
	struct ops_socket *s, const char *run_dir, const char *name, char *why, size_t why_size);

/* Removes the file and closes it. The file is still ours: whoever would replace it needs our role in
 * the segment first. */
void ops_socket_close(struct ops_socket *s);

/* May the process at the other end ask? Root and our own user may. Fills uid and pid. */
bool ops_socket_admits(int fd, uid_t *uid, pid_t *pid);

#endif
