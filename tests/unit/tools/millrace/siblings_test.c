#include "tools/millrace/siblings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/unit.h"

static char root[] = "/tmp/siblings-XXXXXX";

static void make_program(const char *dir, const char *name)
{
	char path[256];
	snprintf(path, sizeof(path), "%s/%s", root, dir);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/%s/%s", root, dir, name);
	FILE *f = fopen(path, "w");
	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	fclose(f);
	CU_ASSERT_EQUAL(chmod(path, 0700), 0);
}

static void drop_program(const char *dir, const char *name)
{
	char path[256];
	snprintf(path, sizeof(path), "%s/%s/%s", root, dir, name);
	unlink(path);
	snprintf(path, sizeof(path), "%s/%s", root, dir);
	rmdir(path);
}

static void finds_each_place(void)
{
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(root));
	char self[256], out[SIBLINGS_PATH], want[300];
	snprintf(self, sizeof(self), "%s/bin/millrace", root);
	make_program("bin", "millrace");
	CU_ASSERT_EQUAL(siblings_find(out, self, SHM_DATAPLANE), -ENOENT);
	static const char *const places[] = {"dataplane", "libexec"};
	for (unsigned i = 0; i < ARRAY_LEN(places); i++) {
		make_program(places[i], "millrace-dataplane");
		CU_ASSERT_EQUAL(siblings_find(out, self, SHM_DATAPLANE), 0);
		snprintf(want, sizeof(want), "%s/bin/../%s/millrace-dataplane", root, places[i]);
		CU_ASSERT_STRING_EQUAL(out, want);
		CU_ASSERT_EQUAL(siblings_find(out, self, SHM_CONTROLPLANE), -ENOENT);
		drop_program(places[i], "millrace-dataplane");
	}
	make_program("bin", "millrace-controlplane");
	CU_ASSERT_EQUAL(siblings_find(out, self, SHM_CONTROLPLANE), 0);
	unlink(out);
	drop_program("bin", "millrace");
	rmdir(root);
}

static const struct unit_case cases[] = {
	{"finds_each_place", finds_each_place},
};
UNIT_MAIN("tools/millrace/siblings", cases)
