/* ops_view: the node as JSON documents, as `millctl --json` shows them. Each returns a new reference,
 * NULL when memory is short. Sizes are bounded by the registries. */
#ifndef CONTROLPLANE_OPS_OPS_VIEW_H
#define CONTROLPLANE_OPS_OPS_VIEW_H

#include <jansson.h>

#include "controlplane/conf/running.h"
#include "controlplane/metrics/exporter.h"
#include "controlplane/metrics/sample.h"
#include "controlplane/ops/ask.h"

/* What the documents are made from. */
struct ops_env {
	struct seg *seg;
	struct running *running;
	const struct sample *sample;
	const struct exporter *exporter;
};

json_t *ops_view_status(const struct ops_env *env);
json_t *ops_view_queues(const struct ops_env *env);
json_t *ops_view_lcores(const struct ops_env *env);
json_t *ops_view_conns(unsigned lcore, unsigned lcores, const struct ask_page *page);
json_t *ops_view_event(const struct event *event);
json_t *ops_view_config(const struct ops_env *env);
json_t *ops_view_diff(
	const struct conf *running, const struct conf *next, const struct running_change *change);
json_t *ops_view_errors(const struct conf_errors *errors);

#endif
