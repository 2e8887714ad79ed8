#include "lib/ops/ops_path.h"

#include <errno.h>
#include <string.h>

#include "tests/unit/unit.h"

static void path(void)
{
	char out[OPS_PATH];
	CU_ASSERT_EQUAL(ops_path(out, "/run/millrace", "a-node"), 0);
	CU_ASSERT_STRING_EQUAL(out, "/run/millrace/a-node.ops.sock");
}

static void longest_names_fit(void)
{
	/* The longest the configuration takes: 64 and 32 bytes. */
	char dir[65], name[33], out[OPS_PATH];
	memset(dir, 'd', 64);
	memset(name, 'n', 32);
	dir[64] = name[32] = '\0';
	CU_ASSERT_EQUAL(ops_path(out, dir, name), 0);
	CU_ASSERT_EQUAL(strlen(out), 64 + 1 + 32 + strlen(".ops.sock"));
}

static void limit(void)
{
	char text[OPS_PATH + 1];
	struct sockaddr_un address;
	memset(text, 'x', sizeof(text));
	text[OPS_PATH - 1] = '\0';
	CU_ASSERT_EQUAL(ops_path_address(&address, text), 0);
	CU_ASSERT_STRING_EQUAL(address.sun_path, text);
	text[OPS_PATH - 1] = 'x';
	text[OPS_PATH] = '\0';
	CU_ASSERT_EQUAL(ops_path_address(&address, text), -ENAMETOOLONG);
}

static const struct unit_case cases[] = {
	{"path", path},
	{"longest_names_fit", longest_names_fit},
	{"limit", limit},
};
UNIT_MAIN("lib/ops/ops_path", cases)
