/* ops_command: does what a request asks and makes the reply line. Commands that need time or go on
 * (conns, events, capture) are the server's; all others are answered here at once. */
#ifndef CONTROLPLANE_OPS_OPS_COMMAND_H
#define CONTROLPLANE_OPS_OPS_COMMAND_H

#include "controlplane/audit/audit.h"
#include "controlplane/ops/ops_view.h"
#include "lib/ops/ops_request.h"

/* The reply line of any command but conns, events and capture; the caller frees it. A mutation leaves exactly
 * one audit record, whatever its outcome. NULL when memory is short. */
char *ops_command_run(
	const struct ops_env *env, const struct ops_request *request, const struct audit_who *who);

/* Reply lines. `take_data` is consumed; NULL data, or more than LIMIT_OPS_REPLY_BYTES, becomes an
 * error line. */
char *ops_command_ok(json_t *take_data);
char *ops_command_refused(const struct ops_refusal *why);
/* Any other line of the stream. */
char *ops_command_line(json_t *take_line);

#endif
