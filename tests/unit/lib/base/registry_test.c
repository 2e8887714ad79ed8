#include "lib/base/registry.h"

#include <ctype.h>
#include <string.h>

#include "tests/unit/unit.h"

/* the queues of the contract, with their capacities and what happens when they are full. */
static void queues_are_the_contract(void)
{
	static const struct {
		enum queue_id id;
		const char *name;
		uint32_t capacity;
		enum queue_policy policy;
	} cases[] = {
		{QUEUE_GATEWAY_WORK, "gateway.work", 512, QUEUE_POLICY_REJECT},
		{QUEUE_INDEX_WORK, "index.work", 512, QUEUE_POLICY_REJECT},
		{QUEUE_DHT_WORK, "dht.work", 512, QUEUE_POLICY_REJECT},
		{QUEUE_STORAGE_WORK, "storage.work", 512, QUEUE_POLICY_REJECT},
		{QUEUE_EDGE_WORK, "edge.work", 512, QUEUE_POLICY_REJECT},
		{QUEUE_DHT_ROUTE, "dht.route[bucket]", 1024, QUEUE_POLICY_BUDGET},
		{QUEUE_STORAGE_REPAIR, "storage.repair", 256, QUEUE_POLICY_SKIP},
		{QUEUE_EVENTS, "events", 1024, QUEUE_POLICY_OVERWRITE},
		{QUEUE_CONFIG, "config", 1, QUEUE_POLICY_LAST_WRITE},
		{QUEUE_SHUTDOWN, "shutdown", 1, QUEUE_POLICY_LAST_WRITE},
	};
	for (unsigned i = 0; i < ARRAY_LEN(cases); i++) {
		const struct queue_info *q = &queue_infos[cases[i].id];
		CU_ASSERT_STRING_EQUAL(q->name, cases[i].name);
		CU_ASSERT_EQUAL(q->capacity, cases[i].capacity);
		CU_ASSERT_EQUAL(q->policy, cases[i].policy);
	}
}

static void queues_are_whole(void)
{
	static const char *const names[] = {
		"reject", "skip", "budget", "overwrite", "last_write", "reserved"};
	for (unsigned i = 0; i < QUEUE_COUNT; i++) {
		const struct queue_info *q = &queue_infos[i];
		CU_ASSERT(q->capacity > 0 && q->owner[0] && q->producers[0] && q->consumers[0]);
		CU_ASSERT(q->metric[0]);
		CU_ASSERT_STRING_EQUAL(q->policy_name, names[q->policy]);
		for (unsigned j = 0; j < i; j++)
			CU_ASSERT(strcmp(q->name, queue_infos[j].name) != 0);
	}
}

/* each error has a status and a code that is fit for a JSON string and a client's switch. */
static void errors_are_whole(void)
{
	CU_ASSERT_EQUAL(err_infos[ERR_NONE].status, 0);
	for (unsigned i = ERR_NONE + 1; i < ERR_COUNT; i++) {
		CU_ASSERT(err_infos[i].status >= 400 && err_infos[i].status < 600);
		for (const char *c = err_infos[i].code; *c; c++)
			CU_ASSERT(islower((unsigned char)*c) || *c == '_');
		for (const char *c = err_infos[i].message; *c; c++)
			CU_ASSERT(isprint((unsigned char)*c) && *c != '"' && *c != '\\');
	}
	CU_ASSERT_EQUAL(err_infos[ERR_BUSY].status, 429);
	CU_ASSERT_STRING_EQUAL(err_infos[ERR_BUSY].code, "busy");
	CU_ASSERT_EQUAL(err_infos[ERR_STORAGE_FULL].status, 507);
}

static void limits_match_their_constants(void)
{
	unsigned found = 0;
	for (unsigned i = 0; i < limit_count; i++) {
		CU_ASSERT(limit_infos[i].unit[0] && limit_infos[i].when_hit[0] &&
			  limit_infos[i].why[0]);
		if (strcmp(limit_infos[i].name, "BODY_BYTES") == 0) {
			CU_ASSERT_EQUAL(limit_infos[i].value, LIMIT_BODY_BYTES);
			CU_ASSERT_EQUAL(limit_infos[i].value, 1048576); /* */
			found++;
		}
	}
	CU_ASSERT_EQUAL(found, 1);
}

/* reasons are metric labels: bounded, and each one different. */
static void reasons_differ(void)
{
	for (unsigned i = 0; i < REASON_COUNT; i++) {
		CU_ASSERT(reason_infos[i].meaning[0] != '\0');
		for (unsigned j = 0; j < i; j++)
			CU_ASSERT(strcmp(reason_infos[i].label, reason_infos[j].label) != 0);
	}
	CU_ASSERT_STRING_EQUAL(reason_infos[REASON_CONN_CAP].label, "conn_cap");
}

static const struct unit_case cases[] = {
	{"queues are the contract's", queues_are_the_contract},
	{"queues are whole", queues_are_whole},
	{"errors are whole", errors_are_whole},
	{"limits match their constants", limits_match_their_constants},
	{"reasons differ", reasons_differ},
};

UNIT_MAIN("base.registry", cases)
