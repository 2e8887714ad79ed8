/* ops_request: what may be asked over the ops socket, and how it is written.
 *
 *   request   {"cmd": "conns", "args": {"lcore": 0, "cursor": 0}}\n         one line, "args" optional
 *   reply     {"ok": true, "data": ...}\n
 *             {"ok": false, "error": code, "message": text, ...}\n
 *   follow    after the reply to events with "follow": {"event": {...}}\n or {"lost": N}\n per line
 *   capture   after its reply: {"bytes": N}\n and N bytes of a pcapng file, again and again, then {"done": {...}}\n
 *
 * Strict: an unknown command, key, type or value is refused by name. Both sides use this file, so
 * they cannot disagree. Pure: no I/O. */
#ifndef LIB_OPS_OPS_REQUEST_H
#define LIB_OPS_OPS_REQUEST_H

#include "lib/base/registry.h"

/* OPS(ID, name, arguments, is it a mutation) */
#define OPS_COMMANDS(OPS) \
	OPS(STATUS, "status", 0, false) \
	OPS(QUEUES, "queues", 0, false) \
	OPS(LCORES, "lcores", 0, false) \
	OPS(CONNS, "conns", OPS_ARG_LCORE | OPS_ARG_CURSOR, false) \
	OPS(EVENTS, "events", OPS_ARG_COUNT | OPS_ARG_FOLLOW, false) \
	OPS(CONFIG_SHOW, "config.show", 0, false) \
	OPS(CONFIG_DIFF, "config.diff", 0, false) \
	OPS(RELOAD, "reload", 0, true) \
	OPS(DRAIN, "drain", 0, true) \
	OPS(CAPTURE, "capture", OPS_ARG_CAPTURE, true)

enum ops_arg {
	OPS_ARG_LCORE = 1,
	OPS_ARG_CURSOR = 2,
	OPS_ARG_COUNT = 4,
	OPS_ARG_FOLLOW = 8,
	OPS_ARG_CAPTURE = 16, /* port, seconds, packets, filter */
};

enum ops_command {
#define OPS(id, ...) OPS_##id,
	OPS_COMMANDS(OPS)
#undef OPS
		OPS_COMMAND_COUNT
};

struct ops_command_info {
	const char *name;
	unsigned args; /* enum ops_arg */
	bool is_mutation;
};
extern const struct ops_command_info ops_command_infos[OPS_COMMAND_COUNT];

enum {
	OPS_EVENTS_DEFAULT = 20,
	OPS_CAPTURE_SECONDS = 10,
	OPS_CAPTURE_PACKETS = 100000,
	OPS_PORT_TEXT = 160,
	OPS_FILTER_TEXT = 128,
};

struct ops_request {
	enum ops_command command;
	uint32_t lcore;	  /* conns: below LIMIT_LCORES */
	uint32_t cursor;  /* conns: where the page begins; 0 at first, then what the reply said */
	uint32_t count;	  /* events: how many of the last; at most QUEUE_CAPACITY_EVENTS */
	bool follow;	  /* events: go on as they come */
	uint32_t seconds; /* capture: from 1 to LIMIT_CAPTURE_S */
	uint32_t packets; /* capture: from 1 to LIMIT_CAPTURE_PACKETS */
	char port[OPS_PORT_TEXT];     /* capture: a number, a device, or "all" */
	char filter[OPS_FILTER_TEXT]; /* capture: lib/shm/capture_filter.h; empty: everything */
};

/* Why a request is refused: the code for programs, the message for people. Plain ASCII. */
struct ops_refusal {
	const char *error;
	char message[192];
};

/* Reads one line (without its newline). Returns true, or false with `why` filled. */
CHECKED bool ops_request_parse(
	struct ops_request *out, const char *line, size_t len, struct ops_refusal *why);

/* Writes the line with its newline. Returns its length; `size` of LIMIT_OPS_REQUEST_BYTES always
 * suffices. */
size_t ops_request_print(const struct ops_request *r, char *out, size_t size);

void ops_refuse(struct ops_refusal *why, const char *error, const char *fmt, ...) PRINTF_LIKE(3, 4);

#endif
