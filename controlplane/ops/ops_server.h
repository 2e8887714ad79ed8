/* ops_server: the clients of the ops socket (N-4): one JSON line asks, one JSON line answers; events
 * may follow.
 *
 *   reading --request--> (answered at once) --> reading
 *           --conns----> asking ---answer or deadline---> reading
 *           --events follow--> following ... until the client goes
 *           --capture--> capturing ... until it is over or the client goes --> reading
 *
 * Owner:  the control plane's main thread; nothing here blocks.
 * Bounds: LIMIT_OPS_CLIENTS clients; one request line and one reply each. The next request is not read,
 *         and the next event not taken, before the last reply has left: a slow follower loses events
 *         and is told how many.
 * Cut:    a client that takes longer than LIMIT_OPS_IDLE_MS to ask, or to take its answer. */
#ifndef CONTROLPLANE_OPS_OPS_SERVER_H
#define CONTROLPLANE_OPS_OPS_SERVER_H

#include "controlplane/bus/bus.h"
#include "controlplane/loop/loop.h"
#include "controlplane/ops/ops_capture.h"
#include "controlplane/ops/ops_command.h"
#include "controlplane/ops/ops_socket.h"
#include "lib/ops/ops_line.h"

enum ops_client_state {
	OPS_CLIENT_FREE,
	OPS_CLIENT_READING,
	OPS_CLIENT_ASKING,
	OPS_CLIENT_FOLLOWING,
	OPS_CLIENT_CAPTURING
};

struct ops_server;

struct ops_client {
	struct loop_source source;
	struct ops_server *server;
	enum ops_client_state state;
	bool is_eof;	 /* it will ask nothing more */
	bool is_closing; /* after the reply that is on its way */
	uint32_t interest;
	struct audit_who who;
	uint64_t since_ns; /* when it was last served, or took some of its answer */
	struct ops_line in;
	char *out; /* the reply on its way, or NULL */
	size_t out_len;
	size_t out_sent;
	struct ops_request request; /* asking */
	uint64_t question; /* asking: its number; 0: not put yet, another client's is under way */
	uint64_t deadline_ns;	     /* asking */
	struct events_cursor cursor; /* following */
	bool is_due;		     /* capturing: one chunk a poll */
};

struct ops_server {
	struct loop *loop;
	struct loop_source listener;
	struct loop_timer poll; /* runs while somebody asks or follows */
	struct ops_env env;
	struct ops_socket socket;
	struct bus_lag lag;
	struct ops_capture capture; /* of the client that is capturing */
	struct ops_client clients[LIMIT_OPS_CLIENTS];
};

/* Returns 0, or -errno with one line in `why`. */
CHECKED int ops_server_init(struct ops_server *s, struct loop *loop, const struct ops_env *env,
	char *why, size_t why_size);
void ops_server_fini(struct ops_server *s);

/* Timeouts and warnings; called with each heartbeat. */
void ops_server_tick(struct ops_server *s, uint64_t now_ns);

/* How many events the slowest follower has yet to read. */
uint64_t ops_server_events_lag(const struct ops_server *s);

#endif
