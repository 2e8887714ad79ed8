#include "tools/millload/target.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"

static void takes(void)
{
	static const struct {
		const char *url, *at, *host, *path;
		bool is_udp;
	} table[] = {
		{"http://10.0.0.1:8080/o/b3:ab?x=1", "10.0.0.1:8080", "10.0.0.1:8080",
			"/o/b3:ab?x=1", false},
		{"http://10.0.0.1", "10.0.0.1:80", "10.0.0.1", "/", false},
		{"http://10.0.0.1/", "10.0.0.1:80", "10.0.0.1", "/", false},
		{"http://[fd00::1]:81/x", "[fd00::1]:81", "[fd00::1]:81", "/x", false},
		{"http://[fd00::1]/x", "[fd00::1]:80", "[fd00::1]", "/x", false},
		{"udp://10.0.0.1:4242", "10.0.0.1:4242", "10.0.0.1:4242", "/", true},
		{"udp://[::1]:65535", "[::1]:65535", "[::1]:65535", "/", true},
	};
	for (unsigned i = 0; i < ARRAY_LEN(table); i++) {
		struct target t;
		char at[ADDR_TEXT];
		CU_ASSERT_EQUAL_FATAL(target_parse(&t, table[i].url), 0);
		addr_print(&t.at, at);
		CU_ASSERT_STRING_EQUAL(at, table[i].at);
		CU_ASSERT_STRING_EQUAL(t.host, table[i].host);
		CU_ASSERT_STRING_EQUAL(t.path, table[i].path);
		CU_ASSERT_EQUAL(t.is_udp, table[i].is_udp);
	}
}

static void refuses(void)
{
	static const char *const table[] = {"", "http://", "http:///x", "10.0.0.1:80",
		"https://10.0.0.1/", "http://example.org/", "http://10.0.0.1:0/",
		"http://10.0.0.1:65536/", "http://10.0.0.1:/", "http://fd00::1/",
		"http://[fd00::1/", "http://[fd00::1]x/", "http://u@10.0.0.1/",
		"http://10.0.0.1/a b", "http://10.0.0.1/#a", "http://10.0.0.1/\x80",
		"udp://10.0.0.1", "udp://10.0.0.1:5/x"};
	struct target t;
	for (unsigned i = 0; i < ARRAY_LEN(table); i++)
		CU_ASSERT_NOT_EQUAL(target_parse(&t, table[i]), 0);
}

static void path_limit(void)
{
	char *url = malloc(TARGET_PATH_BYTES + 64);
	struct target t;
	strcpy(url, "http://10.0.0.1");
	size_t host = strlen(url);
	memset(url + host, '/', TARGET_PATH_BYTES);
	url[host + TARGET_PATH_BYTES - 1] = '\0';
	CU_ASSERT_EQUAL(target_parse(&t, url), 0);
	url[host + TARGET_PATH_BYTES - 1] = '/';
	url[host + TARGET_PATH_BYTES] = '\0';
	CU_ASSERT_NOT_EQUAL(target_parse(&t, url), 0);
	free(url);
}

static const struct unit_case cases[] = {
	{"takes", takes},
	{"refuses", refuses},
	{"path_limit", path_limit},
};
UNIT_MAIN("tools/millload/target", cases)
