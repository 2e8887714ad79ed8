#include "tools/millrace/siblings.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool is_there(
	char out[SIBLINGS_PATH], const char *dir, int dir_len, const char *place, const char *name)
{
	int n = snprintf(out, SIBLINGS_PATH, "%.*s/%s/millrace-%s", dir_len, dir, place, name);
	return n > 0 && n < SIBLINGS_PATH && access(out, X_OK) == 0;
}

int siblings_find(char out[SIBLINGS_PATH], const char *self, enum shm_process process)
{
	const char *name = shm_process_names[process];
	const char *slash = strrchr(self, '/');
	const char *dir = slash != NULL ? self : ".";
	int dir_len = slash != NULL ? (int)(slash - self) : 1;
	char built[64];
	snprintf(built, sizeof(built), "../%s", name);
	const char *const places[] = {built, ".", "../libexec/millrace", "../libexec"};
	for (unsigned i = 0; i < ARRAY_LEN(places); i++) {
		if (is_there(out, dir, dir_len, places[i], name))
			return 0;
	}
	return -ENOENT;
}
