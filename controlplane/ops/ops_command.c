#include "controlplane/ops/ops_command.h"

#include <stdlib.h>
#include <string.h>

#include "lib/log/log.h"

char *ops_command_line(json_t *take_line)
{
	char *text = take_line != NULL ? json_dumps(take_line, JSON_COMPACT) : NULL;
	json_decref(take_line);
	size_t len = text != NULL ? strlen(text) : 0;
	char *line = text != NULL && len < LIMIT_OPS_REPLY_BYTES ? malloc(len + 2) : NULL;
	if (line != NULL) {
		memcpy(line, text, len);
		memcpy(line + len, "\n", 2);
	}
	free(text);
	return line;
}

static char *refused_with(const struct ops_refusal *why, json_t *take_errors)
{
	json_t *reply = json_pack(
		"{s:b, s:s, s:s}", "ok", false, "error", why->error, "message", why->message);
	if (take_errors != NULL)
		json_object_set_new(reply, "errors", take_errors);
	return ops_command_line(reply);
}

char *ops_command_refused(const struct ops_refusal *why)
{
	return refused_with(why, NULL);
}

char *ops_command_ok(json_t *take_data)
{
	char *line = ops_command_line(json_pack("{s:b, s:o}", "ok", true, "data", take_data));
	if (line != NULL)
		return line;
	struct ops_refusal why;
	ops_refuse(&why, "too_large", "the reply is over %d bytes", (int)LIMIT_OPS_REPLY_BYTES);
	return ops_command_refused(&why);
}

/* The refusal of a configuration that cannot be used. */
static char *refused_config(const struct running_change *change, const char **outcome)
{
	struct ops_refusal why;
	bool is_bad = change->verdict == RUNNING_BAD;
	ops_refuse(&why, is_bad ? "bad_config" : "needs_restart",
		is_bad ? "the configuration is wrong; the running one stays"
		       : "a changed key needs a restart; the running configuration stays");
	*outcome = why.error;
	return refused_with(&why, ops_view_errors(&change->errors));
}

static char *run_reload(const struct ops_env *env, const char **outcome)
{
	struct running_change change;
	running_reload(env->running, env->seg, &change);
	if (change.verdict == RUNNING_BAD || change.verdict == RUNNING_RESTART)
		return refused_config(&change, outcome);
	json_t *keys = json_array();
	for (unsigned i = 0; i < change.count; i++) {
		const struct conf_key *k = &conf_keys[change.keys[i]];
		json_array_append_new(keys, json_sprintf("%s.%s", k->section, k->key));
	}
	return ops_command_ok(json_pack(
		"{s:o, s:I}", "changed", keys, "version", (json_int_t)env->running->version));
}

static char *run_drain(const struct ops_env *env, const char **outcome)
{
	struct ops_refusal why;
	if (!seg_is_alive(env->seg, SHM_DATAPLANE)) {
		ops_refuse(&why, "dataplane_down", "the data plane is not running");
		*outcome = why.error;
		return ops_command_refused(&why);
	}
	const struct seg_heart *heart = &env->seg->hearts[SHM_DATAPLANE];
	uint64_t generation = __atomic_load_n(&heart->generation, __ATOMIC_ACQUIRE);
	__atomic_store_n(&env->seg->shutdown.requested_generation, generation, __ATOMIC_RELEASE);
	return ops_command_ok(json_pack(
		"{s:I, s:i}", "generation", (json_int_t)generation, "pid", (int)heart->pid));
}

static char *run_diff(const struct ops_env *env)
{
	struct conf next;
	struct running_change change;
	const char *outcome;
	running_diff(env->running, &next, &change);
	if (change.verdict == RUNNING_BAD)
		return refused_config(&change, &outcome);
	return ops_command_ok(ops_view_diff(&env->running->conf, &next, &change));
}

char *ops_command_run(
	const struct ops_env *env, const struct ops_request *request, const struct audit_who *who)
{
	const char *outcome = "ok";
	char *line = NULL;
	switch (request->command) {
	case OPS_STATUS:
		line = ops_command_ok(ops_view_status(env));
		break;
	case OPS_QUEUES:
		line = ops_command_ok(ops_view_queues(env));
		break;
	case OPS_LCORES:
		line = ops_command_ok(ops_view_lcores(env));
		break;
	case OPS_CONFIG_SHOW:
		line = ops_command_ok(ops_view_config(env));
		break;
	case OPS_CONFIG_DIFF:
		line = run_diff(env);
		break;
	case OPS_RELOAD:
		line = run_reload(env, &outcome);
		break;
	case OPS_DRAIN:
		line = run_drain(env, &outcome);
		break;
	case OPS_CONNS:
	case OPS_EVENTS:
	case OPS_CAPTURE:
	case OPS_COMMAND_COUNT:
		MUST(!"the server's own commands");
	}
	if (ops_command_infos[request->command].is_mutation)
		audit_record(env->seg, who, ops_command_infos[request->command].name, outcome);
	return line;
}
