/* child: one process of the node as the launcher's child. It dies with the launcher, gets a process
 * group of its own (Ctrl-C reaches it through the launcher only), default signals, and no systemd
 * notification socket: the launcher speaks for the node. */
#ifndef TOOLS_MILLRACE_CHILD_H
#define TOOLS_MILLRACE_CHILD_H

#include <sys/types.h>

#include "lib/base/base.h"

/* The environment without the notification variables; lives as long as the launcher. NULL when
 * memory is short. */
char **child_environment(char *const *env);

/* Returns the pid, or -errno. argv ends with NULL. */
CHECKED pid_t child_start(const char *path, char *const *argv, char *const *env);

#endif
