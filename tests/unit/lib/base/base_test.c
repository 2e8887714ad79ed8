#include "lib/base/base.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/version.h"
#include "tests/unit/unit.h"

static void spans_compare(void)
{
	struct span empty = {NULL, 0};
	CU_ASSERT(span_equals(empty, empty));
	CU_ASSERT(span_equals(SPAN_LITERAL("abc"), SPAN_LITERAL("abc")));
	CU_ASSERT(!span_equals(SPAN_LITERAL("abc"), SPAN_LITERAL("abd")));
	CU_ASSERT(!span_equals(SPAN_LITERAL("abc"), SPAN_LITERAL("abcd")));
	CU_ASSERT(!span_equals(SPAN_LITERAL("abc"), SPAN_LITERAL("Abc")));
}

static void spans_compare_without_case(void)
{
	CU_ASSERT(
		span_equals_nocase(SPAN_LITERAL("Content-Length"), SPAN_LITERAL("cONTENT-lENGTH")));
	CU_ASSERT(!span_equals_nocase(SPAN_LITERAL("ab"), SPAN_LITERAL("abc")));
	/* The neighbours of the letters differ by the same bit and are not letters. */
	CU_ASSERT(!span_equals_nocase(SPAN_LITERAL("@"), SPAN_LITERAL("`")));
	CU_ASSERT(!span_equals_nocase(SPAN_LITERAL("["), SPAN_LITERAL("{")));
	CU_ASSERT(!span_equals_nocase(SPAN_LITERAL("\xc3\x89"), SPAN_LITERAL("\xc3\xa9")));
}

static void must_says_what_failed(void)
{
	int out[2];
	MUST(pipe(out) == 0);
	pid_t pid = fork();
	if (pid == 0) {
		dup2(out[1], STDERR_FILENO);
		int two = 2;
		MUST(two == 3);
		_exit(0);
	}
	close(out[1]);
	int status;
	char text[256] = "";
	CU_ASSERT(read(out[0], text, sizeof(text) - 1) > 0);
	close(out[0]);
	CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
	CU_ASSERT(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "two == 3"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "base_test.c"));
}

static void version_tells_the_build(void)
{
	const char *text = version_string();
	CU_ASSERT(strncmp(text, "0.1.0 (", 7) == 0);
	CU_ASSERT_EQUAL(text[strlen(text) - 1], ')');
	CU_ASSERT(strlen(text) > strlen("0.1.0 ()"));
	bool is_known = strstr(text, "unknown") == NULL;
	CU_ASSERT_EQUAL(is_known, version_build_time() > 1700000000);
}

static const struct unit_case cases[] = {
	{"spans compare", spans_compare},
	{"spans compare without case", spans_compare_without_case},
	{"MUST says what failed and aborts", must_says_what_failed},
	{"version tells the build", version_tells_the_build},
};

UNIT_MAIN("base.base", cases)
