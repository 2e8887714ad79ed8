/* client: one connection to a node's ops socket. Blocking, with a timeout on every wait. */
#ifndef TOOLS_MILLCTL_CLIENT_H
#define TOOLS_MILLCTL_CLIENT_H

#include <jansson.h>

#include "lib/ops/ops_request.h"
#include "tools/millctl/options.h"

struct client {
	int fd;
	char *text; /* received and not yet used; at most LIMIT_OPS_REPLY_BYTES */
	size_t len;
	size_t used; /* of them, by client_bytes: dropped with the next call */
	size_t room;
};

/* What went wrong: an exit code, a code for programs, one line for a person, more lines in `errors`. */
struct client_failure {
	enum exit_code code;
	char error[32];
	char message[320];
	json_t *errors; /* an array of strings, or NULL */
};

CHECKED bool client_open(struct client *c, const char *path, struct client_failure *f);
void client_close(struct client *c);

CHECKED bool client_send(
	struct client *c, const struct ops_request *request, struct client_failure *f);

/* The next line as JSON, a new reference. NULL with `f` filled when none came within `timeout_ms`
 * (-1: wait for ever). */
json_t *client_line(struct client *c, int timeout_ms, struct client_failure *f);

/* The next `len` bytes as they are, at most LIMIT_OPS_REPLY_BYTES; valid until the next call. NULL with `f` filled when
 * they did not come within `timeout_ms`. */
const char *client_bytes(struct client *c, size_t len, int timeout_ms, struct client_failure *f);

/* The data of the reply, a new reference; NULL with `f` filled when the node said no, or nothing. */
json_t *client_reply(struct client *c, struct client_failure *f);

/* Connects, asks, closes. */
json_t *client_ask(const char *path, const struct ops_request *request, struct client_failure *f);

#endif
