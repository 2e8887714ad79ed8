#include "dataplane/net/dpdk/tcp_flow.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"

enum { MANY = 200000 };

struct object {
	struct tcp_key key;
	uint32_t more;
};

static const struct tcp_hash_secret secret = {0x0123456789abcdefull, 0xfedcba9876543210ull};

static struct tcp_key key_of(uint32_t i)
{
	struct tcp_key key = {.local_port = 80, .remote_port = (uint16_t)i};
	memcpy(key.remote_ip + 12, &i, sizeof(i));
	return key;
}

/* Full to its capacity: everything is found, nothing else is. */
static void test_full(void)
{
	struct object *objects = calloc(MANY, sizeof(*objects));
	struct tcp_flow f;
	CU_ASSERT_PTR_NOT_NULL_FATAL(objects);
	CU_ASSERT_EQUAL_FATAL(tcp_flow_init(&f, MANY, &secret, objects, sizeof(*objects)), 0);
	for (uint32_t i = 0; i < MANY; i++) {
		objects[i].key = key_of(i);
		if (!tcp_flow_add(&f, i))
			CU_FAIL("two buckets are full at half load");
	}
	CU_ASSERT_EQUAL(f.count, MANY);
	uint32_t wrong = 0;
	for (uint32_t i = 0; i < 2 * MANY; i++) {
		struct tcp_key key = key_of(i);
		wrong += tcp_flow_find(&f, &key) != (i < MANY ? i : TCP_FLOW_NONE);
	}
	CU_ASSERT_EQUAL(wrong, 0);
	for (uint32_t i = 0; i < MANY; i += 2)
		tcp_flow_remove(&f, i);
	for (uint32_t i = 0; i < MANY; i++) {
		struct tcp_key key = key_of(i);
		wrong += tcp_flow_find(&f, &key) != (i % 2 ? i : TCP_FLOW_NONE);
	}
	CU_ASSERT_EQUAL(wrong, 0);
	CU_ASSERT_EQUAL(f.count, MANY / 2);
	/* at most 32 bytes of table a connection */
	CU_ASSERT_TRUE(((uint64_t)f.mask + 1) * sizeof(struct tcp_flow_bucket) <= 32ull * MANY);
	tcp_flow_fini(&f);
	free(objects);
}

/* Each part of the key counts. */
static void test_key(void)
{
	struct object objects[2] = {{.key = key_of(5)}, {.key = key_of(5)}};
	struct tcp_flow f;
	CU_ASSERT_EQUAL_FATAL(tcp_flow_init(&f, 2, &secret, objects, sizeof(objects[0])), 0);
	CU_ASSERT_TRUE(tcp_flow_add(&f, 0));
	for (unsigned byte = 0; byte < sizeof(struct tcp_key); byte++) {
		struct tcp_key key = key_of(5);
		((uint8_t *)&key)[byte] ^= 1;
		CU_ASSERT_EQUAL(tcp_flow_find(&f, &key), TCP_FLOW_NONE);
	}
	tcp_flow_fini(&f);
}

/* Another secret, other buckets: a peer cannot know them. */
static void test_secret(void)
{
	struct object objects[64];
	struct tcp_hash_secret other = {secret.k0 + 1, secret.k1};
	struct tcp_flow a, b;
	memset(objects, 0, sizeof(objects));
	CU_ASSERT_EQUAL_FATAL(tcp_flow_init(&a, 4096, &secret, objects, sizeof(objects[0])), 0);
	CU_ASSERT_EQUAL_FATAL(tcp_flow_init(&b, 4096, &other, objects, sizeof(objects[0])), 0);
	unsigned same = 0;
	for (uint32_t i = 0; i < 64; i++) {
		objects[i].key = key_of(i);
		CU_ASSERT_TRUE(tcp_flow_add(&a, i));
		CU_ASSERT_TRUE(tcp_flow_add(&b, i));
	}
	for (uint32_t n = 0; n <= a.mask; n++)
		same += a.buckets[n].tags[0] != 0 && a.buckets[n].tags[0] == b.buckets[n].tags[0];
	CU_ASSERT_EQUAL(same, 0);
	tcp_flow_fini(&a);
	tcp_flow_fini(&b);
}

static const struct unit_case cases[] = {
	{"full", test_full},
	{"key", test_key},
	{"secret", test_secret},
};

UNIT_MAIN("net.dpdk.tcp_flow", cases)
