#include "lib/base/version.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "version_commit.h"

/* The build writes one string, "hash unixtime"; both halves are cut from it at run time. */
static const char commit_and_time[] = MILLRACE_COMMIT_AND_TIME;

const char *version_string(void)
{
	/* Per thread, so that the first call needs no lock. */
	static _Thread_local char text[48];
	int hash_len = (int)strcspn(commit_and_time, " ");
	snprintf(text, sizeof(text), "%s (%.*s)", MILLRACE_VERSION, hash_len, commit_and_time);
	return text;
}

uint64_t version_build_time(void)
{
	const char *space = strchr(commit_and_time, ' ');
	return space != NULL ? strtoull(space + 1, NULL, 10) : 0;
}
