#include "tools/millctl/locate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/unit.h"

static void keeps_the_node_section(void)
{
	static const struct {
		const char *text, *kept;
	} table[] = {
		{"node:\n  name: a\nhttp:\n  x: [\n", "node:\n  name: a\n     \n      \n"},
		{"# c\nx: y\nnode:\n\n  name: a", "   \n    \nnode:\n\n  name: a"},
		{"nodes:\n  name: a\n", NULL},
		{"", NULL},
	};
	for (unsigned i = 0; i < ARRAY_LEN(table); i++) {
		char text[128];
		strcpy(text, table[i].text);
		CU_ASSERT_EQUAL(locate_keep_node(text), table[i].kept != NULL);
		if (table[i].kept != NULL)
			CU_ASSERT_STRING_EQUAL(text, table[i].kept);
	}
}

static void flags_name_the_socket(void)
{
	char out[OPS_PATH];
	static struct conf_errors errors;
	struct options o = {.socket = "/x/y.sock", .node = "n", .run_dir = "/r"};
	CU_ASSERT_EQUAL(locate_socket(out, &o, &errors), 0);
	CU_ASSERT_STRING_EQUAL(out, "/x/y.sock");
	o.socket = NULL;
	CU_ASSERT_EQUAL(locate_socket(out, &o, &errors), 0);
	CU_ASSERT_STRING_EQUAL(out, "/r/n.ops.sock");
	o = (struct options){.node = "n"};
	CU_ASSERT_EQUAL(locate_socket(out, &o, &errors), 0);
	CU_ASSERT_STRING_EQUAL(out, "/run/millrace/n.ops.sock");
}

static void wrong_file_still_tells_the_node(void)
{
	char path[] = "/tmp/locate-XXXXXX", out[OPS_PATH];
	static struct conf_errors errors;
	int fd = mkstemp(path);
	CU_ASSERT_FATAL(fd >= 0);
	dprintf(fd, "node:\n  name: a\n  run_dir: /r\nhttp:\n  read_timeout_ms: 1\n");
	struct options o = {.config = path};
	CU_ASSERT_EQUAL(locate_socket(out, &o, &errors), 0);
	CU_ASSERT_STRING_EQUAL(out, "/r/a.ops.sock");
	CU_ASSERT_EQUAL(ftruncate(fd, 0), 0);
	CU_ASSERT_EQUAL(lseek(fd, 0, SEEK_SET), 0);
	dprintf(fd, "nonsense: [\n");
	CU_ASSERT_NOT_EQUAL(locate_socket(out, &o, &errors), 0);
	CU_ASSERT(errors.count > 0);
	close(fd);
	unlink(path);
}

static const struct unit_case cases[] = {
	{"keeps_the_node_section", keeps_the_node_section},
	{"flags_name_the_socket", flags_name_the_socket},
	{"wrong_file_still_tells_the_node", wrong_file_still_tells_the_node},
};
UNIT_MAIN("tools/millctl/locate", cases)
