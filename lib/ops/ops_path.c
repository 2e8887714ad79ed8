#include "lib/ops/ops_path.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

int ops_path(char out[OPS_PATH], const char *run_dir, const char *name)
{
	int n = snprintf(out, OPS_PATH, "%s/%s.ops.sock", run_dir, name);
	return n > 0 && n < OPS_PATH ? 0 : -ENAMETOOLONG;
}

int ops_path_address(struct sockaddr_un *out, const char *path)
{
	if (strlen(path) >= sizeof(out->sun_path))
		return -ENAMETOOLONG;
	*out = (struct sockaddr_un){.sun_family = AF_UNIX};
	memcpy(out->sun_path, path, strlen(path) + 1);
	return 0;
}
