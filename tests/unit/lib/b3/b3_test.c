#include "lib/b3/b3.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"

/* The official test vectors: byte i of the input is i % 251; the first 32 bytes of the output. The
 * lengths stand around the block (64), chunk (1024) and SIMD batch (2, 4, 8, 16 chunks) bounds. */
static const struct {
	size_t len;
	const char *hex;
} vectors[] = {
	{0, "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262"},
	{1, "2d3adedff11b61f14c886e35afa036736dcd87a74d27b5c1510225d0f592e213"},
	{2, "7b7015bb92cf0b318037702a6cdd81dee41224f734684c2c122cd6359cb1ee63"},
	{3, "e1be4d7a8ab5560aa4199eea339849ba8e293d55ca0a81006726d184519e647f"},
	{63, "e9bc37a594daad83be9470df7f7b3798297c3d834ce80ba85d6e207627b7db7b"},
	{64, "4eed7141ea4a5cd4b788606bd23f46e212af9cacebacdc7d1f4c6dc7f2511b98"},
	{65, "de1e5fa0be70df6d2be8fffd0e99ceaa8eb6e8c93a63f2d8d1c30ecb6b263dee"},
	{127, "d81293fda863f008c09e92fc382a81f5a0b4a1251cba1634016a0f86a6bd640d"},
	{128, "f17e570564b26578c33bb7f44643f539624b05df1a76c81f30acd548c44b45ef"},
	{129, "683aaae9f3c5ba37eaaf072aed0f9e30bac0865137bae68b1fde4ca2aebdcb12"},
	{1023, "10108970eeda3eb932baac1428c7a2163b0e924c9a9e25b35bba72b28f70bd11"},
	{1024, "42214739f095a406f3fc83deb889744ac00df831c10daa55189b5d121c855af7"},
	{1025, "d00278ae47eb27b34faecf67b4fe263f82d5412916c1ffd97c8cb7fb814b8444"},
	{2048, "e776b6028c7cd22a4d0ba182a8bf62205d2ef576467e838ed6f2529b85fba24a"},
	{2049, "5f4d72f40d7a5f82b15ca2b2e44b1de3c2ef86c426c95c1af0b6879522563030"},
	{3072, "b98cb0ff3623be03326b373de6b9095218513e64f1ee2edd2525c7ad1e5cffd2"},
	{3073, "7124b49501012f81cc7f11ca069ec9226cecb8a2c850cfe644e327d22d3e1cd3"},
	{4096, "015094013f57a5277b59d8475c0501042c0b642e531b0a1c8f58d2163229e969"},
	{4097, "9b4052b38f1c5fc8b1f9ff7ac7b27cd242487b3d890d15c96a1c25b8aa0fb995"},
	{5120, "9cadc15fed8b5d854562b26a9536d9707cadeda9b143978f319ab34230535833"},
	{5121, "628bd2cb2004694adaab7bbd778a25df25c47b9d4155a55f8fbd79f2fe154cff"},
	{6144, "3e2e5b74e048f3add6d21faab3f83aa44d3b2278afb83b80b3c35164ebeca205"},
	{6145, "f1323a8631446cc50536a9f705ee5cb619424d46887f3c376c695b70e0f0507f"},
	{7168, "61da957ec2499a95d6b8023e2b0e604ec7f6b50e80a9678b89d2628e99ada77a"},
	{7169, "a003fc7a51754a9b3c7fae0367ab3d782dccf28855a03d435f8cfe74605e7817"},
	{8192, "aae792484c8efe4f19e2ca7d371d8c467ffb10748d8a5a1ae579948f718a2a63"},
	{8193, "bab6c09cb8ce8cf459261398d2e7aef35700bf488116ceb94a36d0f5f1b7bc3b"},
	{16384, "f875d6646de28985646f34ee13be9a576fd515f76b5b0a26bb324735041ddde4"},
	{31744, "62b6960e1a44bcc1eb1a611a8d6235b6b4b78f32e7abc4fb4c6cdcce94895c47"},
	{102400, "bc3e3d41a1146b069abffad3c0d44860cf664390afce4d9661f7902e7943e085"},
};

static uint8_t *make_input(size_t len)
{
	uint8_t *data = malloc(len + 1);
	CU_ASSERT_FATAL(data != NULL);
	for (size_t i = 0; i < len; i++)
		data[i] = (uint8_t)(i % 251);
	return data;
}

static bool hex_is(const struct b3 *b, const char *hex)
{
	char text[B3_TEXT];
	b3_print(b, text);
	return memcmp(text, "b3:", 3) == 0 && memcmp(text + 3, hex, B3_HEX) == 0;
}

/* S-1 S-2: an object's address is the BLAKE3 any other tool computes. */
static void official_vectors(void)
{
	for (unsigned i = 0; i < ARRAY_LEN(vectors); i++) {
		uint8_t *data = make_input(vectors[i].len);
		struct b3 b;
		b3_of(&b, data, vectors[i].len);
		CU_ASSERT(hex_is(&b, vectors[i].hex));
		free(data);
	}
}

static void streaming_equals_one_shot(void)
{
	static const size_t steps[] = {1, 63, 64, 65, 1023, 1024, 1025, 65536};
	for (unsigned v = 0; v < ARRAY_LEN(vectors); v++) {
		uint8_t *data = make_input(vectors[v].len);
		for (unsigned s = 0; s < ARRAY_LEN(steps); s++) {
			struct b3_hasher h;
			struct b3 b;
			b3_begin(&h);
			for (size_t at = 0; at < vectors[v].len; at += steps[s]) {
				size_t n = vectors[v].len - at;
				b3_add(&h, data + at, n < steps[s] ? n : steps[s]);
			}
			b3_end(&h, &b);
			CU_ASSERT(hex_is(&b, vectors[v].hex));
		}
		free(data);
	}
}

#define HEX "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f326"

static void text_is_strict(void)
{
	static const struct {
		struct span text;
		int rc;
	} cases[] = {
		{SPAN_LITERAL("b3:" HEX "2"), 0},
		{SPAN_LITERAL("b3:" HEX), -22},
		{SPAN_LITERAL("b3:" HEX "22"), -22},
		{SPAN_LITERAL("b3:" HEX "g"), -22},
		{SPAN_LITERAL("b3:" HEX "A"), -22}, /* one object has one name */
		{SPAN_LITERAL("b3:" HEX "\0"), -22},
		{SPAN_LITERAL("B3:" HEX "2"), -22},
		{SPAN_LITERAL("b3-" HEX "2"), -22},
		{SPAN_LITERAL("b3:g" HEX), -22},
		{SPAN_LITERAL("b3:"), -22},
		{SPAN_LITERAL(""), -22},
	};
	for (unsigned i = 0; i < ARRAY_LEN(cases); i++) {
		struct b3 b;
		CU_ASSERT_EQUAL(b3_parse(&b, cases[i].text), cases[i].rc);
		if (cases[i].rc == 0)
			CU_ASSERT(hex_is(&b, HEX "2"));
	}
}

static void equality(void)
{
	struct b3 a, b;
	b3_of(&a, "x", 1);
	b3_of(&b, "x", 1);
	CU_ASSERT(b3_equals(&a, &b));
	b.bytes[31] ^= 1;
	CU_ASSERT(!b3_equals(&a, &b));
}

static const struct unit_case cases[] = {
	{"official vectors", official_vectors},
	{"streaming equals one shot", streaming_equals_one_shot},
	{"text is strict", text_is_strict},
	{"equality", equality},
};

UNIT_MAIN("lib/b3/b3", cases)
