/* commands: what millctl can do. One table: dispatch, help and the completion test use it. */
#ifndef TOOLS_MILLCTL_COMMANDS_H
#define TOOLS_MILLCTL_COMMANDS_H

#include "tools/millctl/client.h"
#include "tools/millctl/options.h"

struct command {
	const char *name;
	const char *sub; /* second word, or NULL */
	const char *arg; /* the names of its arguments with a blank between, or NULL */
	unsigned takes;	 /* enum option_flag */
	const char *summary;
	const char *details; /* more lines of --help, or NULL */
	enum exit_code (*run)(const struct options *o);
};
extern const struct command commands[];
extern const unsigned command_count;

/* The command the words name, or NULL with one line in `why`. */
const struct command *commands_find(const struct options *o, char *why, size_t why_size);

/* Says what failed, as text or JSON, and returns the exit code. Consumes f->errors. */
enum exit_code commands_fail(const struct options *o, struct client_failure *f);

/* Opens a connection to the node that is meant; false after having said why, with the exit code in `code`. */
CHECKED bool commands_open(const struct options *o, struct client *c, enum exit_code *code);

/* Asks the node one thing; NULL after having said why, with the exit code in `code`. */
json_t *commands_ask(
	const struct options *o, const struct ops_request *request, enum exit_code *code);

/* Prints a document of --json. */
void commands_print_json(const json_t *json);

#endif
