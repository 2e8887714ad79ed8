#include "lib/base/registry.h"

const struct limit_info limit_infos[] = {
#define LIMIT(id, value, unit, when_hit, why) {#id, (value), unit, when_hit, why},
#include "config/limits.def"
#undef LIMIT
};
const unsigned limit_count = ARRAY_LEN(limit_infos);

#define POLICY_NAME_REJECT     "reject"
#define POLICY_NAME_SKIP       "skip"
#define POLICY_NAME_BUDGET     "budget"
#define POLICY_NAME_OVERWRITE  "overwrite"
#define POLICY_NAME_LAST_WRITE "last_write"
#define POLICY_NAME_RESERVED   "reserved"

const struct queue_info queue_infos[QUEUE_COUNT] = {
#define QUEUE(id, name, owner, producers, consumers, capacity, policy, metric) \
	{name, owner, producers, consumers, (capacity), QUEUE_POLICY_##policy, \
		POLICY_NAME_##policy, metric},
#include "config/queues.def"
#undef QUEUE
};

const struct err_info err_infos[ERR_COUNT] = {
	[ERR_NONE] = {0, "none", "no error"},
#define ERROR(id, status, code, message) {(status), code, message},
#include "config/errors.def"
#undef ERROR
};

const struct reason_info reason_infos[REASON_COUNT] = {
#define REASON(id, label, meaning) {label, meaning},
#include "config/reasons.def"
#undef REASON
};
