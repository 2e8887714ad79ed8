/* Seeded chaos: the same bytes in any pieces and with any room give the same answers, and damaged bytes give an answer
 * or a close, never a crash or a leak. The seed is printed; give it as MILLRACE_SEED to replay. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/dataplane/http/http_rig_service.h"

static struct rig rig;
static struct rig_service service;
static uint64_t state;

static void seed(void)
{
	const char *given = getenv("MILLRACE_SEED");
	state = given != NULL ? strtoull(given, NULL, 10) : 20260101;
	printf("seed %llu\n", (unsigned long long)state);
}

/* xorshift64 */
static uint32_t random_below(uint32_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 33) % n;
}

static const char *const requests[] = {
	"GET /hello HTTP/1.1\r\nHost: a\r\nX-Corr-ID: 1\r\n\r\n",
	"HEAD /ref HTTP/1.1\r\nHost: a\r\nX-Corr-ID: 2\r\n\r\n",
	"GET /ref HTTP/1.1\r\nHost: a\r\nX-Corr-ID: 3\r\n\r\n",
	"GET /stream HTTP/1.1\r\nHost: a\r\nX-Corr-ID: 4\r\n\r\n",
	"POST /echo HTTP/1.1\r\nHost: a\r\nX-Corr-ID: 5\r\nContent-Length: 11\r\n\r\nhello there",
	"PUT /echo HTTP/1.1\r\nHost: a\r\nX-Corr-ID: 6\r\nTransfer-Encoding: chunked\r\n\r\n"
	"5;a=b\r\nhello\r\n1\r\n!\r\n0\r\nT: t\r\n\r\n",
	"GET /job HTTP/1.1\r\nHost: a\r\nX-Corr-ID: 7\r\n\r\n",
	"POST /job HTTP/1.1\r\nHost: a\r\nX-Corr-ID: 8\r\nContent-Length: 3\r\n\r\nabc",
	"GET /nothing HTTP/1.1\r\nHost: a\r\nX-Corr-ID: 9\r\n\r\n",
	"GET http://b/hello?q HTTP/1.1\r\nHost: a\r\nX-Corr-ID: 10\r\n\r\n",
};

static size_t fill_stream(char *out, unsigned count)
{
	out[0] = '\0';
	for (unsigned i = 0; i < count; i++)
		strcat(out, requests[random_below(ARRAY_LEN(requests))]);
	return strlen(out);
}

static void settle(struct rig_conn *c)
{
	size_t had;
	do {
		had = c->wire_len;
		rig_open_window(c, SIZE_MAX);
		rig_work(&rig);
		rig_turn(&rig);
		rig_turn(&rig);
	} while (had != c->wire_len);
}

static void test_any_pieces(void)
{
	static char stream[8192];
	seed();
	rig_service_start(&rig, &service);
	service.ref_bytes = 9000;
	service.ref_piece = 700;
	for (unsigned round = 0; round < 60; round++) {
		size_t len = fill_stream(stream, 1 + random_below(40));
		struct rig_conn *whole = rig_connect(&rig), *pieces = rig_connect(&rig);
		rig_give(whole, stream, len);
		settle(whole);
		rig_open_window(pieces, 0);
		for (size_t at = 0; at < len;) {
			size_t n = 1 + random_below(200);
			n = n < len - at ? n : len - at;
			rig_give(pieces, stream + at, n);
			at += n;
			if (random_below(3) == 0)
				rig_open_window(pieces, random_below(3000));
			if (random_below(3) == 0)
				rig_work(&rig);
			if (random_below(2) == 0)
				rig_turn(&rig);
		}
		settle(pieces);
		CU_ASSERT_EQUAL(whole->wire_len, pieces->wire_len);
		CU_ASSERT(whole->wire_len == pieces->wire_len &&
			  memcmp(whole->wire, pieces->wire, whole->wire_len) == 0);
		rig_reset(whole);
		rig_reset(pieces);
	}
	CU_ASSERT_EQUAL(service.refs_out, 0);
	rig_fini(&rig);
}

static void damage(char *stream, size_t len)
{
	static const char bytes[] = "\r\n \t:;,/%?#\"\\0Aa9-_.\x00\x01\x7f\xff";
	for (unsigned n = 1 + random_below(4); n > 0; n--)
		stream[random_below((uint32_t)len)] = bytes[random_below(sizeof(bytes) - 1)];
}

/* whatever comes, what goes out is whole answers, and the last one says close when the connection does. */
static void test_damaged(void)
{
	static char stream[8192];
	seed();
	rig_service_start(&rig, &service);
	service.ref_bytes = 3000;
	for (unsigned round = 0; round < 1000; round++) {
		size_t len = fill_stream(stream, 1 + random_below(4));
		damage(stream, len);
		struct rig_conn *c = rig_connect(&rig);
		size_t cut = random_below((uint32_t)len);
		rig_give(c, stream, cut);
		rig_give(c, stream + cut, len - cut);
		settle(c);
		rig_eof(c);
		settle(c);
		CU_ASSERT(c->is_closed || c->is_closing);
		CU_ASSERT(c->wire_len == 0 || memcmp(c->wire, "HTTP/1.1 ", 9) == 0);
		rig_reset(c);
	}
	CU_ASSERT_EQUAL(service.refs_out, 0);
	rig_fini(&rig);
}

/* Clients that come, stall and go in any order while the clock runs: nothing is left behind. */
static void test_churn(void)
{
	static char stream[8192];
	seed();
	rig_service_start(&rig, &service);
	service.ref_bytes = 300000;
	for (unsigned i = 0; i < 1000; i++) {
		struct rig_conn *c = rig_connect(&rig);
		size_t len = fill_stream(stream, 1 + random_below(6));
		rig_open_window(c, random_below(2) == 0 ? SIZE_MAX : random_below(400000));
		rig_give(c, stream, random_below((uint32_t)len + 1));
		switch (random_below(6)) {
		case 0:
			rig_reset(c);
			break;
		case 1:
			rig_eof(c);
			break;
		case 2:
			rig_work(&rig);
			break;
		case 3:
			rig_pass_ms(&rig, random_below(3000));
			break;
		case 4:
			rig_turn(&rig);
			break;
		}
	}
	rig_pass_ms(&rig, 200000);
	for (unsigned i = 0; i < rig.conn_count; i++) {
		if (!rig.conns[i]->is_closed)
			rig_open_window(rig.conns[i], SIZE_MAX);
	}
	rig_pass_ms(&rig, 200000);
	rig_pass_ms(&rig, 200000);
	for (unsigned i = 0; i < rig.conn_count; i++)
		CU_ASSERT(rig.conns[i]->is_closed);
	CU_ASSERT_EQUAL(service.refs_out, 0);
	CU_ASSERT_EQUAL(http_server_busy(rig.server), 0);
	rig_fini(&rig);
}

static const struct unit_case cases[] = {
	{"any_pieces", test_any_pieces},
	{"damaged", test_damaged},
	{"churn", test_churn},
};

UNIT_MAIN("http_conn_random", cases)
