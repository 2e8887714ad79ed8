/* options: the command line of millctl. Options may stand before or after the command. Strings are
 * argv's. */
#ifndef TOOLS_MILLCTL_OPTIONS_H
#define TOOLS_MILLCTL_OPTIONS_H

#include "lib/base/base.h"

/* The exit codes, as docs/millctl.md has them. */
enum exit_code {
	EXIT_CODE_OK = 0,
	EXIT_CODE_NO = 1,	   /* a negative answer: not ready, differs, a failed check */
	EXIT_CODE_USAGE = 2,	   /* wrong usage or configuration */
	EXIT_CODE_UNREACHABLE = 3, /* no node, no data plane, or no answer in time */
	EXIT_CODE_REFUSED = 4,	   /* the node said no */
};

/* Options that only some commands take. */
enum option_flag {
	OPTION_COUNT = 1,
	OPTION_FOLLOW = 2,
	OPTION_WAIT = 4,
	OPTION_SECONDS = 8,
	OPTION_PACKETS = 16,
	OPTION_FILTER = 32,
};

struct options {
	bool is_json;
	bool is_help;
	bool is_version;
	const char *socket;
	const char *node;
	const char *run_dir;
	const char *config;
	unsigned given;	    /* enum option_flag */
	uint32_t count;	    /* with OPTION_COUNT; at least 1 */
	uint32_t seconds;   /* with OPTION_SECONDS; at least 1 */
	uint32_t packets;   /* with OPTION_PACKETS; at least 1 */
	const char *filter; /* with OPTION_FILTER */
	const char *words[3];
	unsigned word_count;
};

/* Returns true, or false with one line in `why`. */
CHECKED bool options_parse(struct options *o, int argc, char **argv, char *why, size_t why_size);

/* The last lines of every --help. */
extern const char options_help[];

#endif
