/* conf_flags: the command line that millrace and its two processes share:
 *   --config FILE   --set section.key=value ...   --help   --version
 * Without --config the file is the one MILLRACE_CONFIG names, if it is set.
 * The strings stay the caller's (argv, environ). Prints usage, version and complaints itself. */
#ifndef LIB_CONF_CONF_FLAGS_H
#define LIB_CONF_CONF_FLAGS_H

#include "lib/conf/conf.h"

struct conf_flags {
	struct conf_input input; /* env is `environ`; sets points at `sets` below */
	const char *sets[CONF_KEYS_MAX];
};

/* What the caller does next: go on, or end with this exit code. */
enum conf_flags_verdict { CONF_FLAGS_GO, CONF_FLAGS_EXIT_0, CONF_FLAGS_EXIT_2 };

/* `about`: what the program does, one line of its --help. `f` must not move afterwards. */
CHECKED enum conf_flags_verdict conf_flags_parse(
	struct conf_flags *f, int argc, char **argv, const char *program, const char *about);

/* Writes all error lines to standard error, each with the program's name in front. */
void conf_flags_complain(const char *program, const struct conf_errors *errors);

#endif
