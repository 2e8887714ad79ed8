/* Writing (S-2, X-4, X-12): addresses, codings, conditions, who may, and a full store. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include "tests/unit/dataplane/storage/storage_rig.h"

static struct storage_rig sr;
static uint8_t data[LIMIT_BODY_BYTES];

static void start(uint32_t chunks)
{
	storage_rig_start(&sr, (uint64_t)chunks * LIMIT_CHUNK_BYTES);
	srand(7);
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)rand();
}

static uint64_t chunks_used(void)
{
	storage_report(sr.st, sr.rig.tally);
	return tally_get(sr.rig.tally, TALLY_STORAGE_CHUNKS_USED);
}

static void check_stored(const struct rig_reply *reply, int status, const char *address, size_t len)
{
	char want[160];
	CU_ASSERT_EQUAL(reply->status, status);
	int n = snprintf(want, sizeof(want), "{\"address\":\"%s\",\"length\":%zu}", address, len);
	CU_ASSERT_EQUAL(reply->body_len, (size_t)n);
	CU_ASSERT(reply->body_len == (size_t)n && memcmp(reply->body, want, (size_t)n) == 0);
	snprintf(want, sizeof(want), "\"%s\"", address);
	CU_ASSERT_STRING_EQUAL(rig_field(reply, "ETag"), want);
	snprintf(want, sizeof(want), "/o/%s", address);
	if (status == 201)
		CU_ASSERT_STRING_EQUAL(rig_field(reply, "Location"), want);
}

/* S-2: every awkward length, by POST and by PUT; readable the moment the 201 is there; the second time it is 200. */
static void test_store(void)
{
	static const size_t lengths[] = {0, 1, 65535, 65536, 65537, LIMIT_BODY_BYTES};
	char address[B3_TEXT + 1];
	start(64);
	struct rig_conn *c = rig_connect(&sr.rig);
	for (unsigned i = 0; i < ARRAY_LEN(lengths); i++) {
		size_t len = lengths[i];
		storage_rig_address(address, data, len);
		CU_ASSERT_EQUAL(storage_rig_read(c, "GET", address, "").status, 404);
		struct rig_reply reply =
			storage_rig_write(c, i % 2 ? address : NULL, "", data, len);
		check_stored(&reply, 201, address, len);
		reply = storage_rig_read(c, "GET", address, "");
		CU_ASSERT_EQUAL(reply.status, 200);
		CU_ASSERT_EQUAL(reply.body_len, len);
		CU_ASSERT(reply.body_len == len && memcmp(reply.body, data, len) == 0);
		uint64_t used = chunks_used();
		reply = storage_rig_write(c, NULL, "", data, len);
		check_stored(&reply, 200, address, len);
		reply = storage_rig_write(c, address, "", data, len);
		check_stored(&reply, 200, address, len);
		CU_ASSERT_EQUAL(chunks_used(), used);
	}
	CU_ASSERT_EQUAL(tally_get(sr.rig.tally, TALLY_STORAGE_OBJECTS), ARRAY_LEN(lengths));
	CU_ASSERT_EQUAL(tally_get(sr.rig.bench.tally, TALLY_STORAGE_WRITES), ARRAY_LEN(lengths));
	CU_ASSERT_EQUAL(chunks_used(), 0 + 1 + 1 + 1 + 2 + 16);
	storage_rig_fini(&sr);
}

/* S-2: bytes that do not match their address are not stored and hold nothing. */
static void test_mismatch(void)
{
	char address[B3_TEXT + 1], other[B3_TEXT + 1];
	start(64);
	struct rig_conn *c = rig_connect(&sr.rig);
	storage_rig_address(address, data, 1000);
	storage_rig_address(other, data, 999);
	struct rig_reply reply = storage_rig_write(c, other, "", data, 1000);
	rig_check_error(&reply, 409, "conflict");
	CU_ASSERT_EQUAL(storage_rig_read(c, "GET", address, "").status, 404);
	CU_ASSERT_EQUAL(storage_rig_read(c, "GET", other, "").status, 404);
	CU_ASSERT_EQUAL(chunks_used(), 0);
	reply = storage_rig_write(c, "b3:nonsense", "", data, 10);
	rig_check_error(&reply, 400, "bad_request");
	storage_rig_fini(&sr);
}

static size_t compress(uint8_t *out, size_t cap, const uint8_t *in, size_t len)
{
	size_t n = ZSTD_compress(out, cap, in, len, 3);
	MUST(!ZSTD_isError(n));
	return n;
}

/* the address is that of the decoded bytes; damage, bombs and objects that grow too large are refused whole. */
static void test_coded(void)
{
	static uint8_t plain[2 * LIMIT_BODY_BYTES], coded[2 * LIMIT_BODY_BYTES];
	char address[B3_TEXT + 1];
	start(64);
	struct rig_conn *c = rig_connect(&sr.rig);
	/* Every byte four times: well below the ratio cap. */
	for (size_t i = 0; i < sizeof(plain); i++)
		plain[i] = data[i / 4];
	size_t len = compress(coded, sizeof(coded), plain, 300000);
	storage_rig_address(address, plain, 300000);
	struct rig_reply reply =
		storage_rig_write(c, address, "Content-Encoding: zstd\r\n", coded, len);
	check_stored(&reply, 201, address, 300000);
	reply = storage_rig_read(c, "GET", address, "");
	CU_ASSERT(reply.body_len == 300000 && memcmp(reply.body, plain, 300000) == 0);
	CU_ASSERT_EQUAL(chunks_used(), 5);

	reply = storage_rig_write(c, NULL, "Content-Encoding: zstd\r\n", coded, len - 1);
	rig_check_error(&reply, 400, "bad_request");
	reply = storage_rig_write(c, NULL, "Content-Encoding: gzip\r\n", coded, len);
	rig_check_error(&reply, 400, "bad_request");
	reply = storage_rig_write(c, NULL, "Content-Encoding: zstd\r\n", "", 0);
	rig_check_error(&reply, 400, "bad_request");

	memset(plain, 0, sizeof(plain));
	size_t bomb = compress(coded, sizeof(coded), plain, sizeof(plain));
	reply = storage_rig_write(c, NULL, "Content-Encoding: zstd\r\n", coded, bomb);
	rig_check_error(&reply, 413, "decompress_cap");

	for (size_t i = 0; i < sizeof(plain); i++)
		plain[i] = data[i / 4];
	len = compress(coded, sizeof(coded), plain, LIMIT_BODY_BYTES);
	storage_rig_address(address, plain, LIMIT_BODY_BYTES);
	reply = storage_rig_write(c, NULL, "Content-Encoding: zstd\r\n", coded, len);
	check_stored(&reply, 201, address, LIMIT_BODY_BYTES);
	len = compress(coded, sizeof(coded), plain, LIMIT_BODY_BYTES + 1);
	reply = storage_rig_write(c, NULL, "Content-Encoding: zstd\r\n", coded, len);
	rig_check_error(&reply, 413, "body_cap");
	CU_ASSERT_EQUAL(chunks_used(), 5 + 16);
	reply = storage_rig_write(c, NULL, "Content-Encoding: br\r\n", "", 0);
	rig_check_error(&reply, 415, "unsupported_coding");
	storage_rig_fini(&sr);
}

/* RFC 9110 13: conditions on a PUT hold at the moment of the commit. */
static void test_conditions(void)
{
	char address[B3_TEXT + 1];
	start(64);
	struct rig_conn *c = rig_connect(&sr.rig), *d = rig_connect(&sr.rig);
	storage_rig_address(address, data, 10);
	struct rig_reply reply = storage_rig_write(c, address, "If-Match: *\r\n", data, 10);
	rig_check_error(&reply, 412, "precondition_failed");
	/* Two at once: both find nothing when they come, one of them commits. */
	char request[256];
	snprintf(request, sizeof(request),
		"PUT /o/%s HTTP/1.1\r\nHost: a\r\nIf-None-Match: *\r\nContent-Length: 10\r\n\r\n",
		address);
	rig_say(c, request);
	rig_say(d, request);
	rig_give(c, data, 10);
	rig_give(d, data, 10);
	reply = rig_ask(c, "PUT", "");
	check_stored(&reply, 201, address, 10);
	reply = rig_ask(d, "PUT", "");
	rig_check_error(&reply, 412, "precondition_failed");
	reply = storage_rig_write(c, address, "If-Match: *\r\n", data, 10);
	check_stored(&reply, 200, address, 10);
	reply = storage_rig_write(c, NULL, "If-None-Match: *\r\n", data, 10);
	check_stored(&reply, 200, address, 10);
	storage_rig_fini(&sr);
}

/* Writes come from storage.write_from only, as it is now; reads from anywhere. */
static void test_write_from(void)
{
	static const struct {
		const char *peer;
		int status;
	} cases[] = {
		{"127.0.0.1:1", 201},
		{"127.255.0.9:1", 200},
		{"[::1]:1", 200},
		{"128.0.0.1:1", 403},
		{"[::2]:1", 403},
		{"10.1.2.3:1", 403},
	};
	char address[B3_TEXT + 1];
	start(64);
	for (unsigned i = 0; i < ARRAY_LEN(cases); i++) {
		struct rig_conn *c = rig_connect(&sr.rig);
		CU_ASSERT_EQUAL_FATAL(addr_parse(&c->pub.peer, cases[i].peer), 0);
		struct rig_reply reply = storage_rig_write(c, NULL, "", data, 10);
		CU_ASSERT_EQUAL(reply.status, cases[i].status);
		if (cases[i].status == 403)
			rig_check_error(&reply, 403, "forbidden");
	}
	storage_rig_address(address, data, 10);
	struct rig_conn *c = rig_connect(&sr.rig);
	CU_ASSERT_EQUAL_FATAL(addr_parse(&c->pub.peer, "10.1.2.3:1"), 0);
	CU_ASSERT_EQUAL(storage_rig_read(c, "GET", address, "").status, 200);
	strcpy(sr.rig.conf.storage_write_from.items[0], "10.0.0.0/8");
	sr.rig.conf.storage_write_from.count = 1;
	CU_ASSERT_EQUAL(storage_rig_write(c, NULL, "", data, 11).status, 201);
	storage_rig_fini(&sr);
}

static unsigned full_events(struct events_cursor *cursor)
{
	struct event event;
	uint64_t lost = 0;
	unsigned count = 0;
	while (events_next(&sr.rig.seg->events, cursor, &event, &lost) == 1)
		count += event.kind == EVENT_STORAGE_FULL;
	return count;
}

/* Full: 507 and one event; what is stored is still read; small room is used to its last chunk. */
static void test_full(void)
{
	static uint8_t coded[2 * LIMIT_BODY_BYTES];
	char address[B3_TEXT + 1];
	start(18);
	struct events_cursor cursor = events_tail(&sr.rig.seg->events, 0);
	struct rig_conn *c = rig_connect(&sr.rig);
	storage_rig_address(address, data, LIMIT_BODY_BYTES);
	CU_ASSERT_EQUAL(storage_rig_write(c, NULL, "", data, LIMIT_BODY_BYTES).status, 201);
	CU_ASSERT(!storage_is_full(sr.st));
	/* Two chunks are left: three are too many. */
	struct rig_reply reply = storage_rig_write(c, NULL, "", data, 2 * LIMIT_CHUNK_BYTES + 1);
	rig_check_error(&reply, 507, "storage_full");
	CU_ASSERT(storage_is_full(sr.st));
	CU_ASSERT_EQUAL(chunks_used(), 16);
	c = rig_connect(&sr.rig);
	/* Decoded bytes need chunks of their own beside the coded ones. */
	size_t len = compress(coded, sizeof(coded), data, LIMIT_CHUNK_BYTES + 1);
	reply = storage_rig_write(c, NULL, "Content-Encoding: zstd\r\n", coded, len);
	rig_check_error(&reply, 507, "storage_full");
	CU_ASSERT_EQUAL(chunks_used(), 16);
	CU_ASSERT_EQUAL(storage_rig_write(c, NULL, "", data, 2 * LIMIT_CHUNK_BYTES).status, 201);
	CU_ASSERT_EQUAL(chunks_used(), 18);
	reply = storage_rig_write(c, NULL, "", data, 1);
	rig_check_error(&reply, 507, "storage_full");
	c = rig_connect(&sr.rig);
	CU_ASSERT_EQUAL(storage_rig_read(c, "GET", address, "").status, 200);
	CU_ASSERT_EQUAL(storage_rig_write(c, NULL, "", data, 0).status, 201);
	chunks_used();
	CU_ASSERT_EQUAL(full_events(&cursor), 1);
	storage_rig_fini(&sr);
}

/* The client goes while its object is being written: nothing leaks, whether the job has run or not. */
static void test_gone(void)
{
	char address[B3_TEXT + 1];
	start(64);
	for (unsigned i = 0; i < 2; i++) {
		struct rig_conn *c = rig_connect(&sr.rig);
		rig_say(c, "POST /o HTTP/1.1\r\nHost: a\r\nContent-Length: 70000\r\n\r\n");
		rig_give(c, data + i, 70000);
		if (i == 1)
			rig_work(&sr.rig);
		rig_reset(c);
		rig_work(&sr.rig);
		rig_turn(&sr.rig);
		storage_rig_address(address, data + i, 70000);
		c = rig_connect(&sr.rig);
		CU_ASSERT_EQUAL(storage_rig_read(c, "GET", address, "").status, i == 0 ? 404 : 200);
		CU_ASSERT_EQUAL(chunks_used(), i == 0 ? 0 : 2);
	}
	/* The deadline passes in the queue. */
	struct rig_conn *c = rig_connect(&sr.rig);
	rig_say(c,
		"POST /o HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\nRequest-Timeout: 1\r\n\r\n");
	rig_give(c, data, 10);
	rig_pass_ms(&sr.rig, 1001);
	struct rig_reply reply = rig_ask(c, "POST", "");
	rig_check_error(&reply, 504, "timeout");
	rig_work(&sr.rig);
	rig_turn(&sr.rig);
	CU_ASSERT_EQUAL(chunks_used(), 2);
	storage_rig_fini(&sr);
}

/* the 513th write is refused at once and holds no chunk; the 512 before it are stored. */
static void test_busy(void)
{
	start(1024);
	struct rig_conn *c = NULL;
	for (unsigned i = 0; i <= QUEUE_CAPACITY_STORAGE_WORK; i++) {
		c = rig_connect(&sr.rig);
		rig_say(c, "POST /o HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n");
		rig_give(c, &i, 4);
	}
	struct rig_reply reply = rig_reply(c, "POST");
	rig_check_error(&reply, 429, "busy");
	CU_ASSERT_EQUAL(chunks_used(), QUEUE_CAPACITY_STORAGE_WORK);
	CU_ASSERT_EQUAL(rig_work(&sr.rig), QUEUE_CAPACITY_STORAGE_WORK);
	rig_turn(&sr.rig);
	chunks_used();
	CU_ASSERT_EQUAL(
		tally_get(sr.rig.tally, TALLY_STORAGE_OBJECTS), QUEUE_CAPACITY_STORAGE_WORK);
	storage_rig_fini(&sr);
}

/* bytes that were refused are wiped by the purge. */
static void test_purge(void)
{
	char other[B3_TEXT + 1];
	start(64);
	struct rig_conn *c = rig_connect(&sr.rig);
	storage_rig_address(other, "x", 1);
	CU_ASSERT_EQUAL(storage_rig_write(c, other, "", data, 3 * LIMIT_CHUNK_BYTES).status, 409);
	CU_ASSERT_EQUAL(storage_purge(sr.st), 3);
	CU_ASSERT_EQUAL(storage_purge(sr.st), 0);
	storage_rig_fini(&sr);
}

static const struct unit_case cases[] = {
	{"store", test_store},
	{"mismatch", test_mismatch},
	{"coded", test_coded},
	{"conditions", test_conditions},
	{"write_from", test_write_from},
	{"full", test_full},
	{"gone", test_gone},
	{"busy", test_busy},
	{"purge", test_purge},
};

UNIT_MAIN("storage_put", cases)
