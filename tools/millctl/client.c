#include "tools/millctl/client.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/ops/ops_path.h"

enum { TIMEOUT_MS = 5000, READ_STEP = 65536 };

PRINTF_LIKE(4, 5)
static bool fail(
	struct client_failure *f, enum exit_code code, const char *error, const char *fmt, ...)
{
	*f = (struct client_failure){.code = code};
	snprintf(f->error, sizeof(f->error), "%s", error);
	va_list args;
	va_start(args, fmt);
	vsnprintf(f->message, sizeof(f->message), fmt, args);
	va_end(args);
	return false;
}

bool client_open(struct client *c, const char *path, struct client_failure *f)
{
	struct sockaddr_un address;
	*c = (struct client){.fd = -1};
	if (ops_path_address(&address, path) != 0)
		return fail(f, EXIT_CODE_USAGE, "usage", "%s is longer than a socket path can be",
			path);
	c->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (c->fd >= 0 && connect(c->fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return true;
	int err = errno;
	client_close(c);
	if (err == EACCES)
		return fail(f, EXIT_CODE_REFUSED, "forbidden",
			"%s: permission denied; run this as root or as the node's user", path);
	return fail(f, EXIT_CODE_UNREACHABLE, "unreachable",
		"no node answers on %s (%s); start it, or name another with --config or --socket",
		path, strerror(err));
}

void client_close(struct client *c)
{
	if (c->fd >= 0)
		close(c->fd);
	free(c->text);
	*c = (struct client){.fd = -1};
}

bool client_send(struct client *c, const struct ops_request *request, struct client_failure *f)
{
	char line[LIMIT_OPS_REQUEST_BYTES];
	size_t len = ops_request_print(request, line, sizeof(line));
	/* A node that turns us away may have closed already; its last line says why. */
	if (send(c->fd, line, len, MSG_NOSIGNAL) == (ssize_t)len || errno == EPIPE)
		return true;
	return fail(f, EXIT_CODE_UNREACHABLE, "unreachable",
		"the node does not take the request: %s", strerror(errno));
}

static bool make_room(struct client *c, struct client_failure *f)
{
	if (c->room - c->len >= READ_STEP)
		return true;
	size_t room = c->room + READ_STEP + c->room / 2;
	char *text = room <= 2 * (size_t)LIMIT_OPS_REPLY_BYTES ? realloc(c->text, room) : NULL;
	if (text == NULL)
		return fail(f, EXIT_CODE_REFUSED, "too_large", "the node's answer is too long");
	c->text = text;
	c->room = room;
	return true;
}

/* Reads some. */
static bool read_more(struct client *c, int timeout_ms, struct client_failure *f)
{
	if (!make_room(c, f))
		return false;
	struct pollfd p = {.fd = c->fd, .events = POLLIN};
	int ready = poll(&p, 1, timeout_ms);
	if (ready == 0)
		return fail(f, EXIT_CODE_UNREACHABLE, "timeout",
			"the node does not answer within %d s", timeout_ms / 1000);
	ssize_t n = ready > 0 ? recv(c->fd, c->text + c->len, c->room - c->len, 0) : -1;
	if (n > 0)
		c->len += (size_t)n;
	else if (n == 0 || errno != EINTR)
		return fail(
			f, EXIT_CODE_UNREACHABLE, "unreachable", "the node closed the connection");
	return true;
}

static void drop_used(struct client *c)
{
	if (c->used == 0)
		return;
	c->len -= c->used;
	memmove(c->text, c->text + c->used, c->len);
	c->used = 0;
}

const char *client_bytes(struct client *c, size_t len, int timeout_ms, struct client_failure *f)
{
	drop_used(c);
	while (c->len < len) {
		if (!read_more(c, timeout_ms, f))
			return NULL;
	}
	c->used = len;
	return c->text;
}

/* Reads until there is a newline. */
static bool read_line(struct client *c, int timeout_ms, struct client_failure *f)
{
	drop_used(c);
	while (c->len == 0 || memchr(c->text, '\n', c->len) == NULL) {
		if (!read_more(c, timeout_ms, f))
			return false;
	}
	return true;
}

json_t *client_line(struct client *c, int timeout_ms, struct client_failure *f)
{
	if (!read_line(c, timeout_ms, f))
		return NULL;
	size_t len = (size_t)((char *)memchr(c->text, '\n', c->len) - c->text) + 1;
	json_t *json = json_loadb(c->text, len, JSON_REJECT_DUPLICATES, NULL);
	c->len -= len;
	memmove(c->text, c->text + len, c->len);
	if (json == NULL)
		fail(f, EXIT_CODE_REFUSED, "bad_reply", "the node's answer is not JSON");
	return json;
}

static enum exit_code code_of(const char *error)
{
	if (strcmp(error, "dataplane_down") == 0 || strcmp(error, "timeout") == 0)
		return EXIT_CODE_UNREACHABLE;
	return EXIT_CODE_REFUSED;
}

json_t *client_reply(struct client *c, struct client_failure *f)
{
	json_t *reply = client_line(c, TIMEOUT_MS, f);
	if (reply == NULL)
		return NULL;
	json_t *data = NULL;
	if (json_is_true(json_object_get(reply, "ok"))) {
		data = json_incref(json_object_get(reply, "data"));
		if (data == NULL)
			fail(f, EXIT_CODE_REFUSED, "bad_reply", "the node's answer has no data");
	} else {
		const char *error = json_string_value(json_object_get(reply, "error"));
		const char *message = json_string_value(json_object_get(reply, "message"));
		fail(f, code_of(error != NULL ? error : ""), error != NULL ? error : "refused",
			"%s", message != NULL ? message : "the node said no");
		f->errors = json_incref(json_object_get(reply, "errors"));
	}
	json_decref(reply);
	return data;
}

json_t *client_ask(const char *path, const struct ops_request *request, struct client_failure *f)
{
	struct client c;
	json_t *data = NULL;
	if (!client_open(&c, path, f))
		return NULL;
	if (client_send(&c, request, f))
		data = client_reply(&c, f);
	client_close(&c);
	return data;
}
