#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_failures(void)
{
	for (CU_pFailureRecord f = CU_get_failure_list(); f != NULL; f = f->pNext)
		printf("  FAILED %s: %s:%u: %s\n", f->pTest != NULL ? f->pTest->pName : "?",
			f->strFileName, f->uiLineNumber, f->strCondition);
}

int unit_main(
	const char *suite, const struct unit_case *cases, unsigned count, int argc, char **argv)
{
	const char *filter = argc > 1 ? argv[1] : "";
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (CU_initialize_registry() != CUE_SUCCESS)
		return 2;
	CU_pSuite s = CU_add_suite(suite, NULL, NULL);
	for (unsigned i = 0; i < count; i++) {
		if (strstr(cases[i].name, filter) != NULL &&
			CU_add_test(s, cases[i].name, cases[i].run) == NULL)
			return 2;
	}
	CU_run_all_tests();
	print_failures();
	unsigned run = CU_get_number_of_tests_run();
	unsigned failed = CU_get_number_of_tests_failed();
	printf("%s: %u passed, %u failed, 0 skipped\n", suite, run - failed, failed);
	CU_cleanup_registry();
	return failed != 0 || run == 0;
}
