#include "tools/millctl/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tools/millctl/commands.h"
#include "tools/millctl/format.h"
#include "tools/millctl/show.h"

/* How long the node may be late with the end of a capture. */
enum { GRACE_S = 5, MS_PER_S = 1000 };

PRINTF_LIKE(3, 4)
static bool fail(struct client_failure *f, const char *error, const char *fmt, ...)
{
	*f = (struct client_failure){.code = EXIT_CODE_USAGE};
	snprintf(f->error, sizeof(f->error), "%s", error);
	va_list args;
	va_start(args, fmt);
	vsnprintf(f->message, sizeof(f->message), fmt, args);
	va_end(args);
	return false;
}

static bool make_request(struct ops_request *r, const struct options *o, struct client_failure *f)
{
	const char *port = o->words[1], *filter = o->filter != NULL ? o->filter : "";
	*r = (struct ops_request){.command = OPS_CAPTURE,
		.seconds = (o->given & OPTION_SECONDS) != 0 ? o->seconds : OPS_CAPTURE_SECONDS,
		.packets = (o->given & OPTION_PACKETS) != 0 ? o->packets : OPS_CAPTURE_PACKETS};
	if (r->seconds > LIMIT_CAPTURE_S)
		return fail(f, "usage", "--seconds is at most %d", (int)LIMIT_CAPTURE_S);
	if (r->packets > LIMIT_CAPTURE_PACKETS)
		return fail(f, "usage", "--packets is at most %d", (int)LIMIT_CAPTURE_PACKETS);
	if (strlen(port) >= sizeof(r->port) || strlen(filter) >= sizeof(r->filter))
		return fail(f, "usage", "the port or the filter is too long");
	strcpy(r->port, port);
	strcpy(r->filter, filter);
	return true;
}

/* A capture holds what others sent in confidence: its file is for its owner. */
static int open_file(const char *path, struct client_failure *f)
{
	if (strcmp(path, "-") == 0)
		return STDOUT_FILENO;
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		fail(f, "file", "%s: %s", path, strerror(errno));
	return fd;
}

/* Whole chunks, at once: an interrupted capture is still a whole file of whole blocks. */
static bool write_all(int fd, const char *bytes, size_t len, struct client_failure *f)
{
	while (len > 0) {
		ssize_t n = write(fd, bytes, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fail(f, "file", "cannot write the file: %s", strerror(errno));
		bytes += n;
		len -= (size_t)n;
	}
	return true;
}

/* Writes what comes. Returns what the node says at the end, a new reference; NULL with `f` filled. */
static json_t *receive(struct client *c, int fd, int timeout_ms, struct client_failure *f)
{
	for (;;) {
		json_t *line = client_line(c, timeout_ms, f);
		if (line == NULL)
			return NULL;
		json_t *done = json_incref(json_object_get(line, "done"));
		uint64_t len = show_number(line, "bytes");
		json_decref(line);
		if (done != NULL)
			return done;
		if (len == 0 || len > LIMIT_CAPTURE_CHUNK_BYTES) {
			fail(f, "bad_reply", "the node's answer makes no sense");
			return NULL;
		}
		const char *bytes = client_bytes(c, len, timeout_ms, f);
		if (bytes == NULL || !write_all(fd, bytes, len, f))
			return NULL;
	}
}

static void print_done(const struct options *o, const json_t *done)
{
	/* Standard output may be the file. */
	bool is_stdout = strcmp(o->words[2], "-") == 0;
	FILE *out = is_stdout ? stderr : stdout;
	char packets[FORMAT_TEXT], bytes[FORMAT_TEXT], dropped[FORMAT_TEXT];
	if (o->is_json) {
		json_dumpf(done, out, JSON_COMPACT);
		fprintf(out, "\n");
		return;
	}
	fprintf(out, "%s packets, %s, in %s; %s more found no room\n",
		format_count(packets, show_number(done, "packets")),
		format_bytes(bytes, (double)show_number(done, "bytes")),
		is_stdout ? "standard output" : o->words[2],
		format_count(dropped, show_number(done, "dropped")));
}

enum exit_code capture_run(const struct options *o)
{
	struct ops_request request;
	struct client_failure f = {.code = EXIT_CODE_OK};
	struct client c;
	enum exit_code code;
	if (!make_request(&request, o, &f))
		return commands_fail(o, &f);
	if (!commands_open(o, &c, &code))
		return code;
	json_t *reply = client_send(&c, &request, &f) ? client_reply(&c, &f) : NULL;
	json_t *done = NULL;
	int fd = reply != NULL ? open_file(o->words[2], &f) : -1;
	if (fd >= 0)
		done = receive(&c, fd, (int)(request.seconds + GRACE_S) * MS_PER_S, &f);
	client_close(&c);
	json_decref(reply);
	if (fd >= 0 && fd != STDOUT_FILENO && close(fd) != 0 && done != NULL) {
		fail(&f, "file", "%s: %s", o->words[2], strerror(errno));
		json_decref(done);
		done = NULL;
	}
	if (done == NULL)
		return commands_fail(o, &f);
	print_done(o, done);
	json_decref(done);
	return EXIT_CODE_OK;
}
