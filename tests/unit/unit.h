/* unit: runs a table of CUnit tests as one program and ends with the plain line tools/test adds up:
 * `N passed, M failed, K skipped`. A test passes when none of its assertions failed. */
#ifndef TESTS_UNIT_UNIT_H
#define TESTS_UNIT_UNIT_H

#include <CUnit/CUnit.h>

#include "lib/base/base.h"

struct unit_case {
	const char *name;
	void (*run)(void);
};

/* Runs the cases in order (only those whose name contains argv[1], when given). Returns the exit code. */
int unit_main(
	const char *suite, const struct unit_case *cases, unsigned count, int argc, char **argv);

#define UNIT_MAIN(suite, cases) \
	int main(int argc, char **argv) \
	{ \
		return unit_main(suite, cases, ARRAY_LEN(cases), argc, argv); \
	}

#endif
