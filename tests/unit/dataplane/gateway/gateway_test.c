/* The routing table (G-2) and what the node says about itself. */
#include "dataplane/gateway/gateway.h"

#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "tests/unit/dataplane/http/http_rig.h"

static struct rig rig;
static struct storage *st;
static struct gateway *gw;

static void start(void)
{
	char why[128];
	rig_init(&rig);
	rig.conf.storage_slab_bytes = 64 * LIMIT_CHUNK_BYTES;
	MUST(storage_open(&st, &rig.conf, why, sizeof(why)) == 0);
	MUST(gateway_open(&gw, st, rig.seg) == 0);
	struct http_blocks blocks = storage_blocks(st);
	rig_start(&rig,
		&(struct rig_conf){.route = gateway_route, .route_ctx = gw, .blocks = &blocks});
}

static void end(void)
{
	rig_fini(&rig);
	gateway_close(gw);
	storage_close(st);
}

static struct rig_reply ask(struct rig_conn *c, const char *method, const char *path)
{
	char request[256];
	snprintf(request, sizeof(request), "%s %s HTTP/1.1\r\nHost: a\r\n\r\n", method, path);
	return rig_ask(c, method, request);
}

static void test_routes(void)
{
	static const struct {
		const char *path;
		enum label_route label;
		uint32_t prefix;
		bool is_priority;
	} cases[] = {
		{"/o", LABEL_ROUTE_OBJECT, 2, false},
		{"/o/", LABEL_ROUTE_OBJECT, 2, false},
		{"/o/b3:x", LABEL_ROUTE_OBJECT, 2, false},
		{"/v1/o", LABEL_ROUTE_OBJECT, 5, false},
		{"/v1/o/b3:x", LABEL_ROUTE_OBJECT, 5, false},
		{"/healthz", LABEL_ROUTE_HEALTHZ, 8, true},
		{"/readyz", LABEL_ROUTE_READYZ, 7, true},
		{"/version", LABEL_ROUTE_VERSION, 8, true},
		{"/", LABEL_ROUTE_OTHER, 0, false},
		{"", LABEL_ROUTE_OTHER, 0, false},
		{"*", LABEL_ROUTE_OTHER, 0, false},
		{"/oo", LABEL_ROUTE_OTHER, 0, false},
		{"/O", LABEL_ROUTE_OTHER, 0, false},
		{"/v1", LABEL_ROUTE_OTHER, 0, false},
		{"/v1/", LABEL_ROUTE_OTHER, 0, false},
		{"/v1/ox", LABEL_ROUTE_OTHER, 0, false},
		{"/healthz/", LABEL_ROUTE_OTHER, 0, false},
		{"/healthzz", LABEL_ROUTE_OTHER, 0, false},
		{"/health", LABEL_ROUTE_OTHER, 0, false},
	};
	start();
	for (unsigned i = 0; i < ARRAY_LEN(cases); i++) {
		const char *path = cases[i].path;
		const struct http_route *route =
			gateway_route(gw, (struct span){(const uint8_t *)path, strlen(path)});
		CU_ASSERT_PTR_NOT_NULL_FATAL(route);
		CU_ASSERT_EQUAL(route->label, cases[i].label);
		CU_ASSERT_EQUAL(route->prefix_bytes, cases[i].prefix);
		CU_ASSERT_EQUAL(route->is_priority, cases[i].is_priority);
	}
	end();
}

/* G-2: unknown path 404, known path with another method 405 and Allow, unknown method 501. */
static void test_refusals(void)
{
	static const struct {
		const char *method, *path;
		int status;
		const char *code, *allow;
	} cases[] = {
		{"GET", "/nothing", 404, "not_found", NULL},
		{"PATCH", "/nothing", 404, "not_found", NULL},
		{"DELETE", "/o", 405, "method_not_allowed", "POST"},
		{"GET", "/v1/o", 405, "method_not_allowed", "POST"},
		{"POST", "/o/b3:x", 405, "method_not_allowed", "GET, HEAD, PUT"},
		{"POST", "/healthz", 405, "method_not_allowed", "GET, HEAD"},
		{"PUT", "/version", 405, "method_not_allowed", "GET, HEAD"},
		{"BREW", "/o", 501, "not_implemented", NULL},
		{"BREW", "/nothing", 501, "not_implemented", NULL},
	};
	start();
	struct rig_conn *c = rig_connect(&rig);
	for (unsigned i = 0; i < ARRAY_LEN(cases); i++) {
		struct rig_reply reply = ask(c, cases[i].method, cases[i].path);
		rig_check_error(&reply, cases[i].status, cases[i].code);
		const char *allow = rig_field(&reply, "Allow");
		CU_ASSERT_EQUAL(allow != NULL, cases[i].allow != NULL);
		if (allow != NULL && cases[i].allow != NULL)
			CU_ASSERT_STRING_EQUAL(allow, cases[i].allow);
		CU_ASSERT_STRING_EQUAL(rig_field(&reply, "Referrer-Policy"), "no-referrer");
		CU_ASSERT_STRING_EQUAL(rig_field(&reply, "X-Content-Type-Options"), "nosniff");
	}
	end();
}

/* Both prefixes lead to the same objects. */
static void test_objects(void)
{
	start();
	struct rig_conn *c = rig_connect(&rig);
	struct rig_reply reply = rig_ask(
		c, "POST", "POST /v1/o HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc");
	CU_ASSERT_EQUAL(reply.status, 201);
	char path[128];
	snprintf(path, sizeof(path), "%s", rig_field(&reply, "Location"));
	reply = ask(c, "GET", path);
	CU_ASSERT(reply.status == 200 && reply.body_len == 3 && memcmp(reply.body, "abc", 3) == 0);
	memmove(path + 3, path, strlen(path) + 1);
	memcpy(path, "/v1", 3);
	CU_ASSERT_EQUAL(ask(c, "GET", path).status, 200);
	end();
}

static json_t *body_of(const struct rig_reply *reply)
{
	json_t *json = json_loadb(
		(const char *)reply->body, reply->body_len, JSON_REJECT_DUPLICATES, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(json);
	CU_ASSERT_STRING_EQUAL(rig_field(reply, "Content-Type"), "application/json");
	return json;
}

static void test_version(void)
{
	const char *version, *commit, *build;
	start();
	struct rig_conn *c = rig_connect(&rig);
	struct rig_reply reply = ask(c, "GET", "/version");
	CU_ASSERT_EQUAL(reply.status, 200);
	json_t *json = body_of(&reply);
	CU_ASSERT_EQUAL(json_unpack_ex(json, NULL, JSON_STRICT, "{s:s,s:s,s:s}", "version",
				&version, "commit", &commit, "build", &build),
		0);
	CU_ASSERT(strlen(version) > 0 && strlen(commit) > 0 && strlen(build) > 0);
	json_decref(json);
	CU_ASSERT_EQUAL(ask(c, "HEAD", "/version").status, 200);
	CU_ASSERT_EQUAL(c->wire_read, c->wire_len);
	end();
}

struct readiness {
	int status;
	bool is_ready, is_degraded;
	char missing[128], reasons[128];
};

static void join(json_t *list, char out[128])
{
	out[0] = '\0';
	for (size_t i = 0; i < json_array_size(list); i++)
		snprintf(out + strlen(out), 128 - strlen(out), "%s;",
			json_string_value(json_array_get(list, i)));
}

static struct readiness readiness(struct rig_conn *c)
{
	struct readiness r = {0};
	int ready, degraded;
	json_t *missing, *reasons;
	struct rig_reply reply = ask(c, "GET", "/readyz");
	r.status = reply.status;
	CU_ASSERT_EQUAL(rig_field(&reply, "Retry-After") != NULL, r.status == 503);
	json_t *json = body_of(&reply);
	CU_ASSERT_EQUAL_FATAL(
		json_unpack_ex(json, NULL, JSON_STRICT, "{s:b,s:b,s:o,s:o}", "ready", &ready,
			"degraded", &degraded, "missing", &missing, "reasons", &reasons),
		0);
	r.is_ready = ready;
	r.is_degraded = degraded;
	join(missing, r.missing);
	join(reasons, r.reasons);
	json_decref(json);
	return r;
}

/* readiness is what the main thread last published. */
static void test_ready(void)
{
	struct seg_ready state = {.ready = 1};
	start();
	struct rig_conn *c = rig_connect(&rig);
	struct readiness r = readiness(c);
	CU_ASSERT(r.status == 503 && !r.is_ready);
	CU_ASSERT_STRING_EQUAL(r.missing, "dataplane;");
	snap_publish(seg_ready(rig.seg), &state);
	r = readiness(c);
	CU_ASSERT(r.status == 200 && r.is_ready && !r.is_degraded);
	CU_ASSERT_STRING_EQUAL(r.missing, "");
	state.degraded = 1;
	state.reason_count = 2;
	strcpy(state.reasons[0], "the store is \"full\"");
	strcpy(state.reasons[1], "control plane gone");
	snap_publish(seg_ready(rig.seg), &state);
	r = readiness(c);
	CU_ASSERT(r.status == 200 && r.is_ready && r.is_degraded);
	CU_ASSERT_STRING_EQUAL(r.reasons, "the store is \"full\";control plane gone;");
	/* As much as there can be is still a whole JSON text. */
	state.ready = 0;
	state.missing_count = state.reason_count = READY_MISSING_MAX;
	memset(state.missing, '\n', sizeof(state.missing));
	memset(state.reasons, '\n', sizeof(state.reasons));
	snap_publish(seg_ready(rig.seg), &state);
	CU_ASSERT_EQUAL(readiness(c).status, 503);
	end();
}

/* while draining, liveness stays 200, readiness turns at once, and the rest is refused. */
static void test_draining(void)
{
	struct seg_ready state = {.ready = 1};
	start();
	snap_publish(seg_ready(rig.seg), &state);
	CU_ASSERT_EQUAL(ask(rig_connect(&rig), "GET", "/readyz").status, 200);
	http_server_drain(rig.server);
	struct rig_reply reply = ask(rig_connect(&rig), "GET", "/healthz");
	CU_ASSERT_EQUAL(reply.status, 200);
	struct readiness r = readiness(rig_connect(&rig));
	CU_ASSERT(r.status == 503 && !r.is_ready);
	CU_ASSERT_STRING_EQUAL(r.reasons, "draining;");
	/* once, also when the main thread has said so too */
	state = (struct seg_ready){.degraded = 1, .reason_count = 1, .reasons = {"draining"}};
	snap_publish(seg_ready(rig.seg), &state);
	r = readiness(rig_connect(&rig));
	CU_ASSERT_STRING_EQUAL(r.reasons, "draining;");
	reply = ask(rig_connect(&rig), "GET", "/o/b3:x");
	rig_check_error(&reply, 503, "draining");
	end();
}

static const struct unit_case cases[] = {
	{"routes", test_routes},
	{"refusals", test_refusals},
	{"objects", test_objects},
	{"version", test_version},
	{"ready", test_ready},
	{"draining", test_draining},
};

UNIT_MAIN("gateway", cases)
