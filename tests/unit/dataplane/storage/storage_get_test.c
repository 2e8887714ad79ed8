/* Reading (S-1): statuses, fields, conditions, and every shape of a range against an oracle. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/dataplane/storage/storage_rig.h"

static struct storage_rig sr;
static uint8_t data[200000];

static void start(void)
{
	storage_rig_start(&sr, 64 * LIMIT_CHUNK_BYTES);
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 31 + i / 253);
}

/* Stores the first `len` bytes and gives their address. */
static void store(struct rig_conn *c, size_t len, char address[B3_TEXT + 1])
{
	storage_rig_address(address, data, len);
	CU_ASSERT_EQUAL_FATAL(storage_rig_write(c, NULL, "", data, len).status, 201);
}

/* S-1. */
static void test_fields(void)
{
	static const char *const methods[] = {"GET", "HEAD"};
	char address[B3_TEXT + 1], etag[B3_TEXT + 3];
	start();
	struct rig_conn *c = rig_connect(&sr.rig);
	store(c, 100000, address);
	snprintf(etag, sizeof(etag), "\"%s\"", address);
	for (unsigned i = 0; i < 2; i++) {
		struct rig_reply reply = storage_rig_read(c, methods[i], address, "");
		CU_ASSERT_EQUAL(reply.status, 200);
		CU_ASSERT_STRING_EQUAL(rig_field(&reply, "ETag"), etag);
		CU_ASSERT_STRING_EQUAL(rig_field(&reply, "Content-Length"), "100000");
		CU_ASSERT_STRING_EQUAL(rig_field(&reply, "Accept-Ranges"), "bytes");
		CU_ASSERT_STRING_EQUAL(rig_field(&reply, "Vary"), "Accept-Encoding");
		CU_ASSERT_STRING_EQUAL(
			rig_field(&reply, "Cache-Control"), "public, max-age=31536000, immutable");
		CU_ASSERT_STRING_EQUAL(
			rig_field(&reply, "Content-Type"), "application/octet-stream");
		CU_ASSERT_EQUAL(reply.body_len, i == 0 ? 100000 : 0);
		CU_ASSERT(i == 1 || memcmp(reply.body, data, 100000) == 0);
	}
	storage_rig_fini(&sr);
}

static void test_refused(void)
{
	static const char hex63[] =
		"b3:012345678901234567890123456789012345678901234567890123456789012";
	char address[B3_TEXT + 1], text[128];
	start();
	struct rig_conn *c = rig_connect(&sr.rig);
	storage_rig_address(address, "absent", 6);
	struct rig_reply reply = storage_rig_read(c, "GET", address, "");
	rig_check_error(&reply, 404, "not_found");
	CU_ASSERT_EQUAL(storage_rig_read(c, "HEAD", address, "").status, 404);
	reply = storage_rig_read(c, "GET", hex63, "");
	rig_check_error(&reply, 400, "bad_request");
	snprintf(text, sizeof(text), "%s0/x", hex63);
	reply = storage_rig_read(c, "GET", text, "");
	rig_check_error(&reply, 400, "bad_request");
	address[5] = 'A';
	reply = storage_rig_read(c, "GET", address, "");
	rig_check_error(&reply, 400, "bad_request");
	reply = storage_rig_read(c, "GET", "", "");
	rig_check_error(&reply, 400, "bad_request");
	reply = rig_ask(c, "GET", "GET /o HTTP/1.1\r\nHost: a\r\n\r\n");
	rig_check_error(&reply, 405, "method_not_allowed");
	CU_ASSERT_STRING_EQUAL(rig_field(&reply, "Allow"), "POST");
	reply = storage_rig_read(c, "DELETE", address, "");
	rig_check_error(&reply, 405, "method_not_allowed");
	CU_ASSERT_STRING_EQUAL(rig_field(&reply, "Allow"), "GET, HEAD, PUT");
	storage_rig_address(address, "absent", 6);
	reply = storage_rig_read(c, "GET", address, "Content-Length: 1\r\n");
	rig_check_error(&reply, 400, "bad_request");
	storage_rig_fini(&sr);
}

/* S-1: If-None-Match, If-Match, If-Range. %s is the object's tag. */
static void test_conditions(void)
{
	static const struct {
		const char *fields;
		int status;
	} cases[] = {
		{"If-None-Match: \"%s\"\r\n", 304},
		{"If-None-Match: W/\"%s\"\r\n", 304},
		{"If-None-Match: \"other\", \"%s\"\r\n", 304},
		{"If-None-Match: *\r\n", 304},
		{"If-None-Match: \"other\"\r\n", 200},
		{"If-Match: \"%s\"\r\n", 200},
		{"If-Match: *\r\n", 200},
		{"If-Match: \"other\"\r\n", 412},
		{"If-Match: \"other\"\r\nIf-None-Match: \"%s\"\r\n", 412},
		{"Range: bytes=0-9\r\nIf-Range: \"%s\"\r\n", 206},
		{"Range: bytes=0-9\r\nIf-Range: \"other\"\r\n", 200},
		{"Range: bytes=0-9\r\nIf-Range: W/\"%s\"\r\n", 200},
		{"Range: bytes=0-9\r\nIf-None-Match: \"%s\"\r\n", 304},
		{"Range: bytes=5000-\r\nIf-Match: \"other\"\r\n", 412},
	};
	char address[B3_TEXT + 1], fields[512];
	start();
	struct rig_conn *c = rig_connect(&sr.rig);
	store(c, 1000, address);
	for (unsigned i = 0; i < ARRAY_LEN(cases); i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		snprintf(fields, sizeof(fields), cases[i].fields, address);
#pragma GCC diagnostic pop
		struct rig_reply reply = storage_rig_read(c, "GET", address, fields);
		if (reply.status != cases[i].status)
			printf("case %u: %d\n", i, reply.status);
		CU_ASSERT_EQUAL(reply.status, cases[i].status);
		if (reply.status == 304) {
			CU_ASSERT_PTR_NOT_NULL(rig_field(&reply, "ETag"));
			CU_ASSERT_PTR_NOT_NULL(rig_field(&reply, "Cache-Control"));
			CU_ASSERT_EQUAL(c->wire_read, c->wire_len);
		}
		if (reply.status == 412)
			rig_check_error(&reply, 412, "precondition_failed");
	}
	storage_rig_fini(&sr);
}

/* What a single range means, from RFC 9110 14.1.2 alone: first < 0 is a suffix, last < 0 is open. */
static bool oracle(int64_t first, int64_t last, int64_t length, int64_t *from, int64_t *to)
{
	if (first < 0) {
		*from = last > length ? 0 : length - last;
		*to = length - 1;
		return last > 0 && length > 0;
	}
	*from = first;
	*to = last < 0 || last >= length ? length - 1 : last;
	return first < length;
}

static void check_range(
	struct rig_conn *c, const char *address, int64_t length, int64_t first, int64_t last)
{
	char fields[128], want[96];
	int64_t from, to;
	bool is_ok = oracle(first, last, length, &from, &to);
	if (first < 0)
		snprintf(fields, sizeof(fields), "Range: bytes=-%lld\r\n", (long long)last);
	else if (last < 0)
		snprintf(fields, sizeof(fields), "Range: bytes=%lld-\r\n", (long long)first);
	else
		snprintf(fields, sizeof(fields), "Range: bytes=%lld-%lld\r\n", (long long)first,
			(long long)last);
	struct rig_reply reply = storage_rig_read(c, "GET", address, fields);
	if (first < 0 && last > 0 && length == 0) {
		/* Satisfiable, but no byte of an empty object could be named: the whole. */
		CU_ASSERT(reply.status == 200 && reply.body_len == 0);
		return;
	}
	if (is_ok) {
		CU_ASSERT_EQUAL(reply.status, 206);
		snprintf(want, sizeof(want), "bytes %lld-%lld/%lld", (long long)from, (long long)to,
			(long long)length);
		CU_ASSERT_EQUAL(reply.body_len, (size_t)(to - from + 1));
		CU_ASSERT(reply.body_len != (size_t)(to - from + 1) ||
			  memcmp(reply.body, data + from, reply.body_len) == 0);
	} else {
		rig_check_error(&reply, 416, "range_not_satisfiable");
		snprintf(want, sizeof(want), "bytes */%lld", (long long)length);
	}
	const char *got = rig_field(&reply, "Content-Range");
	CU_ASSERT_FATAL(got != NULL);
	CU_ASSERT_STRING_EQUAL(got, want);
}

/* S-1: first-last, open-ended and suffix ranges around every boundary of object and chunk. */
static void test_ranges(void)
{
	static const int64_t lengths[] = {0, 1, 2, 65536, 65537, 150000};
	char address[B3_TEXT + 1];
	start();
	struct rig_conn *c = rig_connect(&sr.rig);
	for (unsigned i = 0; i < ARRAY_LEN(lengths); i++) {
		int64_t length = lengths[i];
		const int64_t points[] = {0, 1, length / 2, 65535, 65536, length - 2, length - 1,
			length, length + 1, 1 << 30};
		store(c, (size_t)length, address);
		for (unsigned a = 0; a < ARRAY_LEN(points); a++) {
			if (points[a] < 0)
				continue;
			check_range(c, address, length, points[a], -1);
			check_range(c, address, length, -1, points[a]);
			for (unsigned b = 0; b < ARRAY_LEN(points); b++) {
				if (points[b] >= points[a])
					check_range(c, address, length, points[a], points[b]);
			}
		}
	}
	storage_rig_fini(&sr);
}

/* What is no single byte range is the whole object, as the RFC allows; HEAD knows no ranges. */
static void test_ranges_ignored(void)
{
	static const char *const fields[] = {"Range: bytes=0-1,4-5\r\n", "Range: lines=0-1\r\n",
		"Range: bytes=5-2\r\n", "Range: bytes=x\r\n",
		"Range: bytes=0-1\r\nRange: bytes=2-3\r\n"};
	char address[B3_TEXT + 1];
	start();
	struct rig_conn *c = rig_connect(&sr.rig);
	store(c, 1000, address);
	for (unsigned i = 0; i < ARRAY_LEN(fields); i++) {
		struct rig_reply reply = storage_rig_read(c, "GET", address, fields[i]);
		CU_ASSERT_EQUAL(reply.status, 200);
		CU_ASSERT_EQUAL(reply.body_len, 1000);
		CU_ASSERT_PTR_NULL(rig_field(&reply, "Content-Range"));
	}
	CU_ASSERT_EQUAL(storage_rig_read(c, "HEAD", address, "Range: bytes=0-1\r\n").status, 200);
	storage_rig_fini(&sr);
}

static const struct unit_case cases[] = {
	{"fields", test_fields},
	{"refused", test_refused},
	{"conditions", test_conditions},
	{"ranges", test_ranges},
	{"ranges_ignored", test_ranges_ignored},
};

UNIT_MAIN("storage_get", cases)
